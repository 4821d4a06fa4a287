import { asRunnable, createTool } from '@inspan/agent'
import { scriptedModel } from '@inspan/testing'
import { HarnessBench } from '../harness.fixture.ts'

/** Does something with a harness and returns it with all events it emitted. */
export type Play = () => Promise<HarnessBench>

const read = createTool({
  id: 'read',
  description: 'Reads.',
  category: 'read',
  execute: async (input, { progress }) => {
    progress('half')
    const lines = ['one']
    const result = { lines, input: { ...(input as object) } }
    // A tool may also change its input.
    Object.assign(input as object, { path: 'changed' })
    // A change that a tool makes to its result after returning it must not reach listeners.
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

export const answer: Play = async () => {
  const usage = { inputTokens: 10, outputTokens: 2 }
  const bench = new HarnessBench([{ reasoning: 'Hm.', text: ['Hel', 'lo'], usage }])
  await bench.harness.createThread()
  bench.events.length = 0
  await bench.harness.sendMessage({ content: 'Hi' })
  return bench
}

export const tool: Play = async () => {
  const call = { id: 'c1', name: 'read', input: { path: 'a' }, inputDeltas: ['{"path":"a"}'] }
  const bench = new HarnessBench([{ toolCalls: [call] }, { text: 'Done.' }], {
    tools: { read },
    permissions: { categories: { read: 'allow' } },
  })
  await bench.harness.sendMessage({ content: 'Read' })
  return bench
}

/** A tool that says what it did. */
const look = asRunnable({
  name: 'look',
  inputSchema: { type: 'object' },
  category: 'read',
  execute: async () => {
    const timestamp = new Date().toISOString()
    const events = [{ type: 'read', path: 'a.txt', isSuccess: true, timestamp }] as const
    return { result: 'seen', activity: { mapper: 'look', version: 1, events } }
  },
})

export const activity: Play = async () => {
  const bench = new HarnessBench([{ toolCalls: [{ id: 'c1', name: 'look' }] }, { text: 'Done.' }], {
    tools: { look },
    permissions: { categories: { read: 'allow' } },
  })
  await bench.harness.sendMessage({ content: 'Look' })
  return bench
}

export const approval: Play = async () => {
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

export const suspension: Play = async () => {
  const bench = new HarnessBench([{ toolCalls: [{ id: 'c1', name: 'wonder', input: { at: 'it' } }] }], {
    tools: { wonder: suspending },
    permissions: { categories: { read: 'allow' } },
  })
  await bench.harness.sendMessage({ content: 'Wonder' })
  return bench
}

export const failure: Play = async () => {
  const bench = new HarnessBench([{ error: { status: 400, message: 'No.' } }])
  await bench.harness.sendMessage({ content: 'Hi' })
  return bench
}

export const files: Play = async () => {
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

export const modes: Play = async () => {
  const bench = new HarnessBench([], { modes: [{ id: 'plan' }, { id: 'build', defaultModelId: 'x/builder' }] })
  await bench.harness.createThread()
  await bench.harness.session.mode.switch({ modeId: 'build' })
  return bench
}

export const threads: Play = async () => {
  let ids = 0
  const bench = new HarnessBench([], { idGenerator: () => `t${++ids}` })
  await bench.harness.createThread({ title: 'First' })
  await bench.harness.createThread()
  await bench.harness.switchThread({ threadId: 't1' })
  await bench.harness.memory.deleteThread({ threadId: 't1' })
  return bench
}

export const state: Play = async () => {
  const bench = new HarnessBench([])
  const list = [1]
  await bench.harness.session.state.set({ name: 'A', list })
  list.push(2)
  const given = bench.harness.session.state.get()['list']
  if (Array.isArray(given)) given.push(3)
  await bench.harness.session.state.set({ name: 'B' })
  return bench
}

export const followUp: Play = async () => {
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

export const steering: Play = async () => {
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

export const tasks: Play = async () => {
  const task = { content: 'Write it', status: 'pending', activeForm: 'Writing it' }
  const bench = new HarnessBench([
    { toolCalls: [{ id: 'c1', name: 'task_write', input: { tasks: [task] } }] },
    { text: '.' },
  ])
  await bench.harness.sendMessage({ content: 'Plan' })
  return bench
}

export const signals: Play = async () => {
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

export const goal: Play = async () => {
  const judge = scriptedModel([{ text: '{"verdict":"done","reason":"All there."}' }])
  const bench = new HarnessBench([{ text: 'Done.' }], { resolveModel: () => judge })
  await bench.harness.getCurrentAgent().setObjective('Finish.', { judgeModelId: 'x/judge', maxRuns: 3 })
  await bench.harness.sendMessage({ content: 'Go', untilIdle: true })
  return bench
}
