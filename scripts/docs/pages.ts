/** The pages as the site and llms.txt show them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface DocsPage {
  /** Below docs/, with slashes. */
  readonly path: string
  readonly title: string
  readonly text: string
}

/** Returns the written pages in the order in which docs/index.md links to them. */
export function docsPages(root: string): readonly DocsPage[] {
  const index = readFileSync(join(root, 'docs/index.md'), 'utf8')
  const order = [...index.matchAll(/\]\(([\w-]+\/[\w-]+\.md)\)/g)].map(([, path = '']) => path)
  const found = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /^(guide|internals)\/[\w-]+\.md$/.test(path))
  return found
    .toSorted((a, b) => order.indexOf(a) - order.indexOf(b))
    .map((path) => {
      const text = readFileSync(join(root, 'docs', path), 'utf8')
      return { path, title: /^# (.+)$/m.exec(text)?.[1] ?? path, text }
    })
}

/** Returns an overview for language models, as llmstxt.org describes it. */
export function llmsText(root: string): string {
  const lines = docsPages(root).map(({ path, text, title }) => {
    return { folder: path.split('/')[0], line: `- [${title}](${path}): ${firstSentence(text)}` }
  })
  const section = (heading: string, folder: string): string =>
    [`## ${heading}`, '', ...lines.filter((each) => each.folder === folder).map(({ line }) => line)].join('\n')
  const summary = '> One harness layer for AI agents, in TypeScript: over your own model loop or any coding agent.'
  return `${['# Inspan', summary, section('Guide', 'guide'), section('Internals', 'internals')].join('\n\n')}\n`
}

function firstSentence(text: string): string {
  const paragraphs = text.replaceAll(/^```.*?^```$/gms, '').split(/\n{2,}/)
  const first = paragraphs.find((each) => /^[A-Z`*]/.test(each)) ?? ''
  return first
    .replaceAll('\n', ' ')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/(?<=[.!?:]) .*$/, '')
}
