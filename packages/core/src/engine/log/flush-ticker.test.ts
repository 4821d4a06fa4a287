import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FlushTicker } from './flush-ticker.ts'

const idle = { flushSoon: () => undefined }

describe('the ticker that writes deltas of all threads', () => {
  it('leaves no timer once the last log is closed', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const cleared = t.mock.method(globalThis, 'clearTimeout')
    const ticker = new FlushTicker()
    ticker.add(idle)
    ticker.remove(idle)
    assert.equal(cleared.mock.callCount(), 0)
    ticker.rest()
    assert.equal(cleared.mock.callCount(), 1)
  })

  it('still writes the deltas of one thread when another one is closed', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const ticker = new FlushTicker()
    let writes = 0
    ticker.add(idle)
    ticker.add({ flushSoon: () => void (writes += 1) })
    ticker.remove(idle)
    ticker.rest()
    t.mock.timers.tick(100)
    assert.equal(writes, 1)
  })

  it('writes again after it has rested', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const ticker = new FlushTicker()
    let writes = 0
    ticker.add(idle)
    ticker.remove(idle)
    ticker.rest()
    ticker.add({ flushSoon: () => void (writes += 1) })
    t.mock.timers.tick(100)
    assert.equal(writes, 1)
  })
})
