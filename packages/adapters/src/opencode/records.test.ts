import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@inspan/protocol'
import { mapRun, unstamped, type MappedRun, type RunOptions } from '../../test/support.ts'
import { opencodeDialect } from './mapper.ts'

interface Mapped extends Omit<MappedRun, 'activity'> {
  readonly activity: readonly object[]
}

function map(lines: readonly unknown[], options?: RunOptions): Mapped {
  const mapped = mapRun(opencodeDialect, lines, options)
  return { ...mapped, activity: unstamped(mapped.activity) }
}

const SESSION = 'ses_1'

function record(type: string, part: JsonObject): JsonObject {
  return { type, timestamp: 1, sessionID: SESSION, part: { sessionID: SESSION, messageID: 'msg_1', ...part } }
}

const stepStart = (id = 'prt_start'): JsonObject => record('step_start', { id, type: 'step-start' })
const said = (text: string, more: JsonObject = {}): JsonObject =>
  record('text', { id: `prt_${text}`, type: 'text', text, ...more })
const stepFinish = (reason: string, more: JsonObject = {}): JsonObject =>
  record('step_finish', { id: 'prt_finish', type: 'step-finish', reason, ...more })
const used = (tool: string, state: JsonObject, more: JsonObject = {}): JsonObject =>
  record('tool_use', { id: 'prt_tool', type: 'tool', tool, callID: 'call_1', state, ...more })
const failed = (error: JsonObject | string): JsonObject => ({ type: 'error', timestamp: 1, sessionID: SESSION, error })
const apiError = (message: string): JsonObject => failed({ name: 'APIError', data: { message, statusCode: 401 } })

function endOf(events: MappedRun['events']): string | undefined {
  const last = events.at(-1)
  return last?.type === 'finish' ? last.finishReason : undefined
}

describe('OpenCode: texts', () => {
  it('a text is an agent message', () => {
    const { activity } = map([stepStart(), said('Hello.'), stepFinish('stop')])
    assert.deepEqual(activity, [{ type: 'agent', message: 'Hello.' }])
  })

  it('steps are consumed, and become steps with the message they belong to', () => {
    const { events, sums } = map([stepStart(), said('Hello.'), stepFinish('stop')])
    assert.deepEqual(
      events.map((event) => event.type),
      ['start', 'step-start', 'text-delta', 'step-finish', 'finish'],
    )
    assert.deepEqual(events[1]?.native, { sessionId: SESSION, messageId: 'msg_1', itemId: 'prt_start' })
    assert.deepEqual(events.at(-1)?.native, { sessionId: SESSION, messageId: 'msg_1', itemId: 'prt_finish' })
    assert.deepEqual(sums.reasons, { step: 2 })
  })

  it('text that the program itself inserts is not the agent’s answer', () => {
    const { activity, sums } = map([said('Continue.', { synthetic: true }), said('Remembered.', { ignored: true })])
    assert.deepEqual(activity, [])
    assert.deepEqual(sums.reasons, { synthetic: 2 })
  })

  it('reasoning is no activity, and is kept as reasoning', () => {
    const { activity, events, sums } = map([record('reasoning', { id: 'r', text: 'Hm.' })])
    assert.deepEqual(activity, [])
    assert.deepEqual(sums.reasons, { reasoning: 1 })
    assert.equal(events.find((event) => event.type === 'reasoning-delta')?.text, 'Hm.')
  })

  it('the text of another session is a subagent’s', () => {
    const { activity, events } = map([said('Mine.'), said('Its.', { sessionID: 'ses_child' })])
    assert.deepEqual(activity, [{ type: 'agent', message: 'Mine.' }])
    assert.equal(events.findLast((event) => event.type === 'text-delta')?.parentToolCallId, 'ses_child')
  })

  it('escapes stay in the text and not in the message that people read', () => {
    const text = '\u001b[31mred\u001b[0m \u001b]8;;https://a.example\u0007link\u001b]8;;\u0007'
    const { activity, events } = map([said(text)])
    assert.deepEqual(activity, [{ type: 'agent', message: 'red link' }])
    assert.equal(events.find((event) => event.type === 'text-delta')?.text, text)
  })
})

