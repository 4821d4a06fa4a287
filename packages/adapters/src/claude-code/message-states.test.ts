import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MessageStates } from './message-states.ts'

const lifecycle = (uuid: string, state: string) => ({ type: 'command_lifecycle', command_uuid: uuid, state })
const session = (state: string) => ({ type: 'system', subtype: 'session_state_changed', state })
const result = { type: 'result' }

/** Returns the index of the record that ends a turn that begins with the message `p`. */
function endOf(records: readonly object[], steered: readonly string[] = []): number {
  const states = new MessageStates()
  states.sent('p')
  states.begin('p')
  for (const uuid of steered) states.sent(uuid)
  return records.findIndex((record) => states.read(record as never))
}

describe('a turn is over', () => {
  it('when the session is idle and the prompt was processed', () => {
    const records = [
      session('running'),
      lifecycle('p', 'queued'),
      lifecycle('p', 'started'),
      result,
      lifecycle('p', 'completed'),
      session('idle'),
    ]
    assert.equal(endOf(records), 5)
  })

  it('a turn is not over while subagents in the background keep the session busy', () => {
    const first = [session('running'), lifecycle('p', 'started'), result, lifecycle('p', 'completed')]
    assert.equal(endOf(first), -1)
    assert.equal(endOf([...first, { type: 'system', subtype: 'init' }, result, session('idle')]), 6)
  })

  it('a turn is not over when something else has just ended', () => {
    const wokenUp = [lifecycle('other', 'completed'), session('running'), result, session('idle')]
    assert.equal(endOf(wokenUp), -1)
    assert.equal(endOf([...wokenUp, lifecycle('p', 'started'), lifecycle('p', 'completed'), session('idle')]), 6)
  })

  it('when its prompt was withdrawn', () => {
    assert.equal(endOf([lifecycle('p', 'queued'), lifecycle('p', 'cancelled'), session('idle')]), 2)
  })

  it('with its result, if the program reports no session state', () => {
    assert.equal(endOf([{ type: 'assistant' }, result]), 1)
  })

  it('without a state only when no message is left', () => {
    const records = [
      lifecycle('p', 'started'),
      lifecycle('s', 'queued'),
      result,
      lifecycle('p', 'completed'),
      lifecycle('s', 'started'),
      result,
      lifecycle('s', 'completed'),
    ]
    assert.equal(endOf(records, ['s']), 6)
  })
})

describe('a message', () => {
  it('counts as delivered once it was started, but not if it was withdrawn before that', () => {
    const states = new MessageStates()
    for (const uuid of ['p', 'a', 'b', 'c']) states.sent(uuid)
    for (const [uuid, state] of [
      ['a', 'started'],
      ['b', 'queued'],
      ['b', 'cancelled'],
      ['c', 'queued'],
    ] as const) {
      states.read(lifecycle(uuid, state))
    }
    assert.deepEqual(
      ['a', 'b', 'c'].map((uuid) => states.wasHeard(uuid)),
      [true, false, false],
    )
  })
})
