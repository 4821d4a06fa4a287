/**
 * - `node scripts/docs.ts write` brings the generated parts of the pages up to date: tables of options, programs from
 *   examples/, and docs/public/llms.txt.
 * - `node scripts/docs.ts build [folder]` builds the site, with the reference of all packages. The search works offline.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { generatedPages } from './docs/generated.ts'
import { referencePages } from './docs/reference.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [task, folder] = process.argv.slice(2)

switch (task) {
  case 'write':
    for (const { path, text } of generatedPages(root)) writeFileSync(join(root, path), text)
    break
  case 'build':
    await build(resolve(folder ?? join(root, 'docs/.vitepress/dist')))
    break
  default:
    console.error('Usage: node scripts/docs.ts write | build [folder]')
    process.exitCode = 2
}

async function build(outDir: string): Promise<void> {
  const reference = join(root, 'docs/reference')
  rmSync(reference, { recursive: true, force: true })
  mkdirSync(reference)
  for (const { folder: name, text } of referencePages(root)) writeFileSync(join(reference, `${name}.md`), text)
  const vitepress = await import('vitepress')
  await vitepress.build(join(root, 'docs'), { outDir })
}
