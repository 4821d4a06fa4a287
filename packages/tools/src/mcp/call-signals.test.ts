import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { suite, test } from 'node:test'
import { CallSignals } from './call-signals.ts'

suite('the signal of a call', () => {
  test('is aborted with its turn for the same reason, and not with another', () => {
    const signals = new CallSignals()
    const [turn, other] = [new AbortController(), new AbortController()]
    const [first, second, third] = [signals.take(turn.signal), signals.take(turn.signal), signals.take(other.signal)]
    const reason = new Error('the person has had enough')
    turn.abort(reason)
    assert.deepEqual([first.signal.reason, second.signal.reason, third.signal.aborted], [reason, reason, false])
    assert.equal(signals.take(turn.signal).signal.reason, reason, 'of a call that comes too late')
  })

  test('serves another call once its own is over, which the turn of the first no longer reaches', () => {
    const signals = new CallSignals()
    const [turn, later] = [new AbortController(), new AbortController()]
    const used = signals.take(turn.signal)
    signals.release(turn.signal, used)
    assert.equal(signals.take(later.signal), used)
    turn.abort()
    assert.equal(used.signal.aborted, false)
    later.abort()
    assert.equal(used.signal.aborted, true)
  })

  test('serves no other call once it was aborted', () => {
    const signals = new CallSignals()
    const turn = new AbortController()
    const late = signals.take(turn.signal)
    late.abort(new Error('too late'))
    signals.release(turn.signal, late)
    const next = signals.take(turn.signal)
    assert.deepEqual([next === late, next.signal.aborted], [false, false])
  })

  test('of a thousand calls leaves one listener on their turn, and few signals', () => {
    const signals = new CallSignals()
    const turn = new AbortController().signal
    const made = new Set<AbortController>()
    for (let round = 0; round < 100; round++) {
      const calls = Array.from({ length: 10 }, () => signals.take(turn))
      for (const call of calls) {
        made.add(call)
        signals.release(turn, call)
      }
    }
    assert.deepEqual([getEventListeners(turn, 'abort').length, made.size], [1, 10])
  })
})
