import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { JsonObject } from '@inspan/protocol'
import { toWireEvent, type HarnessEventType } from '@inspan/protocol/harness'
import {
  activity,
  answer,
  approval,
  failure,
  files,
  followUp,
  goal,
  modes,
  signals,
  state,
  steering,
  suspension,
  tasks,
  threads,
  tool,
  type Play,
} from './event-plays.fixture.ts'

/** Events of memory, subagents, the workspace and the shell, which are tested elsewhere. */
type ShownElsewhere =
  | Extract<HarnessEventType, `om_${string}` | `subagent_${string}` | `workspace_${string}`>
  | 'shell_output'
type Shown = Exclude<HarnessEventType, ShownElsewhere>
/** The payload of the event, and the events before and after it; `null` when it is the first or last. */
type Row = readonly [play: Play, before: HarnessEventType | null, after: HarnessEventType | null, payload: JsonObject]

const NO_TOKENS = {
  promptTokens: 0,
  completionTokens: 0,
  totalTokens: 0,
  reasoningTokens: 0,
  cachedInputTokens: 0,
  cacheCreationInputTokens: 0,
}
const at = { messageId: '<id>', partIndex: 0 }
const message = (role: string, content: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  message: { id: '<id>', role, content: [...content], createdAt: '<time>', ...more },
})
const hi = message('user', [{ type: 'text', text: 'Hi' }])
const readCall = { toolCallId: 'c1', toolName: 'read', args: { path: 'a' } }
const readResult = { lines: ['one'], input: { path: 'a' } }

const TABLE: Readonly<Record<Shown, Row>> = {
  agent_start: [answer, null, 'message_start', {}],
  message_start: [answer, 'agent_start', 'message_end', hi],
  message_end: [answer, 'message_start', 'message_start', hi],
  thinking: [answer, 'message_start', 'message_update', { thinking: 'Hm.', ...at }],
  message_update: [answer, 'thinking', 'text', message('assistant', [{ type: 'thinking', thinking: 'Hm.' }])],
  text: [answer, 'message_update', 'message_update', { text: 'Hel', ...at, partIndex: 1 }],
  usage_update: [
    answer,
    'message_update',
    'message_end',
    { usage: { ...NO_TOKENS, promptTokens: 10, completionTokens: 2, totalTokens: 12 } },
  ],
  agent_end: [answer, 'message_end', null, { reason: 'complete' }],
  display_state_changed: [
    answer,
    'agent_end',
    null,
    { displayState: { isRunning: false, tokenUsage: { totalTokens: 12 }, activeTools: {} } },
  ],
  tool_input_start: [tool, 'message_start', 'tool_input_delta', { toolCallId: 'c1', toolName: 'read' }],
  tool_input_delta: [
    tool,
    'tool_input_start',
    'tool_input_end',
    { toolCallId: 'c1', toolName: 'read', argsTextDelta: '{"path":"a"}' },
  ],
  tool_input_end: [tool, 'tool_input_delta', 'tool_call', { toolCallId: 'c1' }],
  tool_call: [tool, 'tool_input_end', 'tool_start', { id: 'c1', name: 'read', args: { path: 'a' }, ...at }],
  tool_start: [tool, 'tool_call', 'message_update', readCall],
  tool_update: [tool, 'usage_update', 'tool_result', { toolCallId: 'c1', partialResult: 'half' }],
  tool_result: [
    tool,
    'tool_update',
    'tool_end',
    { id: 'c1', name: 'read', result: readResult, isError: false, ...at, partIndex: 1 },
  ],
  tool_end: [
    tool,
    'tool_result',
    'message_update',
    { toolCallId: 'c1', toolName: 'read', result: readResult, isError: false },
  ],
  activity: [
    activity,
    'message_update',
    'message_end',
    {
      activity: { type: 'read', path: 'a.txt', isSuccess: true, timestamp: '<time>' },
      messageId: '<id>',
      toolCallId: 'c1',
      agentId: 'agent',
    },
  ],
  tool_approval_required: [
    approval,
    'usage_update',
    'tool_result',
    {
      toolCallId: 'c1',
      toolName: 'paint',
      args: { colour: 'red' },
      description: 'paint: colour: red (no rule allows `paint`)',
    },
  ],
  tool_suspended: [
    suspension,
    'usage_update',
    'agent_end',
    { toolCallId: 'c1', toolName: 'wonder', args: { at: 'it' }, suspendPayload: { why: 'because' } },
  ],
  error: [
    failure,
    'message_end',
    'agent_end',
    { error: { name: 'AI_APICallError', message: 'No.' }, retryable: false },
  ],
  image: [files, 'message_start', 'file', { data: 'aGk=', mimeType: 'image/png', ...at, partIndex: 1 }],
  file: [
    files,
    'image',
    'message_end',
    { data: 'aGk=', mediaType: 'application/pdf', filename: 'b.pdf', ...at, partIndex: 2 },
  ],
  mode_changed: [modes, 'thread_created', 'model_changed', { modeId: 'build', previousModeId: 'plan' }],
  model_changed: [modes, 'mode_changed', null, { modelId: 'x/builder', scope: 'thread', modeId: 'build' }],
  thread_created: [
    threads,
    null,
    'thread_created',
    {
      thread: {
        id: 't1',
        title: 'First',
        resourceId: 'bench',
        createdAt: '<time>',
        updatedAt: '<time>',
        tokenUsage: NO_TOKENS,
        metadata: {},
      },
    },
  ],
  thread_changed: [threads, 'thread_created', 'thread_deleted', { threadId: 't1', previousThreadId: 't2' }],
  thread_deleted: [threads, 'thread_changed', null, { threadId: 't1' }],
  state_changed: [state, null, 'state_changed', { state: { name: 'A', list: [1] }, changedKeys: ['name', 'list'] }],
  follow_up_queued: [followUp, 'tool_approval_required', 'tool_result', { count: 1, runId: '<id>' }],
  info: [
    steering,
    'tool_approval_required',
    'tool_result',
    { message: 'The agent hears it before its next step.', steered: 'injected' },
  ],
  task_updated: [
    tasks,
    'usage_update',
    'message_start',
    { tasks: [{ id: 'task_write_it', content: 'Write it', status: 'pending', activeForm: 'Writing it' }] },
  ],
  system_reminder: [signals, 'message_start', 'message_end', { message: 'Mind.', reminderType: 'note', ...at }],
  state_signal: [
    signals,
    'message_start',
    'message_end',
    { message: 'open', stateId: 'door', mode: 'snapshot', id: '<id>', cacheKey: 'k', version: 1, ...at },
  ],
  reactive_signal: [
    signals,
    'message_start',
    'message_end',
    { tagName: 'weather', message: 'Rain.', id: '<id>', metadata: { of: ['one'] }, ...at },
  ],
  notification: [
    signals,
    'message_end',
    'message_start',
    {
      message: 'It failed.',
      id: '<id>',
      notificationId: '<id>',
      source: 'ci',
      kind: 'build',
      priority: 'low',
      status: 'pending',
      metadata: { of: ['one'] },
    },
  ],
  notification_summary: [
    signals,
    'message_start',
    'message_end',
    {
      message: '1 unread notification from ci (1). Read it with the tool "notification-inbox".',
      pending: 1,
      bySource: { ci: 1 },
      byPriority: { low: 1 },
      notificationIds: ['<id>'],
      id: '<id>',
      ...at,
    },
  ],
  goal_evaluation: [
    goal,
    'agent_end',
    'goal_evaluation',
    {
      payload: {
        objective: 'Finish.',
        iteration: 1,
        maxRuns: 3,
        passed: false,
        status: 'active',
        results: [],
        duration: 0,
        timedOut: false,
        maxRunsReached: false,
        suppressFeedback: false,
        pending: true,
      },
    },
  ],
}

