import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject, JsonValue } from '@inspan/protocol'
import { mapRun, unstamped, type MappedRun, type RunOptions } from '../../test/support.ts'
import { piDialect } from './mapper.ts'

interface Mapped extends Omit<MappedRun, 'activity'> {
  readonly activity: readonly object[]
}

function map(lines: readonly unknown[], options?: RunOptions): Mapped {
  const mapped = mapRun(piDialect, lines, options)
  return { ...mapped, activity: unstamped(mapped.activity) }
}

const SESSION: JsonObject = { type: 'session', version: 3, id: 'pi-1', timestamp: 'now', cwd: '/repo' }
const USAGE = {
  input: 800,
  output: 50,
  cacheRead: 150,
  cacheWrite: 50,
  reasoning: 10,
  totalTokens: 1050,
  cost: { total: 0.25 },
}

const text = (value: string): JsonObject => ({ type: 'text', text: value })
const assistant = (content: JsonValue, more: JsonObject = {}): JsonObject => ({
  role: 'assistant',
  content,
  stopReason: 'stop',
  usage: USAGE,
  ...more,
})
const ended = (message: JsonObject): JsonObject => ({ type: 'message_end', message })
const delta = (type: string, contentIndex: number, value: string): JsonObject => ({
  type: 'message_update',
  usage: USAGE,
  assistantMessageEvent: { type, contentIndex, delta: value },
})
/** A step as Pi reports it. */
const turn = (message: JsonObject): readonly JsonObject[] => [
  { type: 'turn_start' },
  { type: 'message_start', message: { ...message, content: [], stopReason: 'pending' } },
  ended(message),
  { type: 'turn_end', message, toolResults: [] },
]
const run = (willRetry: boolean, ...records: readonly JsonObject[]): readonly JsonObject[] => [
  { type: 'agent_start' },
  ...records,
  { type: 'agent_end', messages: [], willRetry },
]
const SETTLED: JsonObject = { type: 'agent_settled' }
const failing = (errorMessage: string, content: JsonValue = []): JsonObject =>
  assistant(content, { stopReason: 'error', errorMessage, usage: { ...USAGE, input: 0, output: 0 } })

function endOf(events: MappedRun['events']): string | undefined {
  const last = events.at(-1)
  return last?.type === 'finish' ? last.finishReason : undefined
}

describe('Pi: texts', () => {
  it('an assistant’s message is an agent message, its content a string or a list of parts', () => {
    const { activity } = map([
      ended(assistant('Plain.')),
      ended(assistant([text('One.')])),
      ended(assistant([text('One.'), text('Two.')])),
    ])
    assert.deepEqual(activity, [
      { type: 'agent', message: 'Plain.' },
      { type: 'agent', message: 'One.' },
      { type: 'agent', message: 'One.\nTwo.' },
    ])
  })

  it('messages of others are ignored', () => {
    const { activity, sums } = map([
      ended({ role: 'user', content: [text('Do it.')] }),
      ended({ role: 'system', content: '', sections: {} }),
      ended({ role: 'toolResult', toolCallId: 'c', toolName: 'bash', content: [text('x')], isError: false }),
      ended({ role: 'custom', content: 'From an extension.' }),
    ])
    assert.deepEqual(activity, [])
    assert.deepEqual(sums.reasons, { 'not-the-agent': 3, 'repeats-result': 1 })
  })

  it('a message that only calls or only thinks has no text', () => {
    const { activity, events, sums } = map([
      ended(assistant([{ type: 'toolCall', id: 'c', name: 'bash', arguments: { command: 'ls' } }])),
      ended(assistant([{ type: 'thinking', thinking: 'Hm.', thinkingSignature: 's' }])),
      ended(assistant([])),
    ])
    assert.deepEqual(activity, [])
    assert.deepEqual(sums.reasons, { 'announces-call': 1, reasoning: 1, 'empty-text': 1 })
    assert.equal(events.find((event) => event.type === 'reasoning-delta')?.text, 'Hm.')
  })

  it('text that was streamed as deltas is not repeated, and is one message', () => {
    const { activity, events } = map([
      { type: 'message_start', message: assistant([]) },
      delta('thinking_delta', 0, 'Hm.'),
      delta('text_delta', 1, 'Hel'),
      delta('text_delta', 1, 'lo.'),
      ended(assistant([{ type: 'thinking', thinking: 'Hm.' }, text('Hello.')])),
    ])
    assert.deepEqual(activity, [{ type: 'agent', message: 'Hello.' }])
    const said = events.flatMap((event) => (event.type === 'text-delta' ? [[event.partId, event.text]] : []))
    assert.deepEqual(said, [
      ['1.1', 'Hel'],
      ['1.1', 'lo.'],
      ['1.1', ''],
    ])
    const thought = events.flatMap((event) => (event.type === 'reasoning-delta' ? [event.text] : []))
    assert.equal(thought.join(''), 'Hm.')
  })

  it('two texts of one message are one agent message, also when they came as deltas', () => {
    const { activity, events } = map([
      { type: 'message_start', message: assistant([]) },
      delta('text_delta', 0, 'One.'),
      delta('text_delta', 1, 'Tw'),
      ended(assistant([text('One.'), text('Two.')])),
    ])
    assert.deepEqual(activity, [{ type: 'agent', message: 'One.\nTwo.' }])
    const said = events.flatMap((event) => (event.type === 'text-delta' ? [[event.partId, event.text]] : []))
    assert.deepEqual(said, [
      ['1.0', 'One.'],
      ['1.1', 'Tw'],
      ['1.0', ''],
      ['1.1', 'o.'],
    ])
  })

  it('the texts of two messages are two texts', () => {
    const { events } = map([ended(assistant('One.')), ended(assistant('Two.'))])
    const parts = events.flatMap((event) => (event.type === 'text-delta' ? [event.partId] : []))
    assert.equal(new Set(parts).size, 2)
  })

  it('half a message is the agent’s when the run is stopped in the middle of it', () => {
    const { activity, events } = map(
      [{ type: 'turn_start' }, { type: 'message_start', message: assistant([]) }, delta('text_delta', 0, 'Once up')],
      { end: { exitCode: 143, aborted: true } },
    )
    assert.deepEqual(activity, [{ type: 'agent', message: 'Once up' }])
    assert.equal(events.findLast((event) => event.type === 'text-delta')?.meta?.interrupted, true)
  })

  it('escapes stay in the text and not in the message that people read', () => {
    const { activity } = map([ended(assistant('\u001b[1mbold\u001b[0m'))])
    assert.deepEqual(activity, [{ type: 'agent', message: 'bold' }])
  })
})

