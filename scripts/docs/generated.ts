import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { docsPages, llmsText } from './pages.ts'
import { withTables } from './tables.ts'

export interface GeneratedPage {
  readonly path: string
  readonly text: string
}

/** A fence that names a file below examples/ shows that file. */
const PROGRAM = /^(```tsx? (examples\/\S+)\n)(.*?)(^```$)/gms

/** Returns the files with generated parts, as they should be. */
export function generatedPages(root: string): readonly GeneratedPage[] {
  const pages = docsPages(root).map(({ path, text }) => {
    return { path: `docs/${path}`, text: withTables(root, withPrograms(root, text)) }
  })
  return [...pages, { path: 'docs/public/llms.txt', text: llmsText(root) }]
}

function withPrograms(root: string, text: string): string {
  return text.replaceAll(PROGRAM, (_, head: string, file: string, _old: string, end: string) => {
    return `${head}${readFileSync(join(root, file), 'utf8')}${end}`
  })
}
