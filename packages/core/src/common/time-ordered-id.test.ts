import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { commandIdTime } from '@inspan/protocol/store'
import { timeOrderedId } from './time-ordered-id.ts'

suite('ids of our own', () => {
  test('are UUIDs of version 7 that contain when they were made', (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 0, 2, 3, 4, 5) })
    assert.equal(commandIdTime(timeOrderedId()), Date.now())
    t.mock.timers.tick(1)
    assert.equal(commandIdTime(timeOrderedId()), Date.now())
  })

  test('sort by the time they were made at', (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 0 })
    const ids = Array.from({ length: 50 }, (_, n) => {
      t.mock.timers.tick(10 ** (n % 10))
      return timeOrderedId()
    })
    assert.deepEqual(ids.toSorted(), ids)
  })

  test('sort in the order they were made in, also in the same millisecond', (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1_700_000_000_000 })
    const ids = Array.from({ length: 10_000 }, timeOrderedId)
    assert.deepEqual(ids.toSorted(), ids)
    assert.equal(new Set(ids).size, 10_000)
  })

  test('follow a clock that is set back', (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2030, 0, 1) })
    timeOrderedId()
    t.mock.timers.setTime(Date.UTC(2026, 0, 1))
    assert.equal(commandIdTime(timeOrderedId()), Date.now())
  })
})
