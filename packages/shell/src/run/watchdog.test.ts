import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { assertWatchdogOptions, Watchdog } from './watchdog.ts'
import type { Stall } from './watchdog.ts'

/** Keeps the process alive until the hook is called, because the watchdog does not. */
async function whenCalled<T>(start: (hook: (value: T) => void) => void): Promise<T> {
  const alive = setInterval(() => undefined, 1000)
  try {
    return await new Promise<T>(start)
  } finally {
    clearInterval(alive)
  }
}

describe('Watchdog', () => {
  it('reports a silence once it has lasted long enough', async () => {
    const stall = await whenCalled<Stall>((onStall) => new Watchdog({ stallMs: 30, onStall }, () => false))
    assert.ok(stall.silentMs >= 30)
  })

  it('reports one silence once, and the next after a sign of life', async () => {
    const stalls: Stall[] = []
    const watchdog = await whenCalled<Watchdog>((done) => {
      const watched: Watchdog = new Watchdog(
        {
          stallMs: 10,
          onStall: (stall) => {
            stalls.push(stall)
            if (stalls.length === 3) done(watched)
            else watched.sign()
          },
        },
        () => false,
      )
    })
    assert.equal(stalls.length, 3)
    await whenCalled<void>((done) => setTimeout(done, 100))
    assert.equal(stalls.length, 3)
    watchdog.stop()
  })

  it('does not blame the process for a silence that is ours', async () => {
    let asked = 0
    const heldBackThreeTimes = (): boolean => {
      asked += 1
      return asked <= 3
    }
    await whenCalled<Stall>((onStall) => new Watchdog({ stallMs: 10, onStall }, heldBackThreeTimes))
    assert.ok(asked > 3)
  })

  it('reads what has come before it calls a blocked loop a stall', async () => {
    const stalls: Stall[] = []
    const watchdog = new Watchdog({ stallMs: 300, onStall: (stall) => stalls.push(stall) }, () => false)
    const end = performance.now() + 350
    while (performance.now() < end);
    await nextTurn()
    watchdog.sign()
    await nextTurn()
    watchdog.stop()
    assert.deepEqual(stalls, [])
  })

  it('calls the deadline once', async () => {
    await whenCalled<void>((onDeadline) => new Watchdog({ deadlineMs: 10, onDeadline }, () => false))
  })

  it('is quiet after it was stopped', async () => {
    const fail = (): void => assert.fail('called after stop')
    const watchdog = new Watchdog({ stallMs: 5, onStall: fail, deadlineMs: 5, onDeadline: fail }, () => false)
    watchdog.stop()
    watchdog.sign()
    await whenCalled<void>((done) => setTimeout(done, 50))
  })

  it('refuses a time without a hook, a hook without a time, and times that no timer can keep', () => {
    const hook = (): void => undefined
    assert.throws(() => assertWatchdogOptions({ stallMs: 10 }), /onStall/)
    assert.throws(() => assertWatchdogOptions({ onDeadline: hook }), /deadlineMs/)
    for (const stallMs of [0, -1, Number.NaN, 2 ** 31]) {
      assert.throws(() => assertWatchdogOptions({ stallMs, onStall: hook }), RangeError)
    }
  })
})
