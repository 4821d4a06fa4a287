import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { lineDiff } from './line-diff.ts'

test('a changed line is removed and added, its neighbours stay', () => {
  assert.deepEqual(
    lineDiff('a\nb\nc', 'a\nx\nc').map(({ kind, text }) => `${kind} ${text}`),
    ['same a', 'removed b', 'added x', 'same c'],
  )
})

test('the end of the last line is no line of its own, unless it is what changed', () => {
  const shown = (before: string, after: string): readonly string[] =>
    lineDiff(before, after).map(({ kind, text }) => `${kind} ${text}`)
  assert.deepEqual(shown('', 'a\nb\n'), ['added a', 'added b'])
  assert.deepEqual(shown('a\n', 'a\nb\n'), ['same a', 'added b'])
  assert.deepEqual(shown('', '\n'), ['added '])
  assert.deepEqual(shown('a', 'a\n'), ['same a', 'added '])
})

test('the diff always holds both texts, in order', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 }).map((lines) => lines.join('\n'))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = lineDiff(before, after)
      const isEnded = [before, after].every((each) => each === '' || each.endsWith('\n'))
      const linesOf = (whole: string): readonly string[] => {
        const all = whole === '' ? [] : whole.split('\n')
        return isEnded ? all.slice(0, -1) : all
      }
      const without = (kind: string): readonly string[] =>
        lines.filter((line) => line.kind !== kind).map((line) => line.text)
      assert.deepEqual(without('added'), linesOf(before))
      assert.deepEqual(without('removed'), linesOf(after))
    }),
  )
})
