import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@evener/agent'
import { toWireEvent, type HarnessEventType, type JsonObject } from '@evener/protocol'
import { scriptedModel } from '@evener/testing'
import { HarnessBench } from './harness.fixture.ts'

/** Those that belong to memory, subagents, the workspace and the shell are shown with these. */
type ShownElsewhere =
  | Extract<HarnessEventType, `om_${string}` | `subagent_${string}` | `workspace_${string}`>
  | 'shell_output'
type Shown = Exclude<HarnessEventType, ShownElsewhere>
type Play = () => Promise<HarnessBench>
/** What the event says, and between which events it comes; `null`: it is the first or the last. */
type Row = readonly [play: Play, before: HarnessEventType | null, after: HarnessEventType | null, payload: JsonObject]

const read = createTool({
  id: 'read',
  description: 'Reads.',
  category: 'read',
  execute: async (input, { progress }) => {
    progress('half')
    const lines = ['one']
    const result = { lines, input: { ...(input as object) } }
    // It may do with its input what it likes, too.
    Object.assign(input as object, { path: 'changed' })
    // What a tool does with its own after it has given it away is no concern of those who were told.
    setImmediate(() => lines.push('two'))
    return result
  },
})
const askFirst = createTool({ id: 'paint', description: 'Paints.', execute: () => 'painted' })
const suspending = createTool({
  id: 'wonder',
  description: 'Wonders.',
  category: 'read',
  execute: async (_input, { suspend }) => {
    const payload = { why: 'because' }
    setImmediate(() => Object.assign(payload, { why: 'changed' }))
    return suspend(payload)
  },
})

const answer: Play = async () => {
  const usage = { inputTokens: 10, outputTokens: 2 }
  const bench = new HarnessBench([{ reasoning: 'Hm.', text: ['Hel', 'lo'], usage }])
  await bench.harness.createThread()
  bench.events.length = 0
  await bench.harness.sendMessage({ content: 'Hi' })
  return bench
}

const tool: Play = async () => {
  const call = { id: 'c1', name: 'read', input: { path: 'a' }, inputDeltas: ['{"path":"a"}'] }
  const bench = new HarnessBench([{ toolCalls: [call] }, { text: 'Done.' }], {
    tools: { read },
    permissions: { categories: { read: 'allow' } },
  })
  await bench.harness.sendMessage({ content: 'Read' })
  return bench
}

const approval: Play = async () => {
  const bench = new HarnessBench(
    [{ toolCalls: [{ id: 'c1', name: 'paint', input: { colour: 'red' } }] }, { text: '.' }],
    {
      tools: { paint: askFirst },
    },
  )
  bench.harness.subscribe((event) => {
    if (event.type === 'tool_approval_required')
      return bench.harness.session.respondToToolApproval({ decision: 'approve' })
  })
  await bench.harness.sendMessage({ content: 'Paint' })
  return bench
}

const suspension: Play = async () => {
  const bench = new HarnessBench([{ toolCalls: [{ id: 'c1', name: 'wonder', input: { at: 'it' } }] }], {
    tools: { wonder: suspending },
    permissions: { categories: { read: 'allow' } },
  })
  await bench.harness.sendMessage({ content: 'Wonder' })
  return bench
}

const failure: Play = async () => {
  const bench = new HarnessBench([{ error: { status: 400, message: 'No.' } }])
  await bench.harness.sendMessage({ content: 'Hi' })
  return bench
}

const files: Play = async () => {
  const bench = new HarnessBench([{ text: 'Seen.' }])
  await bench.harness.sendMessage({
    content: 'Look',
    files: [
      { data: 'aGk=', mediaType: 'image/png' },
      { data: 'aGk=', mediaType: 'application/pdf', filename: 'b.pdf' },
    ],
  })
  return bench
}

const modes: Play = async () => {
  const bench = new HarnessBench([], { modes: [{ id: 'plan' }, { id: 'build', defaultModelId: 'x/builder' }] })
  await bench.harness.createThread()
  await bench.harness.session.mode.switch({ modeId: 'build' })
  return bench
}

const threads: Play = async () => {
  let ids = 0
  const bench = new HarnessBench([], { idGenerator: () => `t${++ids}` })
  await bench.harness.createThread({ title: 'First' })
  await bench.harness.createThread()
  await bench.harness.switchThread({ threadId: 't1' })
  await bench.harness.memory.deleteThread({ threadId: 't1' })
  return bench
}

const state: Play = async () => {
  const bench = new HarnessBench([])
  const list = [1]
  await bench.harness.session.state.set({ name: 'A', list })
  list.push(2)
  const given = bench.harness.session.state.get()['list']
  if (Array.isArray(given)) given.push(3)
  await bench.harness.session.state.set({ name: 'B' })
  return bench
}

const followUp: Play = async () => {
  const bench = new HarnessBench([{ toolCalls: [{ id: 'c1', name: 'paint' }] }, { text: 'One.' }, { text: 'Two.' }], {
    tools: { paint: askFirst },
  })
  const asked = bench.next('tool_approval_required')
  const sent = bench.harness.sendMessage({ content: 'Go', untilIdle: true })
  await asked
  await bench.harness.followUp({ content: 'And then?' })
  await bench.harness.session.respondToToolApproval({ decision: 'approve' })
  await sent
  return bench
}

const steering: Play = async () => {
  const bench = new HarnessBench([{ toolCalls: [{ id: 'c1', name: 'paint' }] }, { text: 'One.' }], {
    tools: { paint: askFirst },
  })
  const asked = bench.next('tool_approval_required')
  const sent = bench.harness.sendMessage({ content: 'Go' })
  await asked
  const steered = bench.harness.steer({ content: 'Mind.' })
  await bench.next('info')
  await bench.harness.session.respondToToolApproval({ decision: 'approve' })
  await Promise.all([sent, steered])
  return bench
}

