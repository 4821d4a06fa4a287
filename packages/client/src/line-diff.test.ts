import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { lineDiff } from './line-diff.ts'

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'))

test('a changed line is removed and added, its neighbours stay', () => {
  assert.deepEqual(
    lineDiff('a\nb\nc', 'a\nx\nc').map(({ kind, text }) => `${kind} ${text}`),
    ['same a', 'removed b', 'added x', 'same c'],
  )
})

test('the diff always holds both texts, in order', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 }).map((lines) => lines.join('\n'))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = lineDiff(before, after)
      const without = (kind: string): readonly string[] =>
        lines.filter((line) => line.kind !== kind).map((line) => line.text)
      assert.deepEqual(without('added'), linesOf(before))
      assert.deepEqual(without('removed'), linesOf(after))
    }),
  )
})
