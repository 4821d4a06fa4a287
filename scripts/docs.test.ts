/** What the pages refer to must exist: files, headings, scripts, commands with their options, environment variables. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /^(index|(guide|internals)[\\/].+)\.md$/.test(name))
    .map((name) => `docs/${name}`),
  ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/README.md`),
]

const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> }
const commands = 'packages/inspan/src/commands'
const sources = readdirSync(join(root, 'packages'), { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.ts') && /^[^/\\]+[/\\]src[/\\]/.test(path),
)

/** Returns the anchor that GitHub makes of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[`*_]/g, '')
    .replaceAll(/[^\p{L}\p{N}\- ]/gu, '')
    .replaceAll(' ', '-')
}

function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))
}

for (const page of pages) {
  describe(page, () => {
    const text = read(page)

    it('links to what is there', () => {
      const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
      for (const link of links.filter((one) => !/^(https?|mailto):/.test(one))) {
        const [path = '', anchor] = link.split('#')
        const file = path === '' ? page : join(dirname(page), path)
        assert.ok(existsSync(join(root, file)), link)
        if (anchor !== undefined) assert.ok(anchorsOf(read(file)).includes(anchor), link)
      }
    })

    it('names scripts and files of the project that are there', () => {
      const called = [...text.matchAll(/\bnpm run ([\w:]+)/g)].map(([, name = '']) => name)
      assert.deepEqual(
        called.filter((name) => !Object.hasOwn(scripts, name)),
        [],
      )
      const files = [...text.matchAll(/\b(?:scripts|packages|docs)\/[\w./-]+\.(?:ts|md|json|mjs)\b/g)].map(
        ([file]) => file,
      )
      assert.deepEqual(
        files.filter((file) => !existsSync(join(root, file)) && !existsSync(join(root, dirname(page), file))),
        [],
      )
    })

    it('calls commands that there are, with options that they have', () => {
      const calls = [...text.matchAll(/(?:^|`|npx |\| )inspan ([a-z]+)((?: [^`\n|]*)?)/gm)]
      for (const [call, name = '', rest = ''] of calls) {
        if (name === 'help') continue
        const source = join(commands, `${name}.ts`)
        assert.ok(existsSync(join(root, source)), call)
        const help = read(source)
        for (const option of rest.match(/--[a-z][a-z-]*/g) ?? []) assert.ok(help.includes(option), call)
      }
    })

    it('names variables of the environment that are read', () => {
      // Every program can have a variable with its name for its path, so those are skipped.
      for (const name of new Set(text.match(/\bINSPAN_(?![A-Z_]+_BIN\b)[A-Z_]+\b/g) ?? [])) {
        assert.ok(
          sources.some((path) => read(join('packages', path)).includes(name)),
          name,
        )
      }
    })
  })
}
