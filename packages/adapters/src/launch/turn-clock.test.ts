import assert from 'node:assert/strict'
import { describe, it, mock, type TestContext } from 'node:test'
import { TurnClock, type TurnClockOptions } from './turn-clock.ts'

/** A clock that advances only when the test says so. */
function stage(
  t: TestContext,
  options: Partial<TurnClockOptions>,
): { clock: TurnClock; told: string[]; pass: (ms: number) => void } {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.after(() => mock.timers.reset())
  const told: string[] = []
  let now = 0
  const clock = new TurnClock({
    deadlineMs: null,
    stallMs: null,
    onDeadline: () => told.push('deadline'),
    onStall: (silentMs) => told.push(`silent for ${silentMs}`),
    now: () => now,
    ...options,
  })
  const pass = (ms: number): void => {
    for (let step = 0; step < ms; step += 10) {
      now += 10
      mock.timers.tick(10)
    }
  }
  return { clock, told, pass }
}

describe('the clock of a turn', () => {
  it('reports when the deadline has come', (t) => {
    const { clock, told, pass } = stage(t, { deadlineMs: 100 })
    clock.start()
    pass(90)
    assert.deepEqual(told, [])
    pass(10)
    assert.deepEqual(told, ['deadline'])
  })

  it('does not count the time in which it was paused', (t) => {
    const { clock, told, pass } = stage(t, { deadlineMs: 100 })
    clock.start()
    pass(60)
    clock.pause()
    pass(1_000)
    clock.start()
    pass(30)
    assert.deepEqual(told, [])
    pass(10)
    assert.deepEqual(told, ['deadline'])
  })

  it('reports each silence once', (t) => {
    const { clock, told, pass } = stage(t, { stallMs: 100 })
    clock.start()
    pass(60)
    clock.sign()
    pass(90)
    assert.deepEqual(told, [])
    pass(200)
    assert.deepEqual(told, ['silent for 100'])
    clock.sign()
    pass(100)
    assert.deepEqual(told, ['silent for 100', 'silent for 100'])
  })

  it('counts no silence while it is paused', (t) => {
    const { clock, told, pass } = stage(t, { stallMs: 100 })
    clock.start()
    pass(90)
    clock.pause()
    clock.sign()
    pass(1_000)
    clock.start()
    pass(90)
    assert.deepEqual(told, [])
  })
})
