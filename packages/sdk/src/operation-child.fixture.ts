/** Starts an operation whose tool appends a line to a file, and stays in the model call after it. Arguments: storage, project. */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTool, type ToolsInput } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'
import { createAgentManager, NativeHarnessFactory } from './index.ts'

export function appending(project: string): ToolsInput {
  return [
    createTool({
      id: 'append',
      description: 'Appends a line.',
      inputSchema: { type: 'object' },
      execute: async () => {
        appendFileSync(join(project, 'lines'), 'once\n')
        return 'appended'
      },
    }),
  ]
}

if (import.meta.main) {
  const [root = '', project = ''] = process.argv.slice(2)
  const model = scriptedModel([
    { toolCalls: [{ id: 'c', name: 'append', input: {} }] },
    { text: ['It is ', 'there'], hang: true },
  ])
  const factory = new NativeHarnessFactory({ model, tools: appending(project) })
  const manager = await createAgentManager(root, factory)
  const agent = await manager.createAgent(project, { agentId: 'a' })
  const session = await agent.createChatSession()
  const { eventStream } = await session.chat('Go', { operationId: 'op' })
  for await (const { type } of eventStream) if (type === 'text-delta') console.log(session.getId())
}
