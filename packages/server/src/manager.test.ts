import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { connect, type ClientState } from '@inspan/client'
import { createTool, Harness } from '@inspan/core'
import { createAgentManager, NativeHarnessFactory, type AgentManager } from '@inspan/sdk'
import { scriptedModel } from '@inspan/testing'
import { z } from 'zod'
import { serve } from './serve.ts'
import { stateWhere } from './client-state.fixture.ts'

const note = createTool({
  id: 'note',
  description: 'Writes a note.',
  inputSchema: z.object({ text: z.string() }),
  execute: async ({ text }) => `noted ${text}`,
})

async function managed(t: TestContext, script: Parameters<typeof scriptedModel>[0]): Promise<AgentManager> {
  const folder = mkdtempSync(join(tmpdir(), 'inspan-manager-'))
  const factory = new NativeHarnessFactory({ model: scriptedModel(script), tools: { note } })
  const manager = await createAgentManager(folder, factory)
  t.after(async () => {
    await manager.shutdown()
    rmSync(folder, { recursive: true, force: true })
  })
  return manager
}

const texts = ({ messages }: ClientState): string[] => messages.map(({ content, role }) => `${role}: ${content}`)

describe('serve({ manager })', () => {
  it('shows the sessions of all agents, and both sides see what the other does', async (t) => {
    const manager = await managed(t, [{ text: 'From the SDK.' }, { text: 'From the client.' }])
    const agent = await manager.createAgent(tmpdir(), { agentId: 'ann' })
    const session = await agent.createChatSession()
    const server = await serve({ manager })
    const client = await connect({ url: server.url, token: server.token, thread: session.getId() })
    const { eventStream } = await session.chat('Hello')
    for await (const _event of eventStream) void _event
    const seen = await stateWhere(client, ({ head }) => head.lastRun !== null)
    assert.deepEqual(texts(seen), ['user: Hello', 'assistant: From the SDK.'])

    const { runId } = await client.send({ type: 'submit', prompt: 'And now?' }).receipt
    await stateWhere(client, ({ head }) => head.lastRun?.runId === runId)
    const history = await session.getMessageHistory()
    assert.equal(JSON.stringify(history.at(-1)?.content).includes('From the client.'), true)
    assert.deepEqual(
      (await client.routes.agents()).map(({ id }) => id),
      ['ann'],
    )
    assert.deepEqual(
      (await client.routes.threads()).threads.map(({ id }) => id),
      [session.getId()],
    )
    await client.close()
    await server.close()
  })

  it('asks clients that chose to be asked; without a choice everything runs, as in the SDK', async (t) => {
    const call = { toolCalls: [{ name: 'note', input: { text: 'x' } }] }
    const manager = await managed(t, [call, { text: 'One.' }, call, { text: 'Two.' }])
    await manager.createAgent(tmpdir(), { agentId: 'ann' })
    const server = await serve({ manager })
    const client = await connect({ url: server.url, token: server.token })
    const first = await client.send({ type: 'submit', prompt: 'Note' }).receipt
    await stateWhere(client, ({ head }) => head.lastRun?.runId === first.runId)
    await client.send({ type: 'configure', config: { permissionMode: 'default' } }).receipt
    const second = await client.send({ type: 'submit', prompt: 'Note again' }).receipt
    const { pendingApprovals } = await stateWhere(client, ({ status }) => status === 'awaiting-approval')
    await client.send({ type: 'approve', toolCallId: pendingApprovals?.[0]?.toolCallId ?? '' }).receipt
    const over = await stateWhere(client, ({ head }) => head.lastRun?.runId === second.runId)
    assert.equal(texts(over).at(-1), 'assistant: Two.')
    await client.close()
    await server.close()
  })

  it('keeps a session with its agent: another one is refused, known or not', async (t) => {
    const manager = await managed(t, [{ text: 'From Ann.' }])
    const ann = await manager.createAgent(tmpdir(), { agentId: 'ann' })
    await manager.createAgent(tmpdir(), { agentId: 'ben' })
    const session = await ann.createChatSession()
    const server = await serve({ manager })
    const client = await connect({ url: server.url, token: server.token, thread: session.getId() })
    const choose = (agent: string) => client.send({ type: 'configure', config: { agent } }).receipt
    assert.deepEqual(await Promise.all([choose('ben'), choose('nobody')].map(async (sent) => (await sent).status)), [
      'rejected',
      'rejected',
    ])
    const { runId } = await client.send({ type: 'submit', prompt: 'Who are you?' }).receipt
    const { head } = await stateWhere(client, (state) => state.head.lastRun?.runId === runId)
    assert.equal(head.agentId ?? 'ann', 'ann')
    await client.close()
    await server.close()
  })

  it('forks and deletes sessions', async (t) => {
    const manager = await managed(t, [{ text: 'One.' }])
    await manager.createAgent(tmpdir(), { agentId: 'ann' })
    const server = await serve({ manager })
    const client = await connect({ url: server.url, token: server.token })
    const { runId } = await client.send({ type: 'submit', prompt: 'Hi' }).receipt
    await stateWhere(client, ({ head }) => head.lastRun?.runId === runId)
    const { thread } = client.getState()
    const fork = await client.routes.forkThread(thread, { title: 'F' })
    assert.equal((await client.routes.threads()).threads.length, 2)
    await client.routes.deleteThread(fork.id)
    assert.deepEqual(
      (await client.routes.threads()).threads.map(({ id }) => id),
      [thread],
    )
    await client.close()
    await server.close()
  })

  it('is refused together with a harness, and without either', async (t) => {
    const manager = await managed(t, [])
    const harness = new Harness({ id: 'h', modes: [{ id: 'm', defaultModelId: 'a/b' }] })
    await assert.rejects(serve({ manager, harness }), /not both/)
    await assert.rejects(serve({}), /either/)
    await harness.destroy()
  })
})
