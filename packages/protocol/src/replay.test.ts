import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { arbitraryLog, arbitraryRecordBody, withoutSealedBatches } from '@inspan/testing/arbitraries'
import fc from 'fast-check'
import type { AgentEvent } from './agent-event.ts'
import type { LogRecord, RecordBody } from './record.ts'
import { agentEventsOf, createReplay } from './replay.ts'

function record(body: RecordBody, seq = 1): LogRecord {
  return { v: 1, stream: 'main', seq, at: 0, body }
}

function eventsOf(body: RecordBody): readonly AgentEvent[] {
  return agentEventsOf(record(body))
}

const place = { messageId: 'm1', partId: '0' }

suite('what a record represents', () => {
  test('a turn begins with start and ends with finish', () => {
    assert.deepEqual(eventsOf({ type: 'turn.started', turnId: 't', agentId: 'a' }), [{ type: 'start' }])
    assert.deepEqual(
      eventsOf({
        type: 'turn.ended',
        turnId: 't',
        finishReason: 'stop',
        outcome: 'complete',
        usage: { inputTokens: 1 },
        increment: { source: 'reported', scope: 'own' },
      }),
      [{ type: 'finish', finishReason: 'stop', usage: { inputTokens: 1 } }],
    )
  })

  test('a step reports its tokens, without what we count in addition', () => {
    assert.deepEqual(eventsOf({ type: 'step.started', stepIndex: 1, attempt: 2 }), [
      { type: 'step-start', stepIndex: 1 },
    ])
    assert.deepEqual(
      eventsOf({
        type: 'step.ended',
        stepIndex: 1,
        finishReason: 'stop',
        usage: { inputTokens: 3, source: 'reported', scope: 'own', costUsd: 1, uncounted: true },
      }),
      [{ type: 'step-finish', stepIndex: 1, finishReason: 'stop', usage: { inputTokens: 3 } }],
    )
  })

  test('a failed attempt ends its step and is no error of the turn', () => {
    const error = { name: 'Error', message: 'cut off' }
    assert.deepEqual(eventsOf({ type: 'step.ended', stepIndex: 0, finishReason: 'error', error }), [
      { type: 'step-finish', stepIndex: 0, finishReason: 'error' },
    ])
  })

  test('the approval of a tool is asked for; other waits are not the agent’s', () => {
    const wait = { id: 'w1', kind: 'approval', description: 'rm', subject: {} } as const
    const subject = { toolCallId: 'c1', toolName: 'rm', args: { path: 'a' }, hash: 'h' }
    assert.deepEqual(eventsOf({ type: 'wait.opened', wait: { ...wait, subject }, call: place }), [
      {
        type: 'tool-approval-request',
        toolCall: { toolCallId: 'c1', toolName: 'rm', args: { path: 'a' } },
        messageId: 'm1',
        partId: '0',
      },
    ])
    for (const kind of ['question', 'plan', 'access', 'tool'] as const) {
      assert.deepEqual(eventsOf({ type: 'wait.opened', wait: { ...wait, subject, kind } }), [])
    }
    assert.deepEqual(eventsOf({ type: 'wait.opened', wait }), [])
    assert.deepEqual(eventsOf({ type: 'wait.opened', wait: { ...wait, subject }, answered: true }), [])
  })

  test('sealed parts, batches and errors are what their type names', () => {
    const said: (RecordBody & AgentEvent)[] = [
      { type: 'text-delta', ...place, text: 'all of it' },
      { type: 'reasoning-delta', ...place, text: 'hm' },
      { type: 'file', ...place, mimeType: 'image/png', data: 'AAAA' },
      { type: 'file', ...place, mimeType: 'image/png', data: '', ref: { blob: 'h', size: 60_000, mime: 'image/png' } },
      { type: 'tool-call', ...place, toolCallId: 'c', toolName: 't', args: {} },
      { type: 'error', error: { name: 'Error', message: 'x' } },
    ]
    for (const body of said) assert.deepEqual(eventsOf(body), [body])
    const event = { type: 'tool-progress', ...place, toolCallId: 'c', toolName: 't', output: 'x' } as const
    assert.deepEqual(eventsOf({ type: 'batch', event }), [event])
  })

  test('a result is shown without what the record adds; a large one by its beginning', () => {
    const body = {
      type: 'tool-result',
      ...place,
      toolCallId: 'c',
      toolName: 't',
      result: null,
      resultRef: { blob: 'b', size: 1, mime: 'text/plain', preview: 'begin' },
      call: place,
      outcome: 'ok',
    } as const
    assert.deepEqual(eventsOf(body), [
      { type: 'tool-result', ...place, toolCallId: 'c', toolName: 't', result: 'begin' },
    ])
  })

  test('everything else belongs to the control layer and represents nothing that an agent did', () => {
    const spoken = new Set<string>([
      'turn.started',
      'turn.ended',
      'step.started',
      'step.ended',
      'wait.opened',
      'batch',
      'text-delta',
      'reasoning-delta',
      'file',
      'tool-call',
      'tool-result',
      'error',
    ])
    fc.assert(
      fc.property(arbitraryRecordBody, (body) => {
        if (!spoken.has(body.type)) assert.deepEqual(eventsOf(body), [])
      }),
    )
  })
})

