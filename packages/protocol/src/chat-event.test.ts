import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { arbitraryAgentEvent } from '@inspan/testing/arbitraries'
import fc from 'fast-check'
import { holds, type Equal } from '../test/type-check.ts'
import type { AgentEvent, AgentEventType, EventExtras } from './agent-event.ts'
import { toChatEvent, type ChatEvent, type ChatEventType } from './chat-event.ts'
import type { ErrorData } from './error-data.ts'

const extras: EventExtras = {
  partId: '0',
  messageId: 'm1',
  parentToolCallId: 'p1',
  native: { itemId: 'i' },
  activity: { mapper: 'm', version: 1, events: [] },
  meta: { synthetic: true },
}
const origin = { annotations: { readOnlyHint: true }, serverName: 'files' }
const call = { toolCallId: 'c1', toolName: 'read', args: { path: 'a' } }
const usage = { inputTokens: 1 }

/** By type: an agent event and the chat event it becomes. Errors are compared separately. */
const cases: { readonly [Type in Exclude<AgentEventType, 'error' | 'file'>]: [AgentEvent, ChatEvent] } = {
  start: [{ type: 'start' }, { type: 'start' }],
  'text-delta': [
    { type: 'text-delta', text: 'a' },
    { type: 'text-delta', text: 'a' },
  ],
  'reasoning-delta': [
    { type: 'reasoning-delta', text: 'a' },
    { type: 'reasoning-delta', text: 'a' },
  ],
  'tool-call': [
    { type: 'tool-call', ...call, ...origin },
    { type: 'tool-call', ...call, ...origin },
  ],
  'tool-call-delta': [
    { type: 'tool-call-delta', toolCallId: 'c1', toolName: 'read', argsTextDelta: '{' },
    { type: 'tool-call-delta', toolCallId: 'c1', toolName: 'read', argsTextDelta: '{' },
  ],
  'tool-approval-request': [
    { type: 'tool-approval-request', toolCall: call, ...origin },
    { type: 'tool-approval-request', toolCall: call, ...origin },
  ],
  'tool-result': [
    { type: 'tool-result', toolCallId: 'c1', toolName: 'read', result: 'x', isError: false, ...origin },
    { type: 'tool-result', toolCallId: 'c1', toolName: 'read', result: 'x', isError: false, ...origin },
  ],
  'tool-progress': [
    { type: 'tool-progress', toolCallId: 'c1', toolName: 'read', output: 'x' },
    { type: 'tool-progress', toolCallId: 'c1', toolName: 'read', output: 'x', parentToolCallId: 'p1' },
  ],
  'step-start': [
    { type: 'step-start', stepIndex: 2 },
    { type: 'step-start', stepIndex: 2 },
  ],
  'step-finish': [
    { type: 'step-finish', stepIndex: 2, finishReason: 'tool-calls', usage },
    { type: 'step-finish', stepIndex: 2, finishReason: 'tool-calls', usage },
  ],
  finish: [
    { type: 'finish', finishReason: 'stop', usage },
    { type: 'finish', finishReason: 'stop', usage },
  ],
}

suite('a chat event', () => {
  for (const [type, [said, shown]] of Object.entries(cases)) {
    test(`${type} carries its public fields and nothing of ours`, () => {
      assert.deepEqual(toChatEvent({ ...said, ...extras }), shown)
    })
  }

  test('has a real error where an agent event has data', () => {
    const data = { name: 'RangeError', message: 'too far', code: 'E_FAR', cause: { name: 'Error', message: 'why' } }
    const shown = toChatEvent({ type: 'error', error: data, ...extras })
    assert(shown.type === 'error' && shown.error instanceof Error)
    assert.equal(shown.error.message, 'too far')
    assert.equal(shown.code, 'E_FAR')
    assert(shown.error.cause instanceof Error)
    assert.deepEqual(Object.keys(shown).sort(), ['code', 'error', 'type'])

    const named = toChatEvent({ type: 'error', error: data, code: 'rate-limited' })
    assert(named.type === 'error')
    assert.equal(named.code, 'rate-limited')

    const failed = toChatEvent({ type: 'tool-result', toolCallId: 'c', toolName: 't', result: 1, error: data })
    assert(failed.type === 'tool-result' && failed.error instanceof Error)
  })

  test('can be made of any agent event except a file, without our fields', () => {
    const ours = ['partId', 'messageId', 'native', 'activity', 'meta']
    fc.assert(
      fc.property(arbitraryAgentEvent, (event) => {
        const shown = toChatEvent(event)
        if (event.type === 'file') return assert.equal(shown, undefined)
        assert(shown !== undefined)
        assert.equal(shown.type, event.type)
        for (const key of ours) assert.equal(key in shown, false)
      }),
    )
  })

  test('exists for every agent event but a file, with the same fields', () => {
    holds(true satisfies Equal<ChatEventType, Exclude<AgentEventType, 'file'>>)
    /** The fields of each variant, without our own and without those that hold an error as data. */
    type Fields<Event extends { type: string }> = {
      [Type in Event['type']]: Exclude<keyof Extract<Event, { type: Type }>, keyof EventExtras>
    }
    holds(true satisfies Equal<Fields<ChatEvent>, Fields<Exclude<AgentEvent, { type: 'file' }>>>)
    holds(true satisfies Equal<Extract<ChatEvent, { type: 'error' }>['error'], Error>)
    holds(true satisfies Equal<Extract<AgentEvent, { type: 'error' }>['error'], ErrorData>)
  })
})