describe('Pi: sessions, steps and usage', () => {
  it('the session record names session and directory', () => {
    const { mapper, events, sums } = map([SESSION, ...run(false, ...turn(assistant('Hi.'))), SETTLED])
    assert.equal(mapper.sessionId, 'pi-1')
    assert.deepEqual(events[0], { type: 'start', native: { sessionId: 'pi-1' } })
    assert.deepEqual(events.at(-1)?.native, { sessionId: 'pi-1' })
    assert.deepEqual(sums.reasons, { lifecycle: 4, step: 2, partial: 1 })
  })

  it('in rpc mode the answers to commands name the session', () => {
    const { mapper, activity } = map([
      { id: '1', type: 'response', command: 'get_state', success: true, data: { sessionId: 'pi-2' } },
      { id: '2', type: 'response', command: 'steer', success: false, error: 'Nothing runs.' },
    ])
    assert.equal(mapper.sessionId, 'pi-2')
    assert.deepEqual(activity, [{ type: 'warning', message: 'Nothing runs.', code: 'steer' }])
  })

  it('a second session is reported once', () => {
    const { activity, mapper } = map([SESSION, { ...SESSION, id: 'pi-3' }, { ...SESSION, id: 'pi-4' }])
    assert.equal(mapper.sessionId, 'pi-1')
    assert.deepEqual(activity, [
      {
        type: 'warning',
        message: 'The session changed from pi-1 to pi-3; events stay with the first.',
        code: 'session-changed',
      },
    ])
  })

  it('each message counts for itself; the turn’s usage is their sum, and deltas count nothing', () => {
    const { events } = map([
      SESSION,
      ...run(
        false,
        ...turn(assistant('One.', { stopReason: 'toolUse' })),
        delta('text_delta', 0, ''),
        ...turn(assistant('Two.')),
      ),
      SETTLED,
    ])
    const steps = events.filter((event) => event.type === 'step-finish')
    assert.deepEqual(
      steps.map((step) => [step.finishReason, step.usage?.inputTokens, step.usage?.outputTokens]),
      [
        ['tool-calls', 800, 50],
        ['stop', 800, 50],
      ],
    )
    assert.deepEqual(events.find((event) => event.type === 'finish')?.usage, {
      inputTokens: 1600,
      outputTokens: 100,
      totalTokens: 2100,
      reasoningTokens: 20,
      cachedInputTokens: 300,
      cacheWriteInputTokens: 100,
      costUsd: 0.5,
      source: 'reported',
      scope: 'own',
    })
  })

  it('usage that appears only at the end of the step counts too', () => {
    const { usage: _usage, ...unmeasured } = assistant('Hi.')
    const { events } = map([
      { type: 'turn_start' },
      ended(unmeasured),
      { type: 'turn_end', message: assistant('Hi.'), toolResults: [] },
    ])
    assert.equal(events.find((event) => event.type === 'finish')?.usage?.inputTokens, 800)
  })

  it('impossible numbers are ignored and reported', () => {
    const usage = { input: -5, output: 1e300, cacheRead: null, totalTokens: '9' }
    const { activity } = map([ended(assistant('Hi.', { usage }))])
    const codes = activity.map((event) => ('code' in event ? event.code : undefined))
    assert.deepEqual(new Set(codes), new Set(['usage-out-of-range', undefined]))
  })
})

