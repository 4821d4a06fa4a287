/**
 * Approvals of agents that are programs. Prints a JSON line for each question, and one for the end. With `ask` it is
 * killed at its first question; with `answer` it answers what another process was asked.
 */
import { acp, claudeCode, codex } from '@inspan/adapters'
import { Harness, SqliteStore } from '@inspan/core'

const [, , agentId, bin, url, phase] = process.argv
const options = { cwd: process.cwd(), env: { ANTHROPIC_API_KEY: 'any', CODEX_API_KEY: 'any' } }
const agents = {
  'claude-code': () => claudeCode({ ...options, bin, transport: 'live' }),
  codex: () => codex({ ...options, bin, transport: 'live' }),
  acp: () => acp({ ...options, command: bin, title: 'Agent', allowUngoverned: true }),
}
const harness = new Harness({
  id: 'approvals',
  agent: agents[agentId](),
  storage: new SqliteStore({ url }),
  modes: [{ id: 'work' }],
  permissions: { categories: { execute: 'ask' } },
})
const print = (line) => console.log(JSON.stringify(line))
const ended = Promise.withResolvers()
const results = []
harness.subscribe((event) => {
  if (event.type === 'tool_end') results.push(event.isError)
  if (event.type === 'agent_end') ended.resolve(event.reason)
  if (event.type !== 'tool_approval_required') return
  const { args, description, toolCallId } = event
  print({ args, description })
  if (phase === 'ask') process.kill(process.pid, 'SIGKILL')
  void harness.session.respondToToolApproval({ toolCallId, decision: 'approve' })
})
if (phase === 'answer') {
  const [thread] = await harness.session.thread.list()
  await harness.session.thread.switch({ threadId: thread.id })
} else await harness.sendMessage({ content: 'Go' })
print({ end: await ended.promise, results })
await harness.destroy()