/** Replaces what differs from run to run. */
function plain(value: unknown): unknown {
  const text = JSON.stringify(value, (_key, each: unknown) => {
    if (typeof each !== 'string') return each
    if (/^\d{4}-\d\d-\d\dT/.test(each)) return '<time>'
    return /^[0-9a-f]{8}-[0-9a-f-]{27}$|^\d{13}-\w+$/.test(each) ? '<id>' : each
  })
  return JSON.parse(text)
}

suite('every event has its place and its payload, and stays what it was', () => {
  for (const [type, [play, before, after, payload]] of Object.entries(TABLE) as [Shown, Row][]) {
    test(type, async () => {
      await using bench = await play()
      const told = bench.events.filter(
        (event) => type === 'display_state_changed' || event.type !== 'display_state_changed',
      )
      const index = type === 'display_state_changed' ? told.length - 1 : told.findIndex((event) => event.type === type)
      const event = told[index]
      assert.ok(event, `there is one among ${told.map((each) => each.type).join(', ')}`)
      assert.deepEqual(
        [told[index - 1]?.type ?? null, told[index + 1]?.type ?? null],
        [before, after],
        told.map((each) => each.type).join(', '),
      )
      const shown = plain(toWireEvent(event))
      if (type === 'display_state_changed') assert.partialDeepStrictEqual(shown, { type, ...payload })
      else assert.deepEqual(shown, { type, ...payload })
      const sessionId = bench.harness.session.identity.getId()
      for (const each of bench.placed) {
        assert.equal(each.sessionId, sessionId, each.type)
        assert.ok(each.threadId === null || each.threadId.length > 0, each.type)
      }
      await new Promise(setImmediate)
      for (const [each, json] of bench.kept) assert.equal(JSON.stringify(toWireEvent(each)), json, each.type)
    })
  }
})
