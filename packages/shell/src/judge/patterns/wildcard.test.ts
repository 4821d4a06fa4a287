import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { ANY, type Meeting, ONE, type Wildcard, matchesText, mayBegin, mayMeet } from './wildcard.ts'

const token = fc.oneof({ weight: 3, arbitrary: fc.constantFrom('a', 'b') }, fc.constantFrom(ANY, ONE))
const wildcard: fc.Arbitrary<Wildcard> = fc.array(token, { maxLength: 5 })
const CHARACTERS: Meeting<string, string> = { isSame: (a, b) => a === b, isMatched: () => true }

/** Every text of two letters, up to a length at which two short patterns have a common text if they have one at all. */
const TEXTS = Array.from({ length: 2 ** 11 - 1 }, (_, at) =>
  (at + 1).toString(2).slice(1).replaceAll('0', 'a').replaceAll('1', 'b'),
)

suite('two patterns', () => {
  test('meet exactly where some text is what both describe', () => {
    fc.assert(
      fc.property(wildcard, wildcard, (one, other) => {
        const meeting = TEXTS.some((text) => matchesText(one, text) && matchesText(other, text))
        assert.equal(mayMeet(one, other, CHARACTERS), meeting)
      }),
      { numRuns: 300 },
    )
  })

  test('one begins the other exactly where some text does', () => {
    fc.assert(
      fc.property(wildcard, wildcard, (one, other) => {
        assert.equal(mayBegin(one, other, CHARACTERS), mayMeet(one, [...other, ANY], CHARACTERS))
      }),
    )
  })
})
