/** Chats, shuts down and ends: if a timer or handle were left, this program would not end. */
import { scriptedModel } from '@inspan/testing'
import { createAgentManager, NativeHarnessFactory } from './index.ts'
import { eventsOf, folders, textOf } from './sdk.fixture.ts'

await using it = await folders()
const manager = await createAgentManager(
  it.root,
  new NativeHarnessFactory({ model: scriptedModel([{ text: 'Hello.' }]) }),
)
const agent = await manager.createAgent(it.project, { agentId: 'a' })
const session = await agent.createChatSession()
process.stdout.write(`${textOf(await eventsOf(await session.chat('Hi')))}\n`)
await manager.shutdown()
