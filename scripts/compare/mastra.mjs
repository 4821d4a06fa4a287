import { Agent } from '@mastra/core/agent'
import { AgentController } from '@mastra/core/agent-controller'
import { createTool } from '@mastra/core/tools'
import { LibSQLStore } from '@mastra/libsql'
import { Memory } from '@mastra/memory'
import { deploy, description, inputSchema, isRestarted, model, report } from './shared.mjs'

const tool = createTool({ id: 'deploy', description, inputSchema, execute: deploy })
const storage = new LibSQLStore({ id: 'app', url: 'file:./data.db' })
const memory = new Memory({ storage })
const controller = new AgentController({
  id: 'app',
  storage,
  memory,
  agent: new Agent({ id: 'agent', name: 'agent', instructions: 'Deploy.', model, memory, tools: { deploy: tool } }),
  modes: [{ id: 'work', name: 'Work', default: true }],
})
await controller.init()
const session = await controller.createSession({ resourceId: 'app' })
const ask = async ({ toolCallId, toolName }) => {
  report(`asked ${toolName}`)
  if (isRestarted) await session.respondToToolApproval({ decision: 'approve', toolCallId })
}
session.subscribe(async (event) => {
  if (event.type === 'tool_approval_required') await ask(event)
  if (event.type === 'agent_end') report('Done.')
})
const [thread] = await session.thread.list()
if (isRestarted && thread) await session.thread.switch({ threadId: thread.id })
const { pendingApproval } = session.displayState.get()
if (pendingApproval) await ask(pendingApproval)
if (!isRestarted) await session.sendMessage({ content: 'Deploy 1.2.' })
