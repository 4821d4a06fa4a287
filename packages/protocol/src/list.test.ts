import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { List } from './list.ts'

type Step = { push: number } | { set: [number, number] } | { pop: number }
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ push: fc.integer() }) },
    { weight: 1, arbitrary: fc.record({ set: fc.tuple(fc.nat(5000), fc.integer()) }) },
    { weight: 1, arbitrary: fc.record({ pop: fc.integer({ min: 1, max: 3 }) }) },
  ),
  { maxLength: 3000, size: 'max' },
)

test('a list behaves as an array does, and no step changes an earlier list', () => {
  fc.assert(
    fc.property(steps, (program) => {
      let list = List.empty<number>()
      const array: number[] = []
      const kept: { list: List<number>; copy: number[] }[] = []
      program.forEach((step, n) => {
        if ('push' in step) {
          list = list.push(step.push)
          array.push(step.push)
        } else if ('pop' in step) {
          for (let i = 0; i < step.pop; i++) list = list.pop()
          array.splice(-step.pop)
        } else if (array.length > 0) {
          const index = step.set[0] % array.length
          list = list.set(index, step.set[1])
          array[index] = step.set[1]
        }
        if (n % 250 === 0) kept.push({ list, copy: [...array] })
      })
      assert.deepEqual(list.toArray(), array)
      assert.equal(list.length, array.length)
      assert.deepEqual(list, List.from(array), 'two lists of the same are the same')
      for (let i = -array.length; i < array.length; i += 7) assert.equal(list.at(i), array.at(i))
      for (const { list: old, copy } of kept) assert.deepEqual(old.toArray(), copy)
      assert.deepEqual(List.from(array).toArray(), array)
      assert.deepEqual(List.from(array).push(1).toArray(), [...array, 1])
    }),
    { numRuns: 60 },
  )
})

test('picking from a list returns the same as picking from an array, whatever was picked before', () => {
  const even = (n: number): string | undefined => (n % 2 === 0 ? String(n) : undefined)
  fc.assert(
    fc.property(steps, (program) => {
      const seen = new WeakMap<object, readonly string[]>()
      let list = List.empty<number>()
      program.forEach((step, n) => {
        if ('push' in step) list = list.push(step.push)
        else if ('pop' in step) list = list.pop()
        else if (list.length > 0) list = list.set(step.set[0] % list.length, step.set[1])
        if (n % 50 > 0) return
        assert.deepEqual(
          list.pick(even, seen),
          list.toArray().flatMap((each) => even(each) ?? []),
        )
      })
    }),
    { numRuns: 30 },
  )
})

test('picking again looks only at what has changed', () => {
  let looked = 0
  const seen = new WeakMap<object, readonly number[]>()
  const choose = (n: number): number | undefined => {
    looked++
    return n === 5 ? n : undefined
  }
  let list = List.from(Array.from({ length: 40_000 }, (_, i) => i))
  assert.deepEqual(list.pick(choose, seen), [5])
  looked = 0
  list.pick(choose, seen)
  assert.equal(looked, 0)
  list = list.set(20_000, 5)
  assert.deepEqual(list.pick(choose, seen), [5, 5])
  assert.ok(looked <= 32, `${looked} of them`)
})

test('a list grows through every level of its tree', () => {
  let list = List.empty<number>()
  for (let i = 0; i < 70_000; i++) list = list.push(i)
  for (const i of [0, 31, 32, 1023, 1024, 32_767, 32_768, 69_999]) assert.equal(list.at(i), i)
  assert.equal(
    list.findLastIndex((n) => n < 40_000),
    39_999,
  )
  assert.equal(list.filter((n) => n % 1000 === 0).length, 70)
  for (const length of [32_769, 32_768, 1_025, 1_024, 33, 32, 1, 0, 0]) {
    while (list.length > length) list = list.pop()
    assert.deepEqual(
      [list.length, list.at(-1), list.at(length)],
      [length, length === 0 ? undefined : length - 1, undefined],
    )
    list = list.pop().push(length - 1)
    assert.equal(list.at(-1), length - 1)
    if (length === 0) list = list.pop()
  }
})

test('setting outside the list is an error, reading outside gives undefined', () => {
  const list = List.from([1, 2])
  assert.throws(() => list.set(2, 0), RangeError)
  assert.throws(() => list.set(-1, 0), RangeError)
  assert.equal(list.at(2), undefined)
  assert.equal(JSON.stringify(list), '[1,2]')
})
