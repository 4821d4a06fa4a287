import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { holds, type Equal } from '../test/type-check.ts'
import type { ErrorData } from './error-data.ts'
import type { JsonValue } from './json.ts'
import { List } from './list.ts'
import { toWire, type Wire } from './wire-form.ts'

function overTheWire(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

test('the wire form of anything is what the other end reads', () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withSparseArray: true,
    withNullPrototype: true,
    withObjectString: true,
  })
  fc.assert(
    fc.property(anything, (value) => {
      const wire = toWire(value)
      assert.deepEqual(overTheWire(wire), wire)
    }),
  )
})

test('JSON stays as it is', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      assert.deepEqual(toWire(value), overTheWire(value))
    }),
  )
})

test('dates become ISO text, maps records, sets and lists arrays, big integers text', () => {
  const wire = toWire({
    date: new Date(0),
    map: new Map([['a', new Map([['b', 1]])]]),
    set: new Set([1]),
    list: List.from([1, 2]),
    big: 12n,
  })
  assert.deepEqual(wire, {
    date: '1970-01-01T00:00:00.000Z',
    map: { a: { b: 1 } },
    set: [1],
    list: [1, 2],
    big: '12',
  })
})

test('errors become data with their causes and without the stack, which names files of this machine', () => {
  const error = Object.assign(new TypeError('outer', { cause: new Error('inner') }), { code: 'E1' })
  assert.deepEqual(toWire(error), {
    name: 'TypeError',
    message: 'outer',
    code: 'E1',
    cause: { name: 'Error', message: 'inner' },
  })
})

test('values that JSON cannot hold are left out of objects and become null in arrays', () => {
  const wire = toWire({ a: undefined, b: () => 1, c: [undefined, Number.NaN, Symbol('s')], d: new Date(Number.NaN) })
  assert.deepEqual(wire, { c: [null, null, null], d: null })
  assert.equal(toWire(undefined), null)
  assert.equal(toWire(-0), 0)
})

test('an object that holds itself, throws when read or is called __proto__ does no harm', () => {
  const loop: Record<string, unknown> = {}
  loop['self'] = [loop]
  assert.deepEqual(toWire(loop), { self: ['[circular]'] })
  const shared = { n: 1 }
  assert.deepEqual(toWire([shared, shared]), [{ n: 1 }, { n: 1 }])
  const rude = {
    get secret(): never {
      throw new Error('no')
    },
  }
  assert.deepEqual(toWire({ rude, fine: 1 }), { rude: '[unreadable]', fine: 1 })
  const odd: unknown = JSON.parse('{"__proto__": {"polluted": true}}')
  assert.equal(JSON.stringify(toWire(odd)), '{"__proto__":{"polluted":true}}')
  assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false)
})

test('the wire type contains the same as the function', () => {
  interface Inner {
    readonly at: Date
    readonly why?: Error
  }
  interface Outer {
    readonly name: string
    readonly any: unknown
    readonly byId: ReadonlyMap<string, Inner>
    readonly all: readonly Inner[]
    readonly none: Inner | null
  }
  interface WireInner {
    readonly at: string
    readonly why?: ErrorData
  }
  interface WireOuter {
    readonly name: string
    readonly any: JsonValue
    readonly byId: { readonly [key: string]: WireInner }
    readonly all: readonly WireInner[]
    readonly none: WireInner | null
  }
  holds(true satisfies Equal<Wire<Outer>, WireOuter>)
  holds(true satisfies Equal<Wire<Date>, string>)
  holds(true satisfies Equal<Wire<Inner>['at'], string>)
})