describe('Pi: failures, all with exit code 0', () => {
  it('a message that ended in an error is the error of the run', () => {
    const { activity, events, sums } = map([
      SESSION,
      ...run(false, ...turn(failing('401: {"message":"No key."}'))),
      SETTLED,
    ])
    assert.deepEqual(activity, [{ type: 'error', message: '401: {"message":"No key."}' }])
    assert.equal(endOf(events), 'error')
    assert.deepEqual([sums.events + sums.consumed, sums.waiting], [8, 0])
  })

  it('a retry is a warning, and a run that recovers has not failed', () => {
    const retry = { type: 'auto_retry_start', attempt: 1, maxAttempts: 3, delayMs: 2000, errorMessage: '500: busy' }
    const { activity, events, sums } = map([
      SESSION,
      ...run(true, ...turn(failing('500: busy'))),
      retry,
      { type: 'entry_appended', entry: { type: 'context_edit' } },
      ...run(false, ...turn(assistant('Now.'))),
      { type: 'auto_retry_end', success: true, attempt: 1 },
      SETTLED,
    ])
    assert.deepEqual(activity, [
      { type: 'warning', message: 'Retry 1 of 3: 500: busy', code: 'auto_retry' },
      { type: 'agent', message: 'Now.' },
    ])
    assert.equal(endOf(events), 'stop')
    assert.deepEqual([sums.events + sums.consumed, sums.waiting], [17, 0])
  })

  it('a run that gives up after its retries has one error', () => {
    const retry = { type: 'auto_retry_start', attempt: 1, maxAttempts: 1, delayMs: 2000, errorMessage: '500: busy' }
    const { activity } = map([
      ...run(true, ...turn(failing('500: busy'))),
      retry,
      ...run(false, ...turn(failing('500: busy'))),
      { type: 'auto_retry_end', success: false, attempt: 1, finalError: '500: busy' },
      SETTLED,
    ])
    assert.deepEqual(activity, [
      { type: 'warning', message: 'Retry 1 of 1: 500: busy', code: 'auto_retry' },
      { type: 'error', message: '500: busy' },
    ])
  })

  it('versions that do not report whether they retry, and when they have settled, are understood', () => {
    const retry = { type: 'auto_retry_start', attempt: 1, maxAttempts: 3, delayMs: 1, errorMessage: 'overloaded' }
    const { activity, events } = map([
      { type: 'agent_start' },
      ...turn(failing('overloaded')),
      { type: 'agent_end', messages: [] },
      retry,
      { type: 'agent_start' },
      ...turn(failing('401')),
      { type: 'agent_end', messages: [] },
    ])
    assert.deepEqual(activity, [
      { type: 'warning', message: 'Retry 1 of 3: overloaded', code: 'auto_retry' },
      { type: 'error', message: '401' },
    ])
    assert.equal(endOf(events), 'error')
  })

  it('an error after which the agent continues by itself ends nothing', () => {
    const { activity, events } = map([
      ...run(false, ...turn(failing('400: too long'))),
      { type: 'compaction_start', reason: 'overflow' },
      { type: 'compaction_end', reason: 'overflow', result: { summary: 'Before.' }, aborted: false, willRetry: true },
      ...run(false, ...turn(assistant('Shorter.'))),
      SETTLED,
    ])
    assert.deepEqual(activity, [
      { type: 'error', message: '400: too long' },
      { type: 'agent', message: 'Shorter.' },
    ])
    assert.ok(events.every((event) => event.type !== 'error'))
    assert.equal(endOf(events), 'stop')
  })

  it('the partial text of a cut stream is the agent’s', () => {
    const { activity, events } = map([...run(false, ...turn(failing('terminated', [text('This is ha')]))), SETTLED])
    assert.deepEqual(activity, [
      { type: 'agent', message: 'This is ha' },
      { type: 'error', message: 'terminated' },
    ])
    assert.equal(events.find((event) => event.type === 'text-delta')?.meta?.interrupted, true)
  })

  it('an answer cut off at the output limit is reported by a warning, and one that was aborted by an error', () => {
    const cut = map([...run(false, ...turn(assistant('Once', { stopReason: 'length' }))), SETTLED])
    assert.deepEqual(cut.activity, [
      { type: 'agent', message: 'Once' },
      { type: 'warning', message: 'The answer was cut off at the output limit.', code: 'output-limit' },
    ])
    const aborted = map([...run(false, ...turn(assistant([], { stopReason: 'aborted' }))), SETTLED])
    assert.deepEqual(aborted.activity, [{ type: 'error', message: 'The model call was aborted.', code: 'aborted' }])
  })

  it('a failure of one prompt does not fail the next', () => {
    const { activity, events } = map(
      [
        ...run(false, ...turn(failing('401'))),
        SETTLED,
        ...run(false, ...turn(assistant('Fine.'))),
        SETTLED,
        ...run(false, ...turn(failing('402'))),
        SETTLED,
      ],
      { finish: 'at-turn-end' },
    )
    assert.deepEqual(activity, [
      { type: 'error', message: '401' },
      { type: 'agent', message: 'Fine.' },
      { type: 'error', message: '402' },
    ])
    const reasons = events.flatMap((event) => (event.type === 'finish' ? [event.finishReason] : []))
    assert.deepEqual(reasons, ['error', 'stop', 'error'])
  })

  it('trouble with summaries and extensions is reported and ends nothing', () => {
    const { activity, events } = map([
      { type: 'summarization_retry_scheduled', attempt: 1, maxAttempts: 2, delayMs: 5, errorMessage: 'busy' },
      { type: 'compaction_end', reason: 'threshold', aborted: false, willRetry: false, errorMessage: 'No summary.' },
      { type: 'extension_error', extensionPath: '/x.ts', event: 'tool_call', error: 'It threw.' },
    ])
    assert.deepEqual(activity, [
      { type: 'warning', message: 'Retry 1 of 2: busy', code: 'summarization_retry' },
      { type: 'warning', message: 'No summary.', code: 'compaction_end' },
      { type: 'error', message: 'It threw.' },
    ])
    assert.equal(endOf(events), 'stop')
  })

  it('a program that does not start fails with its standard error', () => {
    const { activity } = map([SESSION], { stderr: ['No API key found.'], end: { exitCode: 1 } })
    assert.deepEqual(activity, [
      { type: 'warning', message: 'No API key found.' },
      { type: 'error', message: 'pi exited with code 1: No API key found.', code: 'exit-1' },
    ])
  })

  it('a run that was killed fails once, with what it had reported', () => {
    const { activity } = map([...run(true, ...turn(failing('500: busy')))], {
      end: { exitCode: null, signal: 'SIGKILL' },
    })
    assert.deepEqual(activity, [{ type: 'error', message: '500: busy' }])
  })
})

