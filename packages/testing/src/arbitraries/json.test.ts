import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { arbitraryText, arbitraryUrl } from './json.ts'

test('texts hold characters of every kind, and surrogates without their other half only where they are meant', () => {
  const texts = fc.sample(arbitraryText, { numRuns: 5_000, seed: 1 })
  const points = texts.flatMap((text) => Array.from(text, (character) => character.codePointAt(0) ?? 0))
  const has = (from: number, to: number): boolean => points.some((point) => point >= from && point <= to)
  assert.ok(has(0x00, 0x1f), 'control characters')
  assert.ok(has(0x20, 0x7e), 'letters')
  assert.ok(has(0x80, 0xd7ff), 'other scripts')
  assert.ok(has(0xe000, 0xffff), 'what lies behind the surrogates')
  assert.ok(has(0x1_0000, 0x10_ffff), 'pairs of surrogates')
  assert.deepEqual(new Set(texts.filter((text) => !text.isWellFormed())), new Set(['\ud83d']))
})

test('addresses can be read as such', () => {
  fc.assert(fc.property(arbitraryUrl, (url) => URL.canParse(url)))
})
