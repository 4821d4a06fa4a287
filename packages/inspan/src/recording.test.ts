import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Pace } from './recording.ts'

const waits = (speed: number, ...times: readonly number[]): readonly number[] => {
  const pace = new Pace(speed)
  return times.map((at) => pace.before(at))
}

suite('the pace of a replay', () => {
  test('is that of the run, or as many times as fast', () => {
    assert.deepEqual(waits(1, 1000, 1500, 1500, 4000), [0, 500, 0, 2500])
    assert.deepEqual(waits(10, 1000, 1500, 4000), [0, 50, 250])
    assert.deepEqual(waits(Infinity, 1000, 1500), [0, 0])
  })

  test('is not slower because events have times of another clock', () => {
    assert.deepEqual(waits(1, 1000, 1500, 1400, 1500, 1600), [0, 500, 0, 0, 100])
  })

  test('never exceeds what a timer can hold, however slow it is', () => {
    assert.ok((waits(1e-9, 0, 1000)[1] ?? 0) > 1000)
    assert.ok((waits(1e-9, 0, 1000)[1] ?? 0) < 2 ** 31)
  })
})
