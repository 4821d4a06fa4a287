/** What a chat can do beyond the documented page of the interface. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { scriptedModel, startProvider } from '@inspan/testing'
import {
  ApiKeyConnectivityResolver,
  createAgentManager,
  NativeHarnessFactory,
  type AgentManager,
  type ChatSession,
} from './index.ts'
import { chatting, eventsOf, folders, noting, textOf } from './sdk.fixture.ts'

suite('await using', () => {
  test('shuts a manager down at the end of its scope, and keeps its agents', async () => {
    await using it = await folders()
    const factory = new NativeHarnessFactory({ model: scriptedModel([{ text: 'One.' }]) })
    let kept: AgentManager
    let session: ChatSession
    {
      await using manager = await createAgentManager(it.root, factory)
      kept = manager
      session = await (await manager.createAgent(it.project, { agentId: 'a' })).createChatSession()
      assert.equal(textOf(await eventsOf(await session.chat('Hi'))), 'One.')
    }
    assert.throws(() => kept.getAgentIds(), { type: 'DISPOSED' })
    await assert.rejects(session.chat('Hi'), { type: 'DISPOSED' })
    await using next = await createAgentManager(it.root, factory)
    assert.deepEqual(next.getAgent('a').getChatSessionIds(), [session.getId()])
  })

  test('releases a session at the end of its scope, and keeps its history', async () => {
    await using it = await chatting([{ text: 'One.' }])
    const id = it.session.getId()
    {
      await using session = it.session
      assert.equal(textOf(await eventsOf(await session.chat('Hi'))), 'One.')
    }
    await assert.rejects(it.session.chat('Hi'), { type: 'DISPOSED' })
    const manager = await it.restart()
    assert.equal((await manager.getAgent('a').getChatSession(id).getMessageHistory()).length, 2)
  })

  test('releases an agent with its sessions and listeners, and destroys nothing', async () => {
    await using it = await chatting([{ text: 'Again.' }])
    const heard: string[] = []
    {
      await using agent = it.agent
      agent.onTelemetry(({ type }) => heard.push(type))
      await agent.updateAgentConfig({ name: 'Ann' })
    }
    assert.deepEqual(heard, ['agent-config-updated'])
    await assert.rejects(it.session.chat('Hi'), { type: 'DISPOSED' })
    assert.ok(existsSync(join(it.root, 'agents', 'a.json')))
    const again = it.manager.getAgent('a').getChatSession(it.session.getId())
    assert.equal(textOf(await eventsOf(await again.chat('Hi'))), 'Again.')
    assert.deepEqual(heard, ['agent-config-updated'])
  })
})

suite('options of a turn', () => {
  test('effort reaches the model, and a level that it does not have is refused', async () => {
    await using it = await chatting([{ text: 'One.' }])
    assert.equal(it.agent.getCapabilities().effort.includes('max'), false)
    await assert.rejects(it.session.chat('Hi', { effort: 'max' }), { type: 'UNSUPPORTED' })
    await assert.rejects(it.session.chat('Hi', { effort: 'most' as 'max' }), { type: 'INVALID_OPTIONS' })
    await eventsOf(await it.session.chat('Hi', { effort: 'high' }))
    assert.equal(it.model.requests.length, 1)
    assert.match(JSON.stringify(it.model.requests[0]), /"high"/)
  })

  test('a budget ends a turn that has used it up', async () => {
    const call = { toolCalls: [{ name: 'note', input: {} }], usage: { inputTokens: 90, outputTokens: 20 } }
    await using it = await chatting([call, { text: 'Too late.' }], { factory: { tools: noting('note', []) } })
    const events = await eventsOf(await it.session.chat('Hi', { budget: { tokens: 100 } }))
    const finish = events.at(-1)
    assert.equal(finish?.type === 'finish' && finish.finishReason, 'length')
    assert.equal(it.model.requests.length, 1)
    await assert.rejects(it.session.chat('Hi', { budget: { tokens: 0 } }), { type: 'INVALID_OPTIONS' })
  })

  test('model is that of the one turn', async () => {
    await using it = await folders()
    const provider = await startProvider([{ text: 'One.' }, { text: 'Two.' }])
    try {
      const asked: unknown[] = []
      const request: typeof fetch = (address, init) => {
        assert.ok(typeof init?.body === 'string')
        asked.push(JSON.parse(init.body).model)
        return fetch(address, init)
      }
      const connectivityResolver = new ApiKeyConnectivityResolver({ apiKey: 'key', baseUrl: `${provider.url}/v1` })
      const factory = new NativeHarnessFactory({ fetch: request })
      await using manager = await createAgentManager(it.root, factory, { connectivityResolver })
      const agent = await manager.createAgent(it.project, { modelId: 'anthropic/claude-sonnet-4-5' })
      const session = await agent.createChatSession()
      await eventsOf(await session.chat('Hi', { model: 'anthropic/claude-opus-4-5' }))
      await eventsOf(await session.chat('Hi'))
      assert.deepEqual(asked, ['claude-opus-4-5', 'claude-sonnet-4-5'])
    } finally {
      await provider.close()
    }
  })
})
