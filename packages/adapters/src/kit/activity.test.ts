import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Stamper } from './activity.ts'

describe('the time on activity', () => {
  function timesOf(...times: readonly number[]): readonly (string | undefined)[] {
    const stamper = new Stamper('codex', 1)
    return times.map((at) => stamper.note([{ type: 'list' }], at, undefined).events[0]?.timestamp)
  }

  it('is that of the line, whatever time came before', () => {
    const second = Date.UTC(2026, 0, 2, 3, 4, 5)
    const times = [
      second,
      second + 7,
      second + 70,
      second + 999,
      second + 1000,
      second + 7,
      second - 1,
      1,
      0,
      86_400_000,
    ]
    assert.deepEqual(
      timesOf(...times),
      times.map((at) => new Date(at).toISOString()),
    )
  })

  it('may lie before 1970, after the year 9999 and between milliseconds', () => {
    const times = [-1, -1001, -1002, -62_198_755_200_000, 253_402_300_800_000, 253_402_300_800_001, 5.9, 6.1, 8.64e15]
    assert.deepEqual(
      timesOf(...times),
      times.map((at) => new Date(at).toISOString()),
    )
  })

  it('is the first of all when it is none', () => {
    const none = new Date(0).toISOString()
    assert.deepEqual(timesOf(Number.NaN, 8.64e15 + 2, 8.64e15 + 4, Infinity, -8.64e15 - 2), Array(5).fill(none))
  })
})
