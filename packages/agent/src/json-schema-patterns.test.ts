import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { unicodePattern } from './json-schema-patterns.ts'

suite('a pattern of a schema', () => {
  test('a pattern of a schema that is valid in Unicode mode stays as it is', () => {
    for (const pattern of ['^a+$', String.raw`[\w\-]`, '\\p{L}']) assert.equal(unicodePattern(pattern), pattern)
  })

  for (const [pattern, good, bad] of [
    [String.raw`^[\w-.]+$`, 'a-b.c', 'a b'],
    [String.raw`^[.-\w]+$`, 'a-b.c', 'a b'],
    [String.raw`^\d\-\d$`, '1-2', '12'],
    [String.raw`^a\@b\_c$`, 'a@b_c', 'ab'],
    ['^{.*}$', '{x}', 'x'],
    ['^a{2}]$', 'aa]', 'a]'],
  ] as const) {
    test(`${pattern} matches ${good}, not ${bad}`, () => {
      const regex = new RegExp(unicodePattern(pattern) ?? 'none', 'u')
      assert.equal(regex.test(good), true)
      assert.equal(regex.test(bad), false)
    })
  }

  test('a pattern of a schema that no mode accepts has no form', () => {
    for (const pattern of ['(', '[', 'a**', '\\']) assert.equal(unicodePattern(pattern), undefined)
  })

  test('matches the same text as in the older mode', () => {
    const parts = [
      '[',
      ']',
      '^',
      '-',
      '.',
      '{',
      '}',
      '{2}',
      ',',
      'a',
      '1',
      ' ',
      '@',
      '\\-',
      '\\@',
      '\\w',
      '\\d',
      '\\S',
      '*',
      '(',
      ')',
      '|',
      '$',
    ]
    const part = fc.constantFrom(...parts)
    const text = fc.string({ unit: fc.constantFrom('a', '1', '-', '@', '.', '{', '}', ']', ' ', ','), maxLength: 6 })
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), fc.array(text, { minLength: 5, maxLength: 5 }), (chosen, texts) => {
        const pattern = chosen.join('')
        const rewritten = unicodePattern(pattern)
        if (rewritten === undefined) return
        const older = new RegExp(pattern)
        const newer = new RegExp(rewritten, 'u')
        for (const each of texts) assert.equal(newer.test(each), older.test(each), `${pattern} on ${each}`)
      }),
      { numRuns: 5_000 },
    )
  })
})
