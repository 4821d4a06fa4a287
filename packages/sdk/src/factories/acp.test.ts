import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { MemoryStore } from '@inspan/core'
import {
  AcpHarnessFactory,
  AntigravityHarnessFactory,
  ClaudeCodeHarnessFactory,
  ClineHarnessFactory,
  CodexHarnessFactory,
  createAgentManager,
  GooseHarnessFactory,
  KiloCodeHarnessFactory,
  OpencodeHarnessFactory,
  PiHarnessFactory,
  type AgentManager,
} from '../index.ts'
import { eventsOf, folders, textOf, until, type Folders } from '../sdk.fixture.ts'

const command = process.execPath
const args = [fileURLToPath(new URL('./acp-agent.fixture.ts', import.meta.url))]

async function manager(it: Folders): Promise<AgentManager> {
  return createAgentManager(it.root, new AcpHarnessFactory({ command, args, title: 'Stand-in' }))
}

suite('an agent of a program', () => {
  test('answers through the same session as any other', async () => {
    await using it = await folders()
    await using manages = await manager(it)
    const agent = await manages.createAgent(it.project, { agentId: 'a' })
    const session = await agent.createChatSession()
    const events = await eventsOf(await session.chat('Say hello'))
    assert.equal(textOf(events), 'You said: hello')
    assert.equal(events.at(-1)?.type, 'finish')
    assert.equal((await session.getMessageHistory()).length, 2)
  })

  test('asks before it acts if approval is required, and otherwise acts', async () => {
    await using it = await folders()
    await using manages = await manager(it)
    const session = await (await manages.createAgent(it.project, { agentId: 'a' })).createChatSession()
    const result = await session.chat('Please run it', { requireToolApproval: true })
    const { toolCall } = await until(result, 'tool-approval-request')
    assert.match(JSON.stringify(toolCall.args), /echo hi/)
    await session.approveToolCall(toolCall.toolCallId)
    assert.equal(textOf(await eventsOf(result)), 'Ran it.')
    const refused = await session.chat('Please run it', { requireToolApproval: true })
    await session.declineToolCall((await until(refused, 'tool-approval-request')).toolCall.toolCallId)
    assert.equal(textOf(await eventsOf(refused)), 'Did not run it.')
    const free = await eventsOf(await session.chat('Please run it'))
    assert.equal(textOf(free), 'Ran it.')
    assert.ok(free.every(({ type }) => type !== 'tool-approval-request'))
  })

  test('reports beforehand what it cannot do, and refuses it', async () => {
    await using it = await folders()
    await using manages = await manager(it)
    const agent = await manages.createAgent(it.project, { agentId: 'a' })
    const can = agent.getCapabilities()
    assert.equal(can.consumerTools, false)
    assert.equal(can.toolResultHook, false)
    assert.equal(can.approvals, 'asks-only')
    assert.equal(can.batchApprovals, false)
    const session = await agent.createChatSession()
    await assert.rejects(session.chat('Go', { requireToolApproval: 'batch' }), { type: 'UNSUPPORTED', hint: /serial/ })
    assert.deepEqual([can.attachments, can.maxSteps], ['none', false])
    const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' } as const
    await assert.rejects(session.chat([image]), { type: 'UNSUPPORTED', message: /images/ })
    await assert.rejects(session.addContext([{ id: 'm', role: 'user', content: [image] }]), { type: 'UNSUPPORTED' })
    await assert.rejects(session.chat('Go', { maxSteps: 3 }), { type: 'UNSUPPORTED', message: /maxSteps/ })
    assert.deepEqual(await session.getMessageHistory(), [])
    const tools = [{ name: 't', inputSchema: { type: 'object' } }]
    await assert.rejects(manages.createAgent(it.project, { agentId: 'b', tools }), { type: 'UNSUPPORTED' })
    assert.deepEqual(manages.getAgentIds(), ['a'])
  })

  test('has the settings of its factory', async () => {
    await using it = await folders()
    const store = new MemoryStore()
    const factory = new AcpHarnessFactory({ command, args, title: 'Stand-in', approvalTimeout: 50, store })
    await using manages = await createAgentManager(it.root, factory)
    const session = await (await manages.createAgent(it.project, { agentId: 'a' })).createChatSession()
    const declined = await session.chat('Please run it', { requireToolApproval: true })
    assert.equal(textOf(await eventsOf(declined)), 'Did not run it.')
    assert.deepEqual(await readdir(it.root), ['agents', 'manager.lock'])
  })

  test('an agent of a program that is not installed cannot be created, and the error gives the reason', async () => {
    await using it = await folders()
    const missing = new AcpHarnessFactory({ command: '/nowhere/agent' })
    await using manages = await createAgentManager(it.root, missing)
    await assert.rejects(manages.createAgent(it.project, { agentId: 'a' }), /nowhere/)
    assert.deepEqual(manages.getAgentIds(), [])
  })
})

test('every program has a factory of its own, which stores under its own name', async () => {
  const factories = {
    'claude-code': new ClaudeCodeHarnessFactory(),
    codex: new CodexHarnessFactory(),
    cline: new ClineHarnessFactory(),
    goose: new GooseHarnessFactory(),
    'kilo-code': new KiloCodeHarnessFactory(),
    opencode: new OpencodeHarnessFactory(),
    pi: new PiHarnessFactory(),
    antigravity: new AntigravityHarnessFactory(),
    acp: new AcpHarnessFactory({ command }),
  }
  await using it = await folders()
  for (const [id, factory] of Object.entries(factories)) {
    const harness = await factory.create(it.root)
    assert.equal(harness.id, id)
    assert.equal(harness.protocolVersion, factory.protocolVersion)
    await harness.shutdown()
  }
})
