import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { holds, type Equal } from '../test/type-check.ts'
import type { HarnessMessageContent, SignalContent } from './harness-content.ts'
import { NO_TOKENS, toHarnessContent, toHarnessMessage, toTokenUsage } from './harness-message.ts'
import type { JsonObject } from './json.ts'
import { List } from './list.ts'
import type { MessageFields, Part, SignalKind, StoredMessage, ToolResultPart } from './message.ts'

const ref = { blob: 'abc', size: 100_000, mime: 'text/plain', preview: 'begin' }

function message(parts: readonly Part[], fields: Partial<MessageFields> = {}): StoredMessage {
  return { id: 'm1', role: 'assistant', order: 3, at: 1_000, state: 'done', ...fields, parts }
}

function contentOf(part: Part): HarnessMessageContent | undefined {
  return toHarnessContent(part)
}

function result(fields: Partial<ToolResultPart>): ToolResultPart {
  return { id: '0', type: 'tool-result', toolCallId: 'c1', toolName: 'bash', result: null, ...fields }
}

suite('the content of a harness message', () => {
  test('text stays text, reasoning becomes thinking', () => {
    assert.deepEqual(contentOf({ id: '0', type: 'text', text: 'Hi' }), { type: 'text', text: 'Hi' })
    assert.deepEqual(contentOf({ id: '0', type: 'text', text: 'Hi', state: 'open' }), { type: 'text', text: 'Hi' })
    assert.deepEqual(contentOf({ id: '0', type: 'reasoning', text: 'hm' }), { type: 'thinking', thinking: 'hm' })
  })

  test('a place held open for a later part is not shown', () => {
    assert.equal(contentOf({ id: '0', type: 'text', text: '', state: 'open' }), undefined)
  })

  test('a call is shown when its arguments are known', () => {
    const call = { id: '0', type: 'tool-call', toolCallId: 'c1', toolName: 'bash', call: { stage: 'ordered' } } as const
    assert.deepEqual(contentOf({ ...call, args: { command: 'ls' } }), {
      type: 'tool_call',
      id: 'c1',
      name: 'bash',
      args: { command: 'ls' },
    })
    assert.equal(contentOf({ ...call, args: {}, inputText: '{"com', state: 'open' }), undefined)
    assert.equal(contentOf({ ...call, args: {}, inputText: '{"com', state: 'interrupted' }), undefined)
  })

  test('a result is shown when it is there, with what the provider said about it', () => {
    assert.deepEqual(contentOf(result({ result: { n: 1 }, meta: { provider: { k: 'v' } } })), {
      type: 'tool_result',
      id: 'c1',
      name: 'bash',
      result: { n: 1 },
      isError: false,
      providerMetadata: { k: 'v' },
    })
    assert.equal(contentOf(result({ output: 'so far', state: 'open' })), undefined)
  })

  test('a failed result shows its error, one cut off what it had printed, a large one its beginning', () => {
    const shown = { type: 'tool_result', id: 'c1', name: 'bash', isError: true }
    const error = { name: 'Error', message: 'no such file' }
    assert.deepEqual(contentOf(result({ isError: true, error })), { ...shown, result: 'no such file' })
    assert.deepEqual(contentOf(result({ output: 'half', state: 'interrupted' })), { ...shown, result: 'half' })
    assert.deepEqual(contentOf(result({ resultRef: ref })), {
      ...shown,
      isError: false,
      result: 'begin',
      resultRef: ref,
    })
  })

  test('images and files keep their data, or where it is', () => {
    assert.deepEqual(contentOf({ id: '0', type: 'image', mimeType: 'image/png', data: 'AAAA', fileName: 'a.png' }), {
      type: 'image',
      data: 'AAAA',
      mimeType: 'image/png',
    })
    assert.deepEqual(contentOf({ id: '0', type: 'image', mimeType: 'image/png', data: '', ref }), {
      type: 'image',
      data: '',
      mimeType: 'image/png',
      ref,
    })
    assert.deepEqual(
      contentOf({ id: '0', type: 'file', mimeType: 'application/pdf', data: '', ref, fileName: 'a.pdf' }),
      { type: 'file', data: '', mediaType: 'application/pdf', filename: 'a.pdf', ref },
    )
  })
})

