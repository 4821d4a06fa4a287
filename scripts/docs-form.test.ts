/** A guide begins with a program, lists its options in a table made from the types, and ends with the edge cases. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = join(root, 'docs/guide')

/** Pages that people look something up in, and why they are not about one program. */
const LOOKED_UP: Readonly<Record<string, string>> = {
  'agents.md': 'tables that the tests of the real agents write',
  'command-line.md': 'a table of commands; each prints its own options',
  'compare.md': 'tables that `npm run compare` writes',
  'faq.md': 'questions and answers',
  'install.md': 'what to install for what',
  'platforms.md': 'a table of systems',
  'studio.md': 'the web page, which has no options of its own',
  'troubleshooting.md': 'a table of symptoms',
}

/** Pages whose options are those of a command or are spread over several protocols. */
const OPTIONS_BY_HAND: ReadonlySet<string> = new Set(['bridges.md', 'chat.md'])

const pages = readdirSync(folder).filter((page) => !Object.hasOwn(LOOKED_UP, page))

for (const page of pages) {
  describe(`docs/guide/${page}`, () => {
    const text = readFileSync(join(folder, page), 'utf8')
    const program = text.search(/^```(?:tsx?|sh)\b/m)
    const options = text.search(OPTIONS_BY_HAND.has(page) ? /^\| (?:option|AI SDK) /m : /^<!-- options: /m)
    const edgeCases = text.search(/^##+ Edge cases/m)

    it('begins with a program, before any table', () => {
      assert.ok(program >= 0, 'There is no program.')
      assert.ok(program < text.search(/^\| /m), 'A table comes first.')
    })

    it('has a table of options after it, and then the edge cases', () => {
      assert.ok(options > program, 'There is no table of options.')
      assert.ok(edgeCases > options, 'There are no edge cases.')
    })

    it('describes every option', () => {
      for (const [, table = ''] of text.matchAll(/^<!-- options: .*?-->\n(.*?)^<!-- end of options -->/gms)) {
        const rows = table.split('\n').filter((line) => line.startsWith('| `'))
        assert.ok(rows.length > 0)
        for (const row of rows) {
          const [, , , words = ''] = row.split(/(?<!\\)\|/).map((cell) => cell.trim())
          assert.match(words, /^[A-Z`].*[.)`:]$/, row)
        }
      }
    })
  })
}

it('every page that is left out of this is there', () => {
  for (const page of Object.keys(LOOKED_UP)) assert.ok(readdirSync(folder).includes(page), page)
})
