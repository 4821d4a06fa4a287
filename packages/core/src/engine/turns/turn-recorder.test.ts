import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ActivityNote, AgentEvent } from '@inspan/protocol'
import type { LogRecord } from '@inspan/protocol/log'
import { MemoryStore } from '@inspan/stores'
import { recordsAfter } from '../log/load-state.ts'
import { openTestThread } from '../thread.fixture.ts'
import { TurnRecorder } from './turn-recorder.ts'

const NOTE: ActivityNote = {
  mapper: 'codex',
  version: 1,
  events: [{ type: 'agent', message: 'Hello.', timestamp: '2026-01-01T00:00:00.000Z' }],
}

/** Records what a foreign agent said in one turn, and reads the log back. */
async function record(events: readonly AgentEvent[]): Promise<{ records: LogRecord[]; usage: number }> {
  const store = new MemoryStore()
  await using thread = await openTestThread(store)
  const { log } = thread
  await log.commit([
    { type: 'run.started', runId: 'r', agentId: 'a', rules: log.state.head.rules },
    { type: 'turn.started', turnId: 't', agentId: 'a' },
  ])
  const recorder = new TurnRecorder({ log, runId: 'r', turnId: 't', agentId: 'a' })
  for (const event of events) await recorder.record(event)
  await recorder.finish(false, (outcome) => [{ type: 'run.ended', runId: 'r', outcome }])
  await log.close()
  const usage = log.state.head.usage.own.inputTokens
  return { records: await Array.fromAsync(recordsAfter(store, 'thread', 0)), usage }
}

function bodies(records: readonly LogRecord[], type: string): LogRecord['body'][] {
  return records.map((each) => each.body).filter((body) => body.type === type)
}

