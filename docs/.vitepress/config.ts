import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { docsPages } from '../../scripts/docs/pages.ts'
import { referencePages } from '../../scripts/docs/reference.ts'

interface Markdown {
  readonly utils: { escapeHtml(text: string): string }
  readonly renderer: { readonly rules: Record<string, unknown> }
}

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const items = (folder: string): { text: string; link: string }[] =>
  docsPages(root)
    .filter(({ path }) => path.startsWith(`${folder}/`))
    .map(({ path, title }) => ({ text: title, link: `/${path.replace(/\.md$/, '')}` }))

// oxlint-disable-next-line import/no-default-export -- VitePress reads the default export.
export default {
  title: 'Inspan',
  description: 'One harness layer for AI agents',
  lang: 'en',
  cacheDir: '../node_modules/.cache/vitepress',
  // Links to files of the repository, which the site does not have.
  ignoreDeadLinks: [/\.\.\/(packages|examples|scripts|[A-Z]+)/],
  markdown: {
    config(md: Markdown): void {
      // Braces in code would be taken for expressions of a template.
      md.renderer.rules['code_inline'] = (tokens: readonly { content: string }[], index: number): string =>
        `<code v-pre>${md.utils.escapeHtml(tokens[index]?.content ?? '')}</code>`
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: 'deep',
    sidebar: [
      { text: 'Guide', items: items('guide') },
      { text: 'Internals', items: items('internals') },
      {
        text: 'Reference',
        items: referencePages(root).map(({ folder, name }) => ({ text: name, link: `/reference/${folder}` })),
      },
    ],
  },
}
