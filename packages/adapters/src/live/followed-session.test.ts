import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AgentEvent } from '@inspan/protocol'
import type { AgentSession, Binding, Host } from '@inspan/protocol/driver'
import type { CancelReceipt } from '@inspan/protocol/log'
import { aTurn, diary, takeAll, type Diary } from '../../test/launch/diary.ts'
import { aMessage } from '../../test/live/live-host.ts'
import { FollowedSession, type SessionFacts } from './followed-session.ts'

const NOTHING: CancelReceipt = { how: 'clean', calls: [], orphansKilled: 0, queued: [] }
const told: Binding = { agentId: 'a', nativeId: 'asked-for', syncedTo: 3 }

interface Opened {
  readonly binding: Binding | null
  isClosed: boolean
}

interface Stage {
  readonly session: FollowedSession
  readonly notes: Diary
  readonly opened: Opened[]
}

/** A session that binds, changes the facts, and finishes. Its host is frozen. */
function stage(
  during: (facts: SessionFacts, turn: number, host: Host) => void,
  binding: Binding | null = null,
  more: Partial<Host> = {},
): Stage {
  const notes = diary(more)
  const opened: Opened[] = []
  let turns = 0
  const open = (bound: Binding | null, host: Host, facts: SessionFacts): AgentSession => {
    const record: Opened = { binding: bound, isClosed: false }
    opened.push(record)
    return {
      run: async function* (): AsyncGenerator<AgentEvent> {
        turns += 1
        during(facts, turns, host)
        host.bind(told)
        yield { type: 'text-delta', text: 'hi' }
        yield { type: 'finish', finishReason: 'stop' }
      },
      steer: async () => 'injected',
      cancel: async () => NOTHING,
      close: async () => {
        record.isClosed = true
      },
    }
  }
  return { session: new FollowedSession(open, binding, Object.freeze(notes.host)), notes, opened }
}

const take = ({ session, notes }: Stage): Promise<AgentEvent[]> => takeAll(session.run(aTurn), notes)
const settledOf = ({ notes }: Stage): unknown => notes.bindings.at(-1)?.extra?.['settled']

describe('a session that follows the native one', () => {
  it('binds the native session that was really begun', async () => {
    const made = stage((facts) => void (facts.nativeId = 'real'))
    await take(made)
    assert.deepEqual(
      made.notes.bindings.map(({ nativeId }) => nativeId),
      ['real'],
    )
  })

  it('binds what it was told where nothing else is known', async () => {
    const made = stage(() => undefined)
    await take(made)
    assert.deepEqual(made.notes.bindings, [told])
  })

  it('says that the session ends with the turn when the program has answered, before the last event is out', async () => {
    const made = stage((facts) => void (facts.isSettled = true))
    await take(made)
    assert.equal(settledOf(made), true)
    assert.deepEqual(made.notes.order, ['bind asked-for -', 'text-delta', 'bind asked-for -', 'finish'])
  })

  it('does not say so when the program has not answered', async () => {
    const made = stage(() => undefined)
    await take(made)
    assert.equal(settledOf(made), undefined)
  })

  it('goes on with the same process from turn to turn', async () => {
    const made = stage(() => undefined)
    await take(made)
    await take(made)
    assert.equal(made.opened.length, 1)
  })

  it('begins the next turn with what is bound when the process is gone', async () => {
    const made = stage((facts, turn) => {
      if (turn > 1) return
      facts.nativeId = 'real'
      facts.isGone = true
    })
    await take(made)
    await take(made)
    assert.deepEqual(
      made.opened.map(({ binding, isClosed }) => [binding?.nativeId, isClosed]),
      [
        [undefined, true],
        ['real', false],
      ],
    )
    assert.equal(made.notes.bindings.at(-1)?.nativeId, 'asked-for', 'what the next process says counts')
  })

  it('has all that its host offers', async () => {
    const heard: unknown[] = []
    const made = stage(
      (_facts, _turn, host) => {
        void host.withdraw('w')
        host.noteHandover({ messages: 1, tokens: 2, truncated: false })
        heard.push(host.handover?.maxTokens, host.redact('sk-1'), host.signal === made.notes.abort.signal)
      },
      null,
      {
        withdraw: (waitId) => void heard.push(waitId),
        handover: { maxTokens: 7, countTokens: () => 0 },
        noteHandover: ({ messages }) => void heard.push(messages),
        redact: () => '[key]',
      },
    )
    await take(made)
    assert.deepEqual(heard, ['w', 1, 7, '[key]', true])
  })

  it('passes on what is said to it, and is closed with it', async () => {
    const made = stage(() => undefined, told)
    assert.equal(await made.session.steer(aMessage('m1', 'Left.')), 'injected')
    assert.deepEqual(await made.session.cancel(), NOTHING)
    await made.session.close()
    assert.deepEqual(made.opened, [{ binding: told, isClosed: true }])
  })

  it('lets its host hear and say everything else', async () => {
    const process = { pid: 7, runTag: 'tag', startTime: '1', bootId: 'b' }
    const made = stage((_facts, _turn, host) => {
      assert.equal(host.signal, made.notes.host.signal)
      void host.noteProcess(process)
    })
    await take(made)
    assert.deepEqual(made.notes.processes, [process])
  })
})