suite('signals', () => {
  const signal = (kind: SignalKind, data: JsonObject): HarnessMessageContent | undefined =>
    contentOf({ id: '0', type: 'signal', kind, text: 'said', data })

  const cases: { readonly [Kind in SignalKind]: [data: JsonObject, shown: Extract<SignalContent, { type: Kind }>] } = {
    system_reminder: [
      {
        reminderType: 'gap',
        path: '/a',
        precedesMessageId: 'm2',
        gapText: '1 h',
        gapMs: 3_600_000,
        timestamp: '2026-01-01T00:00:00Z',
        goalMaxTurns: 5,
        judgeModelId: 'a/b',
        goalEvaluation: { passed: true },
      },
      {
        type: 'system_reminder',
        message: 'said',
        reminderType: 'gap',
        path: '/a',
        precedesMessageId: 'm2',
        gapText: '1 h',
        gapMs: 3_600_000,
        timestamp: '2026-01-01T00:00:00Z',
        goalMaxTurns: 5,
        judgeModelId: 'a/b',
        goalEvaluation: { passed: true },
      },
    ],
    state_signal: [
      { id: 's1', stateId: 'tasks', mode: 'delta', cacheKey: 'k', version: 3 },
      { type: 'state_signal', message: 'said', id: 's1', stateId: 'tasks', mode: 'delta', cacheKey: 'k', version: 3 },
    ],
    reactive_signal: [
      { id: 's1', tagName: 'changed', attributes: { a: '1' }, metadata: { b: 2 } },
      {
        type: 'reactive_signal',
        message: 'said',
        id: 's1',
        tagName: 'changed',
        attributes: { a: '1' },
        metadata: { b: 2 },
      },
    ],
    notification: [
      { id: 's1', notificationId: 'n1', source: 'mail', kind: 'new', priority: 'urgent', status: 'seen' },
      {
        type: 'notification',
        message: 'said',
        id: 's1',
        notificationId: 'n1',
        source: 'mail',
        kind: 'new',
        priority: 'urgent',
        status: 'seen',
      },
    ],
    notification_summary: [
      { pending: 2, bySource: { mail: 2 }, byPriority: { low: 1, high: 1 }, notificationIds: ['n1', 'n2'] },
      {
        type: 'notification_summary',
        message: 'said',
        pending: 2,
        bySource: { mail: 2 },
        byPriority: { low: 1, high: 1 },
        notificationIds: ['n1', 'n2'],
      },
    ],
    om_observation_start: [
      { tokensToObserve: 7, operationType: 'reflection' },
      { type: 'om_observation_start', tokensToObserve: 7, operationType: 'reflection' },
    ],
    om_observation_end: [
      { tokensObserved: 7, observationTokens: 2, durationMs: 9, observations: 'o', currentTask: 't' },
      {
        type: 'om_observation_end',
        tokensObserved: 7,
        observationTokens: 2,
        durationMs: 9,
        observations: 'o',
        currentTask: 't',
      },
    ],
    om_observation_failed: [
      { error: 'why', tokensAttempted: 7 },
      { type: 'om_observation_failed', error: 'why', tokensAttempted: 7 },
    ],
    om_thread_title_updated: [
      { threadId: 't1', oldTitle: 'a', newTitle: 'b' },
      { type: 'om_thread_title_updated', threadId: 't1', oldTitle: 'a', newTitle: 'b' },
    ],
    compaction: [
      { messages: 7, tokensBefore: 900, tokensAfter: 80 },
      { type: 'compaction', messages: 7, tokensBefore: 900, tokensAfter: 80 },
    ],
  }

  for (const [kind, [data, shown]] of Object.entries(cases)) {
    test(`${kind} is shown as its own content type`, () => {
      assert.deepEqual(signal(kind as SignalKind, data), shown)
    })
  }

  test('show what was said, not the markup the model reads', () => {
    assert.deepEqual(signal('system_reminder', { message: 'a < b' }), { type: 'system_reminder', message: 'a < b' })
  })

  test('every kind of signal has a content type', () => {
    holds(true satisfies Equal<SignalContent['type'], SignalKind>)
  })

  test('data of the wrong kind is not believed', () => {
    assert.deepEqual(signal('state_signal', { stateId: 7, mode: 'other', version: '3', id: null }), {
      type: 'state_signal',
      message: 'said',
      stateId: '',
      mode: 'snapshot',
    })
    assert.deepEqual(signal('notification', { priority: 'shouting', status: 4, attributes: ['a'] }), {
      type: 'notification',
      message: 'said',
    })
    assert.deepEqual(signal('notification_summary', { pending: 'two', bySource: { a: 'x' }, notificationIds: [1] }), {
      type: 'notification_summary',
      message: 'said',
      pending: 0,
      bySource: {},
      byPriority: {},
      notificationIds: [],
    })
  })
})