const tasks: Play = async () => {
  const task = { content: 'Write it', status: 'pending', activeForm: 'Writing it' }
  const bench = new HarnessBench([
    { toolCalls: [{ id: 'c1', name: 'task_write', input: { tasks: [task] } }] },
    { text: '.' },
  ])
  await bench.harness.sendMessage({ content: 'Plan' })
  return bench
}

const signals: Play = async () => {
  const bench = new HarnessBench([{ text: 'Heard.' }])
  await bench.harness.createThread()
  bench.events.length = 0
  const metadata = { of: ['one'] }
  const input = { source: 'ci', kind: 'build', summary: 'It failed.', priority: 'low', metadata } as const
  await bench.harness.saveSystemReminderMessage({ message: 'Mind.', reminderType: 'note', metadata })
  const door = { id: 'door', cacheKey: 'k', mode: 'snapshot', contents: 'open', value: metadata } as const
  await bench.harness.session.signals.sendStateSignal(door)
  const routing = { ifIdle: { behavior: 'persist' } } as const
  await bench.harness.sendSignal({ type: 'reactive', tagName: 'weather', contents: 'Rain.', metadata }, routing)
    .accepted
  await bench.harness.sendNotificationSignal(input)
  metadata.of.push('two')
  await bench.harness.sendMessage({ content: 'Go' })
  return bench
}

const goal: Play = async () => {
  const judge = scriptedModel([{ text: '{"verdict":"done","reason":"All there."}' }])
  const bench = new HarnessBench([{ text: 'Done.' }], { resolveModel: () => judge })
  await bench.harness.getCurrentAgent().setObjective('Finish.', { judgeModelId: 'x/judge', maxRuns: 3 })
  await bench.harness.sendMessage({ content: 'Go', untilIdle: true })
  return bench
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
    {
      usage: {
        promptTokens: 10,
        completionTokens: 2,
        totalTokens: 12,
        reasoningTokens: 0,
        cachedInputTokens: 0,
        cacheCreationInputTokens: 0,
      },
    },
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
  tool_end: [tool, 'tool_result', 'message_update', { toolCallId: 'c1', result: readResult, isError: false }],
  tool_approval_required: [
    approval,
    'usage_update',
    'tool_result',
    { toolCallId: 'c1', toolName: 'paint', args: { colour: 'red' } },
  ],
  tool_suspended: [
    suspension,
    'usage_update',
    'agent_end',
    { toolCallId: 'c1', toolName: 'wonder', args: { at: 'it' }, suspendPayload: { why: 'because' } },
  ],
  error: [failure, 'message_end', 'agent_end', { error: { message: 'No.' } }],
  image: [files, 'message_start', 'file', { data: 'aGk=', mimeType: 'image/png', ...at, partIndex: 1 }],
  file: [
    files,
    'image',
    'message_end',
    { data: 'aGk=', mediaType: 'application/pdf', filename: 'b.pdf', ...at, partIndex: 2 },
  ],
  mode_changed: [modes, 'thread_created', 'model_changed', { modeId: 'build', previousModeId: 'plan' }],
  model_changed: [modes, 'mode_changed', null, { modelId: 'x/builder', scope: 'thread', modeId: 'build' }],
  thread_created: [threads, null, 'thread_created', { thread: { id: 't1', title: 'First', resourceId: 'bench' } }],
  thread_changed: [threads, 'thread_created', 'thread_deleted', { threadId: 't1', previousThreadId: 't2' }],
  thread_deleted: [threads, 'thread_changed', null, { threadId: 't1' }],
  state_changed: [state, null, 'state_changed', { state: { name: 'A', list: [1] }, changedKeys: ['name', 'list'] }],
  follow_up_queued: [followUp, 'tool_approval_required', 'tool_result', { count: 1 }],
  info: [steering, 'tool_approval_required', 'tool_result', { steered: 'injected' }],
  task_updated: [
    tasks,
    'usage_update',
    'message_start',
    { tasks: [{ id: 'task_write_it', content: 'Write it', status: 'pending', activeForm: 'Writing it' }] },
  ],
  system_reminder: [signals, 'message_start', 'message_end', { message: 'Mind.', reminderType: 'note', ...at }],
  state_signal: [signals, 'message_start', 'message_end', { stateId: 'door', mode: 'snapshot', cacheKey: 'k', ...at }],
  reactive_signal: [signals, 'message_start', 'message_end', { tagName: 'weather', message: 'Rain.', ...at }],
  notification: [
    signals,
    'message_end',
    'message_start',
    { message: 'It failed.', source: 'ci', kind: 'build', priority: 'low', status: 'pending' },
  ],
  notification_summary: [
    signals,
    'message_start',
    'message_end',
    { pending: 1, bySource: { ci: 1 }, byPriority: { low: 1 } },
  ],
  goal_evaluation: [
    goal,
    'agent_end',
    'goal_evaluation',
    { payload: { objective: 'Finish.', iteration: 1, maxRuns: 3, passed: false, status: 'active', pending: true } },
  ],
}

/** What differs from run to run. */
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
      assert.partialDeepStrictEqual(plain(toWireEvent(event)), { type, ...payload })
      await new Promise(setImmediate)
      for (const [each, json] of bench.kept) assert.equal(JSON.stringify(toWireEvent(each)), json, each.type)
    })
  }
})
