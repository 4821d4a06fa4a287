import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { RecentIds } from './recent-ids.ts'

describe('recent ids', () => {
  it('are known for at least 256 others, however alike they are', () => {
    for (const name of [(n: number) => `item_${n}`, (n: number) => `${n}-same-end`, (n: number) => 'x'.repeat(n)]) {
      const ids = new RecentIds()
      for (let n = 0; n < 3_000; n += 1) {
        ids.set(name(n), n)
        for (const ago of [0, 1, 100, 255]) if (n >= ago) assert.equal(ids.get(name(n - ago)), n - ago)
        assert.equal(ids.get(name(n + 1)), undefined)
      }
      assert.equal(ids.get(name(0)), undefined)
    }
  })

  it('answer as two maps would, one after the other', () => {
    const id = fc.oneof(fc.string({ maxLength: 3 }), fc.nat(400).map(String))
    fc.assert(
      fc.property(fc.array(fc.tuple(id, fc.nat(9)), { minLength: 500, maxLength: 1_500 }), (uses) => {
        const ids = new RecentIds()
        let now = new Map<string, number>()
        let before = new Map<string, number>()
        for (const [name, value] of uses) {
          assert.equal(ids.get(name), now.get(name) ?? before.get(name))
          if (now.size >= 256) {
            before = now
            now = new Map()
          }
          now.set(name, value)
          ids.set(name, value)
        }
      }),
      { numRuns: 40, seed: 3 },
    )
  })
})
