import { Agent, createTool, Harness, SqliteStore } from '@inspan/core'
import { deploy, description, inputSchema, isRestarted, model, report } from './shared.mjs'

const tool = createTool({ id: 'deploy', description, inputSchema, category: 'execute', execute: deploy })
const storage = new SqliteStore({ url: 'file:./data.db' })
const harness = new Harness({
  id: 'app',
  storage,
  agent: new Agent({ id: 'agent', instructions: 'Deploy.', model, tools: { deploy: tool } }),
  modes: [{ id: 'work' }],
  permissions: { categories: { execute: 'ask' } },
})
harness.subscribe(async (event) => {
  if (event.type === 'text') report(event.text)
  if (event.type !== 'tool_approval_required') return
  report(`asked ${event.toolName}`)
  if (isRestarted) await harness.session.respondToToolApproval({ decision: 'approve', toolCallId: event.toolCallId })
})
await harness.selectOrCreateThread()
if (!isRestarted) await harness.sendMessage({ content: 'Deploy 1.2.' })
