import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { SENTENCES } from '../test/item-sentences.ts'
import { ITEMS, itemsPage, numbersOf, TESTS } from '../test/items.ts'

suite('the table of promises', () => {
  test('has every number once', () => {
    const numbers = ITEMS.flatMap(([each]) => numbersOf(each))
    assert.deepEqual(
      numbers.toSorted((a, b) => a - b),
      Array.from({ length: 456 }, (_each, index) => index + 1),
    )
    assert.equal(SENTENCES.length, 456)
    assert.equal(new Set(SENTENCES).size, 456)
  })

  test('names tests that exist', () => {
    for (const [file, title] of Object.values(TESTS)) {
      const text = readFileSync(new URL(`./${file}`, import.meta.url), 'utf8')
      assert.ok(text.includes(`'${title}'`) || text.includes(`\`${title}\``), `${file} has no test "${title}"`)
    }
  })

  test('is on its page: `node packages/sdk/test/write-items.ts` brings that up to date', () => {
    const page = readFileSync(new URL('../../../docs/internals/sdk-items.md', import.meta.url), 'utf8')
    assert.equal(page, itemsPage())
  })
})
