import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { ITEMS, itemsPage, numbersOf, TESTS } from '../test/items.ts'

suite('the table of promises', () => {
  test('has every number once', () => {
    const numbers = ITEMS.flatMap(([each]) => numbersOf(each))
    assert.deepEqual(
      numbers.toSorted((a, b) => a - b),
      Array.from({ length: 456 }, (_each, index) => index + 1),
    )
  })

  test('names tests that exist', () => {
    for (const [file, title] of Object.values(TESTS)) {
      const text = readFileSync(new URL(`./${file}`, import.meta.url), 'utf8')
      assert.ok(text.includes(`'${title}'`) || text.includes(`\`${title}\``), `${file} has no test "${title}"`)
    }
  })

  test('is on its page: `node packages/sdk/test/write-items.ts` brings that up to date', () => {
    const page = readFileSync(new URL('../../../docs/internals/sdk-items.md', import.meta.url), 'utf8')
    // The formatter aligns the columns.
    const plain = (text: string): string => text.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---')
    assert.equal(plain(page), plain(itemsPage()))
  })
})