describe('OpenCode: sessions', () => {
  it('every record names the session', () => {
    const { mapper, events } = map([said('Hi.')])
    assert.equal(mapper.sessionId, SESSION)
    assert.deepEqual(events[0], { type: 'start', native: { sessionId: SESSION } })
    assert.equal(events[1]?.activity?.events[0]?.sessionId, SESSION)
  })

  it('a session that changes is reported once, and the agent’s text stays the agent’s', () => {
    const other = { ...said('There.', { sessionID: 'ses_2' }), sessionID: 'ses_2' }
    const { activity, mapper } = map([said('Here.'), other, other])
    assert.equal(mapper.sessionId, SESSION)
    assert.deepEqual(
      activity.map((event) => ('message' in event ? event.message : '')),
      ['Here.', `The session changed from ${SESSION} to ses_2; events stay with the first.`, 'There.', 'There.'],
    )
  })

  it('a subagent’s call with the id of one of the agent’s is another call', () => {
    const state = { status: 'completed', input: { pattern: 'x' }, metadata: {} }
    const { activity, events } = map([
      used('grep', { ...state, status: 'running' }),
      used('grep', { ...state, input: { pattern: 'y' } }, { sessionID: 'ses_child' }),
      used('grep', state),
    ])
    assert.deepEqual(activity, [
      { type: 'search', query: 'y', isSuccess: true },
      { type: 'search', query: 'x', isSuccess: true },
    ])
    const ids = events.flatMap((event) => (event.type === 'tool-result' ? [event.toolCallId] : []))
    assert.deepEqual(ids, ['call_1#2', 'call_1'])
  })
})

describe('OpenCode: usage', () => {
  const tokens = { total: 1060, input: 800, output: 50, reasoning: 10, cache: { read: 150, write: 50 } }

  it('each step counts for itself, each token in one class, reasoning as a part of the output', () => {
    const { events } = map([stepStart(), stepFinish('tool-calls', { tokens, cost: 0.25 })])
    const step = {
      inputTokens: 800,
      outputTokens: 60,
      totalTokens: 1060,
      reasoningTokens: 10,
      cachedInputTokens: 150,
      cacheWriteInputTokens: 50,
      costUsd: 0.25,
      source: 'reported',
      scope: 'own',
    }
    const finished = events.find((event) => event.type === 'step-finish')
    assert.deepEqual(finished?.usage, step)
    assert.equal(finished?.finishReason, 'tool-calls')
  })

  it('the turn’s usage is the sum of its steps', () => {
    const step = [stepStart(), stepFinish('stop', { tokens, cost: 0.25 })]
    const { events } = map([...step, ...step])
    const finish = events.find((event) => event.type === 'finish')
    assert.equal(finish?.usage?.inputTokens, 1600)
    assert.equal(finish?.usage?.outputTokens, 120)
    assert.equal(finish?.usage?.totalTokens, 2120)
  })

  it('impossible numbers are ignored and reported', () => {
    const broken = { input: -1, output: 2 ** 53, reasoning: 1.5, cache: { read: 'many', write: 3 } }
    const { activity, events, sums } = map([stepStart(), stepFinish('stop', { tokens: broken })])
    assert.ok(activity.length > 0)
    assert.ok(activity.every((event) => 'code' in event && event.code === 'usage-out-of-range'))
    const usage = events.find((event) => event.type === 'finish')?.usage
    assert.equal(usage?.cacheWriteInputTokens, 3)
    assert.equal(usage?.inputTokens, undefined)
    assert.deepEqual([sums.events + sums.consumed, sums.waiting], [2, 0])
  })
})

