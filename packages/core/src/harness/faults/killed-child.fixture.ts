/**
 * The process that `killed.test.ts` kills: a session with everything that can wait. Prints what it knows and does not
 * end. Run as: node killed-child.fixture.ts <database>.
 */
import { writeSync } from 'node:fs'
import { knownTo, openSession } from './killed-session.fixture.ts'

const [url = ''] = process.argv.slice(2)
const tasks = [
  { content: 'Look', status: 'completed', activeForm: 'Looking' },
  { content: 'Paint', status: 'in_progress', activeForm: 'Painting' },
]
const usage = { inputTokens: 10, outputTokens: 5 }
const { session } = await openSession(url, [
  { toolCalls: [{ id: 't1', name: 'task_write', input: { tasks } }], usage },
  { text: 'Planned.', usage },
  {
    toolCalls: [
      { id: 'question', name: 'ask_user', input: { question: 'Which?', options: [{ label: 'A' }, { label: 'B' }] } },
      { id: 'plan', name: 'submit_plan', input: { plan: 'Paint it.' } },
      { id: 'access', name: 'request_access', input: { path: '/shed', reason: 'the paint' } },
      { id: 'approval', name: 'paint', input: { colour: 'red' } },
    ],
    usage,
  },
])
await session.sendMessage({ content: 'Plan.' })
await session.state.set({ theme: 'dark' })
await session.model.switch({ modelId: 'mine/small' })
await session.mode.switch({ modeId: 'review' })
await session.model.switch({ modelId: 'mine/large' })
await session.permissions.setForTool({ toolName: 'erase', policy: 'deny' })
await session.grantTool('look')
await session.thread.setSetting({ key: 'colour', value: { of: 'the door' } })
await session.om.observer.switchModel({ modelId: 'mine/observer' })
await session.subagents.model.set({ modelId: 'mine/explorer', agentType: 'explore' })
await session.objectives.setObjective('A red door.', { judgeModelId: 'mine/judge', maxRuns: 7, prompt: 'Be strict.' })
await session.objectives.updateObjectiveOptions({ status: 'paused', pausedReason: 'Lunch.' })
await session.signals.sendNotificationSignal({ source: 'ci', kind: 'build', summary: 'It broke.', priority: 'low' })
const waiting = new Set<string>()
const all = Promise.withResolvers<void>()
session.subscribe((event) => {
  if (event.type !== 'tool_suspended' && event.type !== 'tool_approval_required') return
  waiting.add(event.toolCallId)
  if (waiting.size === 4) all.resolve()
})
void session.sendMessage({ content: 'Go.' })
await all.promise
await session.followUp({ content: 'Then the window.' })
const steered = Promise.withResolvers<void>()
session.subscribe((event) => {
  if (event.type === 'info') steered.resolve()
})
void session.steer({ content: 'Mind the step.' })
await steered.promise
await session.thread.setSetting({ key: 'last', value: true })
writeSync(1, `${JSON.stringify(await knownTo(session))}\n`)
setInterval(() => undefined, 1_000)
