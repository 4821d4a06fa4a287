import type { BlobRef, ErrorData, JsonObject, JsonValue } from '@inspan/protocol'
import * as fc from 'fast-check'
import { listOf, mapOf, shape } from './shape.ts'

const SURROGATES = { first: 0xd800, count: 0x800 }

/** Any code point. Equals the `binary` unit of fast-check, which takes a second before its first value. */
const anyCharacter: fc.Arbitrary<string> = fc
  .nat({ max: 0x10ffff - SURROGATES.count })
  .map((place) => String.fromCodePoint(place < SURROGATES.first ? place : place + SURROGATES.count))

/** Any text, lone surrogates and control characters included: agents print what they like. */
export const arbitraryText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 12, unit: 'grapheme' }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 6, unit: anyCharacter }) },
  { weight: 1, arbitrary: fc.constantFrom('', '\ud83d', '\u2028', '\0', '{"a":', '</script>') },
)

/** A URL with anything in its path. */
export const arbitraryUrl: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom('http', 'https'), fc.domain(), listOf(fc.string({ maxLength: 6, unit: anyCharacter })))
  .map(([scheme, domain, path]) => [`${scheme}://${domain}`, ...path.map(encodeURIComponent)].join('/'))

/** Ids become path segments, so they are never empty and never a name that reaches a prototype. */
export const arbitraryId: fc.Arbitrary<string> = fc.oneof(
  fc.stringMatching(/^[a-z][a-z0-9_-]{0,7}$/),
  fc.constantFrom('0', 'toString', 'héllo', 'a/b', 'a.b', ' '),
)

/** Keys that careless programs trip over. The schemas refuse `__proto__`, which has its own tests. */
const keys: fc.Arbitrary<string> = fc.oneof(
  { weight: 5, arbitrary: fc.string({ maxLength: 6 }).filter((key) => key !== '__proto__') },
  { weight: 1, arbitrary: fc.constantFrom('constructor', 'prototype', 'toString', 'hasOwnProperty', '') },
)

/** JSON turns `-0` into `0`, so it is not generated. */
const arbitraryNumber: fc.Arbitrary<number> = fc
  .oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .map((value) => (Object.is(value, -0) ? 0 : value))

export const arbitraryCount: fc.Arbitrary<number> = fc.nat({ max: 1_000_000 })

export const arbitraryTime: fc.Arbitrary<number> = fc.integer({ min: 0, max: 4_102_444_800_000 })

const tree = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(null, true, false),
    arbitraryText,
    arbitraryNumber,
    listOf(tie('value')),
    tie('object'),
  ),
  object: mapOf(keys, tie('value')),
}))

export const arbitraryJsonValue: fc.Arbitrary<JsonValue> = tree.value
export const arbitraryJsonObject: fc.Arbitrary<JsonObject> = tree.object

const errors = fc.letrec<{ error: ErrorData }>((tie) => ({
  error: shape<ErrorData>(
    { name: fc.constantFrom('Error', 'TypeError', 'AbortError', 'InspanError'), message: arbitraryText },
    {
      code: fc.constantFrom('ENOENT', 'held', '429'),
      stack: arbitraryText,
      details: arbitraryJsonValue,
      cause: tie('error'),
    },
  ),
}))

export const arbitraryErrorData: fc.Arbitrary<ErrorData> = errors.error

export const arbitraryBlobRef: fc.Arbitrary<BlobRef> = shape<BlobRef>(
  {
    blob: fc.stringMatching(/^[0-9a-f]{64}$/),
    size: arbitraryCount,
    mime: fc.constantFrom('application/json', 'text/plain', 'image/png'),
  },
  { preview: arbitraryText },
)