describe('OpenCode: failures', () => {
  it('an error record is one error, whatever the exit code repeats', () => {
    const { activity, events, sums } = map([apiError('No key.')], { end: { exitCode: 1 } })
    assert.deepEqual(activity, [{ type: 'error', message: 'No key.', code: 'APIError' }])
    assert.equal(endOf(events), 'error')
    assert.equal(sums.events, 1)
  })

  it('the last of several error records of one failure counts', () => {
    const { activity, sums } = map([apiError('No key.'), failed('No key at all.')], {
      end: { exitCode: 1 },
    })
    assert.deepEqual(activity, [{ type: 'error', message: 'No key at all.' }])
    assert.deepEqual(sums.reasons, { 'repeats-error': 1 })
  })

  it('an error record that comes when the run has failed already is consumed', () => {
    const { activity, sums } = map([apiError('Reset.'), said('Half'), apiError('Reset.')], { end: { exitCode: 1 } })
    assert.deepEqual(
      activity.map((event) => ('type' in event ? event.type : '')),
      ['error', 'agent'],
    )
    assert.deepEqual(sums.reasons, { 'repeats-error': 1 })
  })

  it('the error record that knows what happened is the one that is reported', () => {
    const vague = failed({ name: 'UnknownError', data: { message: 'Unexpected server error.' } })
    const { activity } = map([vague, failed('Model not found: a/b')], { end: { exitCode: 1 } })
    assert.deepEqual(activity, [{ type: 'error', message: 'Model not found: a/b' }])
  })

  it('an error may be a mere sentence, or have no message but a name', () => {
    assert.deepEqual(map([failed('The run ended.')]).activity, [{ type: 'error', message: 'The run ended.' }])
    assert.deepEqual(map([failed({ name: 'UnknownError', data: {} })]).activity, [
      { type: 'error', message: 'UnknownError', code: 'UnknownError' },
    ])
  })

  it('an unreadable error is unknown', () => {
    const odd = failed({ reason: 7 })
    assert.deepEqual(map([odd]).activity, [{ type: 'unknown', raw: odd }])
  })

  it('a context overflow after which it continues is an error that ends nothing', () => {
    const overflow = failed({ name: 'ContextOverflowError', data: { message: 'Too long.' } })
    const { activity, events, sums } = map([
      overflow,
      stepStart(),
      said('A summary.'),
      stepFinish('stop'),
      stepStart(),
      said('Shorter now.'),
      stepFinish('stop'),
    ])
    assert.deepEqual(activity, [
      { type: 'error', message: 'Too long.', code: 'ContextOverflowError' },
      { type: 'agent', message: 'A summary.' },
      { type: 'agent', message: 'Shorter now.' },
    ])
    assert.ok(events.every((event) => event.type !== 'error'))
    assert.equal(endOf(events), 'stop')
    assert.deepEqual([sums.events + sums.consumed, sums.waiting], [7, 0])
  })

  it('the summary after a context overflow is not the result of the run', () => {
    const overflow = failed({ name: 'ContextOverflowError', data: { message: 'Too long.' } })
    const { events } = map([overflow, stepStart(), said('A summary.'), stepFinish('stop')])
    assert.equal(endOf(events), 'other')
  })

  it('a context overflow after which nothing comes is the failure of the run', () => {
    const overflow = failed({ name: 'ContextOverflowError', data: { message: 'Too long.' } })
    const { activity, events } = map([overflow], { end: { exitCode: 1 } })
    assert.deepEqual(activity, [{ type: 'error', message: 'Too long.', code: 'ContextOverflowError' }])
    assert.ok(events.some((event) => event.type === 'error'))
  })

  it('a step that ended with an error is not begun again before it had ended', () => {
    const overflow = failed({ name: 'ContextOverflowError', data: { message: 'Too long.' } })
    const { activity } = map([stepStart(), overflow, stepStart(), said('Shorter now.'), stepFinish('stop')])
    assert.deepEqual(activity, [
      { type: 'error', message: 'Too long.', code: 'ContextOverflowError' },
      { type: 'agent', message: 'Shorter now.' },
    ])
  })

  it('a step that begins again without having ended is a retry', () => {
    const { activity } = map([stepStart(), stepStart(), said('Second try.'), stepFinish('stop')])
    assert.deepEqual(activity, [
      { type: 'warning', message: 'The model call was begun again before it had ended.', code: 'step-restarted' },
      { type: 'agent', message: 'Second try.' },
    ])
  })

  it('the partial text of a cut stream is the agent’s, and marked as interrupted', () => {
    const { activity, events } = map([stepStart(), apiError('Reset.'), said('This is ha')], {
      end: { exitCode: 1 },
    })
    assert.deepEqual(
      activity.map((event) => ('type' in event ? event.type : '')),
      ['error', 'agent'],
    )
    assert.equal(events.find((event) => event.type === 'text-delta')?.meta?.interrupted, true)
  })

  it('a run that stops at a refused call with exit code 0 has failed', () => {
    const refused = used('bash', { status: 'error', input: { command: 'make' }, error: 'Refused.' })
    const lines = [stepStart(), refused, stepFinish('tool-calls')]
    const { activity, events } = map(lines)
    assert.deepEqual(activity, [
      { type: 'command', command: 'make', isSuccess: false },
      {
        type: 'error',
        message: 'The run ended after a failed tool call, without an answer of the agent.',
        code: 'no-answer',
      },
    ])
    assert.equal(endOf(events), 'error')
    assert.equal(map(lines, { end: { exitCode: null } }).activity.length, 1)
    assert.equal(map(lines, { end: { exitCode: 0, aborted: true } }).activity.length, 1)
  })

  it('an answer that was cut at the output limit ends with that reason', () => {
    const { events } = map([stepStart(), said('Once upon'), stepFinish('length')])
    assert.equal(endOf(events), 'length')
  })

  it('a program that dies without a word fails with its standard error, or with the signal', () => {
    const died = map([], {
      stderr: ['\u001b[91m\u001b[1mError: \u001b[0mSession not found'],
      end: { exitCode: 1 },
    })
    assert.deepEqual(died.activity, [
      { type: 'warning', message: 'Error: Session not found' },
      { type: 'error', message: 'opencode exited with code 1: Error: Session not found', code: 'exit-1' },
    ])
    const killed = map([stepStart()], { end: { exitCode: null, signal: 'SIGTERM' } })
    assert.deepEqual(killed.activity, [{ type: 'error', message: 'opencode was killed by SIGTERM', code: 'SIGTERM' }])
  })

  it('a run that we stopped has not failed', () => {
    const { activity, events } = map([stepStart(), said('Sleeping.')], {
      end: { exitCode: null, signal: 'SIGTERM', aborted: true },
    })
    assert.deepEqual(activity, [{ type: 'agent', message: 'Sleeping.' }])
    assert.equal(endOf(events), 'other')
  })
})