suite('a harness message', () => {
  test('has the id, the time and the parts in order, from a live message and from a stored one', () => {
    const parts: Part[] = [
      { id: '0', type: 'reasoning', text: 'hm' },
      { id: '1', type: 'text', text: 'Hi' },
    ]
    const shown = {
      id: 'm1',
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'Hi' },
      ],
      createdAt: new Date(1_000),
      stopReason: 'complete',
    }
    assert.deepEqual(toHarnessMessage(message(parts)), shown)
    assert.deepEqual(toHarnessMessage({ ...message([]), parts: List.from(parts) }), shown)
  })

  test('a message with the role tool counts as a message of the agent that called', () => {
    const shown = toHarnessMessage(message([result({ result: 'x' })], { role: 'tool' }))
    assert.equal(shown.role, 'assistant')
    assert.equal(shown.stopReason, undefined)
  })

  test('shows the attributes its maker gave it', () => {
    const meta = { attributes: { channel: 'mail' } }
    assert.deepEqual(toHarnessMessage(message([], { role: 'user', meta })).attributes, { channel: 'mail' })
    assert.equal(toHarnessMessage(message([], { meta: { attributes: ['no'] } })).attributes, undefined)
  })

  const stops: [why: string, fields: Partial<MessageFields>, stopReason?: string, errorMessage?: string][] = [
    ['is open', { state: 'open' }],
    ['is a person’s', { role: 'user' }],
    ['ended', { finishReason: 'stop' }, 'complete'],
    ['ended for a reason of its own', { finishReason: 'other' }, 'complete'],
    ['ended without a reason', {}, 'complete'],
    ['called tools', { finishReason: 'tool-calls' }, 'tool_use'],
    ['was cut off', { state: 'interrupted' }, 'aborted'],
    ['was too long', { finishReason: 'length' }, 'error', 'The answer was cut off at the output limit of the model.'],
    ['was withheld', { finishReason: 'content-filter' }, 'error', 'The provider withheld the answer.'],
    ['failed', { finishReason: 'error' }, 'error', 'The model ended with an error.'],
    [
      'failed half-way',
      { state: 'interrupted', error: { name: 'Error', message: 'overloaded' } },
      'error',
      'overloaded',
    ],
  ]
  for (const [why, fields, stopReason, errorMessage] of stops) {
    test(`that ${why} has ${stopReason === undefined ? 'no stop reason' : `stop reason ${stopReason}`}`, () => {
      const shown = toHarnessMessage(message([], fields))
      assert.equal(shown.stopReason, stopReason)
      assert.equal(shown.errorMessage, errorMessage)
    })
  }
})

test('token usage takes the harness names; a total that was not reported is the sum', () => {
  assert.deepEqual(toTokenUsage({}), NO_TOKENS)
  assert.deepEqual(new Set(Object.values(NO_TOKENS)), new Set([0]))
  assert.deepEqual(
    toTokenUsage({
      inputTokens: 10,
      outputTokens: 2,
      reasoningTokens: 1,
      cachedInputTokens: 4,
      cacheWriteInputTokens: 3,
    }),
    {
      promptTokens: 17,
      completionTokens: 2,
      totalTokens: 19,
      reasoningTokens: 1,
      cachedInputTokens: 4,
      cacheCreationInputTokens: 3,
    },
  )
  assert.equal(toTokenUsage({ inputTokens: 10, totalTokens: 15 }).totalTokens, 15)
  assert.equal(toTokenUsage({ inputTokens: 1, cachedInputTokens: 9, totalTokens: 1 }).totalTokens, 10)
})
