import assert from 'node:assert/strict'
import { suite, test, type TestContext } from 'node:test'
import { Patience } from './patience.ts'

function stoppedClock(t: TestContext): (ms: number) => void {
  t.mock.timers.enable({ apis: ['setInterval'] })
  return (ms) => t.mock.timers.tick(ms)
}

suite('the idle timeout of a model', () => {
  test('is over when nothing has arrived for that long', (t) => {
    const pass = stoppedClock(t)
    const patience = new Patience(undefined, 1000)
    pass(1000)
    assert.equal(patience.isOver, false)
    pass(250)
    assert.equal(patience.isOver, true)
    assert.equal((patience.signal.reason as DOMException).name, 'TimeoutError')
  })

  test('starts again with everything that arrives', (t) => {
    const pass = stoppedClock(t)
    const patience = new Patience(undefined, 1000)
    for (let part = 0; part < 10; part++) {
      pass(900)
      patience.pause()
      patience.begin()
    }
    assert.equal(patience.isOver, false)
    patience.end()
  })

  test('does not run while nobody reads from the model', (t) => {
    const pass = stoppedClock(t)
    const patience = new Patience(undefined, 1000)
    patience.pause()
    pass(60_000)
    assert.equal(patience.isOver, false)
    patience.begin()
    pass(1250)
    assert.equal(patience.isOver, true)
  })

  test('may be infinite, or longer than a timer can hold', (t) => {
    const pass = stoppedClock(t)
    for (const ms of [Infinity, 2 ** 50]) {
      const patience = new Patience(undefined, ms)
      pass(2 ** 31)
      assert.equal(patience.isOver, false)
      patience.end()
    }
  })

  test('the wait for a model', (t) => {
    const pass = stoppedClock(t)
    const turn = new AbortController()
    const patience = new Patience(turn.signal, 1000)
    turn.abort('enough')
    assert.equal(patience.signal.reason, 'enough')
    assert.equal(patience.isOver, false)
    patience.end()
    pass(5000)
    assert.equal(patience.isOver, false)
    assert.equal(new Patience(turn.signal, 1000).signal.aborted, true)
  })
})