suite('following a log', () => {
  /** The text of every part that has one, joined from the events. */
  function textsOf(events: readonly AgentEvent[]): Map<string, string> {
    const texts = new Map<string, string>()
    for (const event of events) {
      if ((event.type !== 'text-delta' && event.type !== 'reasoning-delta') || event.text === '') continue
      const key = `${event.type} ${event.messageId}/${event.partId}`
      texts.set(key, (texts.get(key) ?? '') + event.text)
    }
    return texts
  }

  test('gives the rest of a text when some of its batches were seen, and nothing when all were', () => {
    const next = createReplay()
    const batch = (text: string): RecordBody => ({ type: 'batch', event: { type: 'text-delta', ...place, text } })
    const seal: RecordBody = { type: 'text-delta', ...place, text: 'one two three' }
    assert.deepEqual(textsOf(next(record(batch('one '), 1))), new Map([['text-delta m1/0', 'one ']]))
    assert.deepEqual(next(record(seal, 4)), [{ ...seal, text: 'two three' }])
    next(record(batch('one two'), 5))
    next(record(batch(' three'), 6))
    assert.deepEqual(next(record(seal, 7)), [])
    next(record(batch('one two '), 8))
    assert.deepEqual(next(record(seal, 9)), [{ ...seal, text: 'three' }])
  })

  test('takes nothing back when the sealed text was redacted', () => {
    const next = createReplay()
    next(record({ type: 'batch', event: { type: 'text-delta', ...place, text: 'key sk-1' } }))
    assert.deepEqual(next(record({ type: 'text-delta', ...place, text: 'key [redacted] is it' })), [])
  })

  test('the texts are the same however much of the log was read before its parts were sealed', () => {
    fc.assert(
      fc.property(arbitraryLog({ maxMoves: 40, closed: true }), fc.nat(), (live, cut) => {
        const stored = withoutSealedBatches(live)
        const read = (records: readonly LogRecord[]): Map<string, string> => textsOf(records.flatMap(createReplay()))
        const seen = live.slice(0, live.length === 0 ? 0 : cut % live.length)
        const reachedTo = seen.at(-1)?.seq ?? 0
        const fromStore = read(stored)
        const followed = read([...seen, ...stored.filter((later) => later.seq > reachedTo)])
        for (const [part, text] of fromStore) {
          if (text !== '[redacted]') assert.equal(followed.get(part), text)
        }
        for (const part of followed.keys()) assert(fromStore.has(part))
        assert.deepEqual(textsOf(stored.flatMap(agentEventsOf)), fromStore)
      }),
    )
  })
})
