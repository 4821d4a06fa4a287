/** Sends a message whose turn is parked at a limit, reports that, and stays. Arguments: storage, project, milliseconds. */
import { setImmediate as nextTask } from 'node:timers/promises'
import { scriptedModel } from '@inspan/testing'
import { createAgentManager, NativeHarnessFactory } from './index.ts'

const [root = '', project = '', ms = '0'] = process.argv.slice(2)
const model = scriptedModel([{ error: { status: 429, retryAfterMs: Number(ms) } }])
const manager = await createAgentManager(root, new NativeHarnessFactory({ model }))
const agent = await manager.createAgent(project, { agentId: 'a' })
const session = await agent.createChatSession()
await session.chat('Go', { operationId: 'op', onLimit: 'park' })
let status = await session.getOperation('op')
while (status?.state !== 'waiting') {
  await nextTask()
  status = await session.getOperation('op')
}
console.log(JSON.stringify({ sessionId: session.getId(), ...status }))
setInterval(() => undefined, 60_000)