suite('the events of an agent, recorded', () => {
  test('a text keeps the activity and the native id that came with its end', async () => {
    const { records } = await record([
      { type: 'text-delta', partId: 'x', text: 'Hel' },
      { type: 'text-delta', partId: 'x', text: 'lo.', native: { messageId: 'n1' } },
      { type: 'text-delta', partId: 'x', text: '', activity: NOTE, meta: { end: true } },
      { type: 'finish', finishReason: 'stop' },
    ])
    const [text] = bodies(records, 'text-delta')
    assert.ok(text?.type === 'text-delta')
    assert.equal(text.text, 'Hello.')
    assert.deepEqual(text.activity, NOTE)
    assert.deepEqual(text.native, { messageId: 'n1' })
    assert.equal(text.meta, undefined)
  })

  test('usage that only the end of the turn reports is counted once', async () => {
    const { usage } = await record([
      { type: 'step-start', stepIndex: 0 },
      { type: 'step-finish', stepIndex: 0, finishReason: 'stop', usage: { inputTokens: 10 } },
      { type: 'finish', finishReason: 'stop', usage: { inputTokens: 25 } },
    ])
    assert.equal(usage, 25)
  })

  test('texts without a name of their own end when something else is said', async () => {
    const { records } = await record([
      { type: 'reasoning-delta', text: 'Hmm' },
      { type: 'text-delta', text: 'A' },
      { type: 'text-delta', text: 'B' },
      { type: 'tool-call', toolCallId: 'c', toolName: 'x', args: {} },
      { type: 'tool-result', toolCallId: 'c', toolName: 'x', result: 1 },
      { type: 'text-delta', text: 'C' },
      { type: 'finish', finishReason: 'stop' },
    ])
    assert.deepEqual(
      records.flatMap(({ body }) => (body.type === 'text-delta' || body.type === 'reasoning-delta' ? [body.text] : [])),
      ['Hmm', 'AB', 'C'],
    )
  })

  test('a subagent that speaks inline has messages of its own, which hang on the call that started it', async () => {
    const { records } = await record([
      { type: 'text-delta', text: 'I ask a helper.' },
      { type: 'tool-call', toolCallId: 'task', toolName: 'Task', args: {} },
      { type: 'text-delta', text: 'I am the helper.', parentToolCallId: 'task' },
      { type: 'tool-call', toolCallId: 'inner', toolName: 'Read', args: {}, parentToolCallId: 'task' },
      { type: 'tool-result', toolCallId: 'inner', toolName: 'Read', result: 'x', parentToolCallId: 'task' },
      { type: 'tool-result', toolCallId: 'task', toolName: 'Task', result: 'done' },
      { type: 'finish', finishReason: 'stop' },
    ])
    const started = bodies(records, 'message.started')
    assert.deepEqual(
      started.map((body) => body.type === 'message.started' && body.parentToolCallId),
      [undefined, 'task'],
    )
    assert.equal(bodies(records, 'message.ended').length, 2)
  })

  test('calls and inputs that were left open are closed, so that no history holds an unanswered call', async () => {
    const { records } = await record([
      { type: 'tool-call', toolCallId: 'c1', toolName: 'run', args: {} },
      { type: 'tool-call-delta', toolCallId: 'c2', toolName: 'write', argsTextDelta: '{"pa' },
      { type: 'finish', finishReason: 'error' },
    ])
    const results = bodies(records, 'tool-result')
    assert.deepEqual(
      results.map((body) => body.type === 'tool-result' && [body.toolCallId, body.outcome]),
      [['c1', 'in-doubt']],
    )
    const cut = bodies(records, 'tool-call').find((body) => body.type === 'tool-call' && body.toolCallId === 'c2')
    assert.ok(cut?.type === 'tool-call' && cut.toolName === 'write' && cut.meta?.interrupted === true)
  })

  test('a thousand inputs at once keep their places', async () => {
    const ids = Array.from({ length: 1000 }, (_, i) => `c${i}`)
    const { records } = await record([
      ...ids.map((toolCallId): AgentEvent => ({
        type: 'tool-call-delta',
        toolCallId,
        toolName: 'x',
        argsTextDelta: '{',
      })),
      ...ids.toReversed().map((toolCallId): AgentEvent => ({ type: 'tool-call', toolCallId, toolName: 'x', args: {} })),
      ...ids.map((toolCallId): AgentEvent => ({ type: 'tool-result', toolCallId, toolName: 'x', result: toolCallId })),
      { type: 'finish', finishReason: 'stop' },
    ])
    const parts = bodies(records, 'tool-call').map((body) =>
      body.type === 'tool-call' ? [body.toolCallId, body.partId] : [],
    )
    assert.equal(parts.length, 1000)
    for (const [id, partId] of parts) assert.equal(id, `c${partId}`)
  })

  test('a turn that is finished twice has one finish, and the second time writes nothing', async () => {
    const store = new MemoryStore()
    await using thread = await openTestThread(store)
    const { log } = thread
    await log.commit([
      { type: 'run.started', runId: 'r', agentId: 'a', rules: log.state.head.rules },
      { type: 'turn.started', turnId: 't', agentId: 'a' },
    ])
    const recorder = new TurnRecorder({ log, runId: 'r', turnId: 't', agentId: 'a' })
    assert.equal(recorder.outcome, undefined)
    await recorder.record({ type: 'finish', finishReason: 'stop' })
    const ends = await Promise.all([
      recorder.finish(false, (outcome) => [{ type: 'run.ended', runId: 'r', outcome }]),
      recorder.finish(true, () => assert.fail('the turn is over')),
    ])
    assert.deepEqual(ends, ['complete', 'complete'])
    assert.equal(await recorder.finish(true), 'complete')
    assert.equal(recorder.outcome, 'complete')
    const records = await Array.fromAsync(recordsAfter(store, 'thread', 0))
    assert.equal(bodies(records, 'turn.ended').length, 1)
    assert.equal(records.at(-1)?.body.type, 'run.ended')
  })
})
