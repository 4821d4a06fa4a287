import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EventQueue } from './event-queue.ts'

async function isWaiting(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false
  void promise.then(() => (isSettled = true))
  await new Promise((resolve) => setImmediate(resolve))
  return !isSettled
}

function full(): EventQueue<number> {
  const queue = new EventQueue<number>()
  let n = 0
  while (!queue.isFull) queue.push(n++)
  return queue
}

describe('an event queue', () => {
  it('returns everything in order, and then that it is over', async () => {
    const queue = new EventQueue<number>()
    const taken: (number | undefined)[] = []
    const taker = (async () => {
      for (;;) {
        const item = await queue.take()
        taken.push(item)
        if (item === undefined) return
      }
    })()
    for (let n = 0; n < 2000; n++) {
      queue.push(n)
      if (n % 7 === 0) await Promise.resolve()
    }
    queue.end()
    await taker
    assert.deepEqual(taken, [...Array.from({ length: 2000 }, (_, n) => n), undefined])
  })

  it('makes writers wait until the reader has made room', async () => {
    const queue = full()
    const room = queue.room()
    assert.equal(await isWaiting(room), true)
    await queue.take()
    await room
    assert.equal(queue.isFull, false)
  })

  it('wakes every writer that waits', async () => {
    const queue = full()
    const rooms = [queue.room(), queue.room(), queue.room()]
    await queue.take()
    await Promise.all(rooms)
  })

  it('makes nobody wait once its limit is lifted', async () => {
    const queue = full()
    const room = queue.room()
    queue.unbound()
    await room
    for (let n = 0; n < 10_000; n++) queue.push(n)
    assert.equal(queue.isFull, false)
  })
})