describe('Pi: other records', () => {
  it('lifecycle and partial records are consumed', () => {
    const types = ['agent_end', 'compaction_start', 'auto_compaction_start', 'entry_appended', 'queue_update']
    const more = ['session_info_changed', 'thinking_level_changed', 'summarization_retry_attempt_start']
    const all = [...types, ...more, 'summarization_retry_finished', 'compaction_end', 'auto_compaction_end']
    const partial = ['tool_execution_update', 'bash_execution_update'].map((type) => ({ type }))
    const { activity, sums } = map([...all.map((type) => ({ type })), ...partial])
    assert.deepEqual(activity, [])
    assert.deepEqual(sums.reasons, { lifecycle: all.length, partial: 2 })
  })

  it('others, and those that lack what they need, are unknown, whole', () => {
    const odd: readonly JsonObject[] = [
      { type: 'model_changed', model: 'x' },
      { type: 'message_end' },
      { type: 'message_start', message: 'x' },
      { type: 'message_update' },
      { type: 'tool_execution_start', toolCallId: 'c' },
      { type: 7 },
    ]
    const { activity, sums } = map(odd)
    assert.deepEqual(
      activity,
      odd.map((raw) => ({ type: 'unknown', raw })),
    )
    assert.deepEqual([sums.events + sums.consumed, sums.waiting], [odd.length, 0])
  })

  it('an unknown part is reported as unknown, and known parts are still read', () => {
    const image = { type: 'image', data: 'aGk=' }
    const { activity } = map([ended(assistant([text('See:'), image])), ended(assistant(7))])
    assert.deepEqual(activity, [
      { type: 'unknown', raw: image },
      { type: 'agent', message: 'See:' },
      { type: 'unknown', raw: assistant(7) },
    ])
  })
})
