import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newHarnessId } from './new-id.ts'

suite('an id that nobody else has chosen', () => {
  test('is another each time, also of one moment', () => {
    const ids = Array.from({ length: 10_000 }, () => newHarnessId(1_700_000_000_000))
    assert.equal(new Set(ids).size, ids.length)
    for (const id of ids) assert.match(id, /^1700000000000-[0-9a-z]{13}$/)
  })

  test('sorts by its time', () => {
    const times = Array.from({ length: 1_000 }, (_, i) => 1_700_000_000_000 + i)
    const ids = times.map(newHarnessId)
    assert.deepEqual(ids.toSorted(), ids)
  })
})