describe('OpenCode: records nobody knows', () => {
  it('other types, missing parts and wrong types are unknown, whole', () => {
    const odd = [
      { type: 'session_shared', sessionID: SESSION, url: 'https://share.example' },
      record('text', { text: 7 }),
      record('tool_use', { state: { status: 'completed' } }),
      record('reasoning', {}),
      { type: 'error', sessionID: SESSION },
      { sessionID: SESSION },
    ]
    const { activity, sums } = map(odd)
    assert.deepEqual(
      activity,
      odd.map((raw) => ({ type: 'unknown', raw })),
    )
    assert.equal(sums.unknown, odd.length)
    assert.deepEqual([sums.events + sums.consumed, sums.waiting], [odd.length, 0])
  })

  it('an unknown record is reported, also after an error or in another session', () => {
    const odd = { type: 'news', sessionID: 'ses_2' }
    const { activity, sums } = map([said('Here.'), apiError('No key.'), odd])
    assert.deepEqual(
      activity.map((event) => ('type' in event ? event.type : '')),
      ['agent', 'warning', 'error', 'unknown'],
    )
    assert.deepEqual([sums.events + sums.consumed, sums.waiting], [3, 0])
  })

  it('a line that is not JSON is unknown, as text', () => {
    const lines = ['Performing one time database migration...', '{"type":"text"', '[1,2]', 'null']
    assert.deepEqual(map(lines).activity, [
      { type: 'unknown', raw: lines[0] },
      { type: 'unknown', raw: lines[1] },
      { type: 'unknown', raw: [1, 2] },
      { type: 'unknown', raw: null },
    ])
  })

  it('text glued to a record, a byte order mark and a NUL lose nothing', () => {
    const glued = `\ufeffLoading…${JSON.stringify(said('Hello.'))}\u0000`
    const { activity, sums } = map([glued])
    assert.deepEqual(activity, [
      { type: 'unknown', raw: 'Loading…' },
      { type: 'agent', message: 'Hello.' },
      { type: 'unknown', raw: '\u0000' },
    ])
    assert.deepEqual([sums.events + sums.consumed, sums.waiting], [1, 0])
  })

  it('fields one level up are read too', () => {
    const { activity } = map([
      { type: 'text', session_id: SESSION, text: 'Flat.' },
      { type: 'tool_use', sessionId: SESSION, tool: 'grep', status: 'completed', input: { pattern: 'x' } },
      { type: 'tool_use', part: { tool: 'glob', input: { pattern: 'y' }, state: { status: 'completed' } } },
      { type: 'error', sessionID: SESSION, message: 'Broken.' },
    ])
    assert.deepEqual(activity, [
      { type: 'agent', message: 'Flat.' },
      { type: 'search', query: 'x', isSuccess: true },
      { type: 'search', query: 'y', isSuccess: true },
      { type: 'error', message: 'Broken.' },
    ])
  })
})
