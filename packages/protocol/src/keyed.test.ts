import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { IdList } from './id-list.ts'
import { Keyed } from './keyed.ts'

type Step = { readonly do: 'set' | 'prepend' | 'delete'; readonly id: string; readonly value: number }

/** Few enough ids that they repeat, and some with equal FNV hashes. */
const ids = fc.oneof(
  fc.nat({ max: 150 }).map((n) => `id-${n}`),
  fc.constantFrom('costarring', 'liquid', 'declinate', 'macallums', '__proto__', 'constructor', '7', ''),
)

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    do: fc.constantFrom('set' as const, 'set' as const, 'set' as const, 'prepend' as const, 'delete' as const),
    id: ids,
    value: fc.nat(),
  }),
  { maxLength: 600, size: 'max' },
)

type Entry = readonly [string, number]

/** The same operations on arrays. */
function model(entries: readonly Entry[], step: Step): readonly Entry[] {
  const others = entries.filter(([id]) => id !== step.id)
  if (step.do === 'delete') return others
  if (step.do === 'prepend') return [[step.id, step.value], ...others]
  return others.length === entries.length
    ? [...entries, [step.id, step.value]]
    : entries.map((entry) => (entry[0] === step.id ? [step.id, step.value] : entry))
}

function applied(keyed: Keyed<number>, step: Step): Keyed<number> {
  if (step.do === 'delete') return keyed.delete(step.id)
  return step.do === 'set' ? keyed.set(step.id, step.value) : keyed.prepend(step.id, step.value)
}

suite('a collection by id', () => {
  test('does what a map in order does, and no step changes an earlier collection', () => {
    fc.assert(
      fc.property(steps, (program) => {
        let keyed = Keyed.empty<number>()
        let expected: readonly Entry[] = []
        const kept: { keyed: Keyed<number>; entries: readonly Entry[] }[] = []
        program.forEach((step, n) => {
          keyed = applied(keyed, step)
          expected = model(expected, step)
          assert.equal(keyed.get(step.id), step.do === 'delete' ? undefined : step.value)
          if (n % 50 === 0) kept.push({ keyed, entries: expected })
        })
        kept.push({ keyed, entries: expected })
        for (const { keyed: each, entries } of kept) {
          assert.deepEqual([...each.entries()], entries)
          assert.deepEqual([...each.backwards()], entries.toReversed())
          assert.deepEqual([each.size, each.first], [entries.length, entries[0]?.[1]])
          assert.ok(entries.every(([id, value]) => each.has(id) && each.get(id) === value))
          assert.deepEqual(each, Keyed.from(entries), 'however it came about')
          assert.deepEqual(each.toJSON(), Object.fromEntries(entries))
        }
      }),
      { numRuns: 100 },
    )
  })

  test('with other things, or in another order, is not equal', () => {
    const keyed = Keyed.from([
      ['a', 1],
      ['b', 2],
    ])
    assert.notDeepEqual(keyed, keyed.set('b', 3))
    assert.notDeepEqual(keyed, keyed.delete('a').set('a', 1))
    assert.deepEqual(keyed, keyed.set('c', 3).delete('c'))
  })

  test('separates ids whose hashes are the same', () => {
    // FNV-1a gives the two ids of each pair the same hash.
    for (const [one, other] of [
      ['costarring', 'liquid'],
      ['declinate', 'macallums'],
    ] as const) {
      const both = Keyed.empty<string>().set(one, 'one').set(other, 'other').set('third', 'third')
      assert.deepEqual([both.get(one), both.get(other), both.size], ['one', 'other', 3])
      assert.deepEqual([...both.delete(one)], ['other', 'third'])
      assert.deepEqual([both.set(one, 'anew').get(one), both.delete(one).get(one)], ['anew', undefined])
    }
  })
})

suite('a list by id', () => {
  test('finds what it holds, wherever it is; of two with one id the last', () => {
    fc.assert(
      fc.property(fc.array(ids, { maxLength: 300 }), (given) => {
        const items = given.map((id, n) => ({ id, n }))
        const list = items.reduce((made, item) => made.push(item), IdList.empty<{ id: string; n: number }>())
        for (const { id } of items) {
          const index = items.findLastIndex((item) => item.id === id)
          assert.deepEqual([list.indexOf(id), list.get(id)], [index, items[index]])
        }
        assert.deepEqual([list.indexOf('nobody'), list.get('nobody')], [-1, undefined])
        assert.deepEqual(list, IdList.from(items))
        const even = list.filter(({ n }) => n % 2 === 0)
        assert.deepEqual(even, IdList.from(items.filter(({ n }) => n % 2 === 0)))
        assert.deepEqual(JSON.parse(JSON.stringify(list)), items)
        const half = given.length >>> 1
        assert.deepEqual(
          IdList.from(items.toSpliced(half, 1)).insert(half, items[half] ?? { id: 'first', n: 0 }),
          IdList.from(items.length === 0 ? [{ id: 'first', n: 0 }] : items),
        )
      }),
      { numRuns: 100 },
    )
  })

  test('keeps what was at a place for whoever kept the list', () => {
    const before = IdList.from([
      { id: 'a', n: 1 },
      { id: 'b', n: 2 },
    ])
    const after = before.set(0, { id: 'a', n: 3 })
    assert.deepEqual([before.get('a')?.n, after.get('a')?.n, after.get('b')?.n], [1, 3, 2])
  })
})
