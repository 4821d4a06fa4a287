import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTool } from '@inspan/core'
import { scriptedModel, startProvider } from '@inspan/testing'
import { harnessTable, testHarnessFactory } from '@inspan/testing/contracts'
import { ApiKeyConnectivityResolver, createAgentManager, NativeHarnessFactory } from '../index.ts'
import { eventsOf, folders, textOf } from '../sdk.fixture.ts'

const tools = [
  createTool({ id: 'work', description: 'Works.', inputSchema: { type: 'object' }, execute: async () => 'done' }),
]

testHarnessFactory(
  (script) => {
    const model = scriptedModel(script)
    const factory = new NativeHarnessFactory({ model, tools })
    return {
      protocolVersion: factory.protocolVersion,
      create: (root) => factory.create(root),
      requests: () => model.requestBodies,
    }
  },
  {
    name: 'native',
    tool: { name: 'work' },
    onTable: (rows) => {
      const table = harnessTable('native', rows)
      assert.doesNotMatch(table, /failed|not possible/)
    },
  },
)

test('requests to a provider go the way that the factory was given', async () => {
  await using places = await folders()
  const provider = await startProvider([{ text: 'Hi.' }])
  try {
    const asked: string[] = []
    // As a proxy would: the address that the model's package asks for leads nowhere.
    const viaProxy: typeof fetch = (address, init) => {
      const { href, pathname } = new URL(address instanceof Request ? address.url : address)
      asked.push(href)
      return fetch(`${provider.url}${pathname}`, init)
    }
    const connectivityResolver = new ApiKeyConnectivityResolver({ apiKey: 'key', baseUrl: 'http://nowhere.invalid/v1' })
    const factory = new NativeHarnessFactory({ fetch: viaProxy })
    await using manager = await createAgentManager(places.root, factory, { connectivityResolver })
    const agent = await manager.createAgent(places.project, { modelId: 'anthropic/claude-sonnet-4-5' })
    const session = await agent.createChatSession()
    assert.equal(textOf(await eventsOf(await session.chat('Hi'))), 'Hi.')
    assert.deepEqual(asked, ['http://nowhere.invalid/v1/messages'])
  } finally {
    await provider.close()
  }
})
