import assert from 'node:assert/strict'
import { mock, suite, test } from 'node:test'
import { PostgresMembership, type LeftThread } from './membership.ts'

const COUNT = 100
const STEP_MS = 50

/** Lets a process find a dead owner of so many threads. Returns when it was told to look at each. */
async function wakesOf(hasServerRestarted: boolean): Promise<ReadonlyMap<string, number>> {
  let now = 0
  let drawn = 0
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  mock.method(performance, 'now', () => now)
  mock.method(Math, 'random', () => (drawn++ % COUNT) / COUNT)
  const woken = new Map<string, number>()
  const row = { beat: 1, ageMs: 0, isLocked: false, mine: 1, table: 1 }
  const threads = Array.from({ length: COUNT }, (_, index): LeftThread => ({ id: `t${index}`, hasServerRestarted }))
  const membership = new PostgresMembership(
    { owner: 'me', onWake: (thread) => woken.set(thread, now), onLost: () => assert.fail('it is alive') },
    {
      line: {
        query: async <Row>() => ['me', 'dead'].map((owner) => ({ ...row, owner }) as Row),
        reconnect: () => undefined,
      },
      listOwned: async () => threads,
      removeDead: async () => undefined,
      onLeave: async () => undefined,
    },
  )
  try {
    while (now < 4000) {
      await new Promise((resolve) => setImmediate(resolve))
      now += STEP_MS
      mock.timers.tick(STEP_MS)
    }
  } finally {
    await membership.leave()
    mock.timers.reset()
    mock.restoreAll()
  }
  return woken
}

suite('threads of a dead owner', () => {
  test('are checked all at once when a process was killed', async () => {
    const times = [...(await wakesOf(false)).values()]
    assert.equal(times.length, COUNT)
    assert.equal(new Set(times).size, 1)
  })

  test('are checked evenly within two seconds after a failover of the database', async () => {
    const times = [...(await wakesOf(true)).values()].sort((a, b) => a - b)
    assert.equal(times.length, COUNT)
    const [first = 0] = times
    const perHalfSecond = [0, 1, 2, 3].map(
      (half) => times.filter((at) => Math.floor((at - first) / 500) === half).length,
    )
    // A timer may fire just past the limit of its half second.
    assert.ok(
      perHalfSecond.every((count) => count >= 23),
      perHalfSecond.join(' '),
    )
  })
})
