/**
 * Chats, leaves an approval unanswered, shuts down and ends. Prints the answer, and then which timers and handles are
 * left after the shutdown: also those that would not keep it from ending.
 */
import { createHook } from 'node:async_hooks'
import { setImmediate as nextTask } from 'node:timers/promises'
import { scriptedModel } from '@inspan/testing'
import { createAgentManager, NativeHarnessFactory } from './index.ts'
import { eventsOf, folders, noting, textOf, until } from './sdk.fixture.ts'

const KINDS = /^(Timeout|FSEVENTWRAP|STATWATCHER|PROCESSWRAP|WORKER|TCP\w*WRAP)$/
const left = new Map<number, string>()
const hook = createHook({
  init: (id, type) => void (KINDS.test(type) && left.set(id, type)),
  destroy: (id) => void left.delete(id),
})

await using it = await folders()
hook.enable()
const script = [{ text: 'Hello.' }, { toolCalls: [{ name: 'note', input: {} }] }]
const manager = await createAgentManager(
  it.root,
  new NativeHarnessFactory({ model: scriptedModel(script), tools: noting('note', []), approvalTimeout: 3_600_000 }),
)
const agent = await manager.createAgent(it.project, { agentId: 'a' })
const session = await agent.createChatSession()
const said = textOf(await eventsOf(await session.chat('Hi', { budget: { ms: 3_600_000 } })))
await until(await session.chat('Go', { requireToolApproval: true }), 'tool-approval-request')
await manager.shutdown()
// The hooks report what was destroyed a little later.
for (let task = 0; task < 5; task++) await nextTask()
hook.disable()
process.stdout.write(`${said}\n${[...left.values()].join()}\n`)
