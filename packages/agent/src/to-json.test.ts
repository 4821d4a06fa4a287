import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { toJson } from './to-json.ts'

suite('a value as JSON', () => {
  test('is itself when it is JSON already', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = toJson(value)
        assert.ok(json.isExact)
        assert.equal(JSON.stringify(json.value), JSON.stringify(value))
      }),
    )
  })

  test('can always be made, whatever the value is', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true }),
        (value) => {
          assert.equal(typeof JSON.stringify(toJson(value).value), 'string')
        },
      ),
    )
  })

  for (const [what, value, expected] of [
    ['a big integer', 7n, '7'],
    ['no number', Number.NaN, null],
    ['a function', () => 1, null],
    ['a map', new Map([['a', 1]]), { a: 1 }],
    ['a set', new Set([1, 2]), [1, 2]],
    ['a stream', new ReadableStream(), '[object ReadableStream]'],
    ['an expression', /x/, '[object RegExp]'],
    ['bytes', new Uint8Array([104, 105]), 'aGk='],
    [
      'a getter that throws',
      Object.defineProperty({}, 'x', {
        enumerable: true,
        get: () => {
          throw new Error('no')
        },
      }),
      'no',
    ],
  ] as const) {
    test(`says what could be kept of ${what}, and that it is not the same`, () => {
      assert.deepEqual(toJson(value), { value: expected, isExact: false })
    })
  }

  test('uses the JSON form that objects define, and leaves out what is not set', () => {
    assert.deepEqual(toJson({ at: new Date(0), not: undefined }), {
      value: { at: '1970-01-01T00:00:00.000Z' },
      isExact: true,
    })
  })

  test('keeps what appears twice without being a circle', () => {
    const shared = { a: 1 }
    assert.deepEqual(toJson([shared, shared]), { value: [{ a: 1 }, { a: 1 }], isExact: true })
  })
})
