import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { MemoryStore } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'
import {
  createAgentManager,
  defineModel,
  NativeHarnessFactory,
  type HooksForAgent,
  type TelemetryEvent,
  type WireCommunicationEvent,
} from './index.ts'
import { observedModel } from './factories/observed-model.ts'
import { changedHarness, chatting, eventsOf, folders, noting, textOf, typesOf, until } from './sdk.fixture.ts'

const CALL = { toolCalls: [{ id: 'c', name: 'note', input: {} }] }

suite('an agent', () => {
  test('stays as it was if it cannot be destroyed', async () => {
    await using it = await folders()
    const own = new NativeHarnessFactory({ model: scriptedModel([]) })
    let isBroken = true
    const factory = changedHarness(own, (harness) => ({
      destroyAgent: (agentId) => (isBroken ? Promise.reject(new Error('Busy.')) : harness.destroyAgent(agentId)),
    }))
    await using manager = await createAgentManager(it.root, factory)
    const agent = await manager.createAgent(it.project, { agentId: 'a' })
    await assert.rejects(manager.destroyAgent('a'), /Busy/)
    assert.deepEqual(manager.getAgentIds(), ['a'])
    assert.ok(existsSync(join(it.root, 'agents', 'a.json')))
    assert.deepEqual(agent.getAgentConfig(), {})
    isBroken = false
    await manager.destroyAgent('a')
    assert.deepEqual(manager.getAgentIds(), [])
  })

  test('is gone after two calls at once that destroy it, and its id is free only then', async () => {
    await using it = await chatting([])
    const calls = [
      it.manager.destroyAgent('a'),
      it.agent.destroy(),
      it.manager.createAgent(it.project, { agentId: 'a' }),
    ]
    const [first, second, third] = await Promise.allSettled(calls)
    assert.deepEqual([first?.status, second?.status], ['fulfilled', 'fulfilled'])
    assert.ok(third?.status === 'rejected' && third.reason.type === 'AGENT_ALREADY_EXISTS')
    assert.deepEqual(readdirSync(join(it.root, 'agents')), [])
    const agent = await it.manager.createAgent(it.project, { agentId: 'a' })
    assert.deepEqual(agent.getChatSessionIds(), [])
  })

  test('has addresses and models of its own back after a restart', async () => {
    const modelId = defineModel({ id: 'own/model', contextWindow: 4_321, supportedFormats: null })
    const url = new URL('http://127.0.0.1:9/mcp')
    const mcpServers = { off: { type: 'remote', url, enabled: false } } as const
    await using it = await chatting([], { config: { modelId, mcpServers } })
    const manager = await it.restart()
    const agent = manager.getAgent('a')
    const { mcpServers: servers, modelId: restored } = agent.getAgentConfig()
    assert.deepEqual(restored, modelId)
    assert.deepEqual(servers, { off: { type: 'remote', url: url.href, enabled: false } })
    assert.deepEqual(
      agent.getMcpServerInfo().map(({ name, status }) => [name, status]),
      [['off', 'disabled']],
    )
    assert.equal(agent.getChatSession(it.session.getId()).getContextUsage().contextWindow, 4_321)
  })
})

suite('hooks', () => {
  test('belong to one agent, get its identity, and apply to results of the caller as well', async () => {
    const asked: Parameters<HooksForAgent>[0][] = []
    let isChanged = false
    const hooksForAgent: HooksForAgent = (agent) => {
      asked.push(agent)
      if (agent.agentId === 'broken') throw new Error('No hooks.')
      const result = isChanged ? 'cleaner' : 'clean'
      const hooks = { onToolResult: () => ({ result }), onSomethingNew: () => undefined }
      return agent.agentId === 'a' ? hooks : undefined
    }
    const tools = [{ name: 'ask', inputSchema: { type: 'object' } }]
    const question = { toolCalls: [{ id: 'q', name: 'ask', input: {} }] }
    await using it = await chatting(
      [question, { text: 'One.' }, question, { text: 'Two.' }, question, { text: 'Three.' }],
      {
        manager: { hooksForAgent },
        config: { name: 'Ann', tools },
      },
    )
    assert.deepEqual(asked, [{ agentId: 'a', projectRoot: it.project, config: { name: 'Ann', tools } }])
    const other = await (await it.manager.createAgent(it.project, { agentId: 'b', tools })).createChatSession()
    const results: unknown[] = []
    for (const session of [it.session, other]) {
      const turn = await session.chat('Go')
      await until(turn, 'tool-call')
      await session.submitToolResult({ toolCallId: 'q', toolName: 'ask', result: 'secret' })
      results.push((await until(turn, 'tool-result')).result)
      await eventsOf(turn)
    }
    assert.deepEqual(results, ['clean', 'secret'])
    // An update asks for the hooks again.
    isChanged = true
    await it.agent.updateAgentConfig()
    const turn = await it.session.chat('Go')
    await until(turn, 'tool-call')
    await it.session.submitToolResult({ toolCallId: 'q', toolName: 'ask', result: 'secret' })
    assert.equal((await until(turn, 'tool-result')).result, 'cleaner')
    await eventsOf(turn)
    await assert.rejects(it.manager.createAgent(it.project, { agentId: 'broken' }), /No hooks/)
    assert.deepEqual(it.manager.getAgentIds(), ['a', 'b'])
  })

  test('that cannot be had fail a restore and an update, which changes nothing', async () => {
    let isBroken = false
    const hooksForAgent: HooksForAgent = () => {
      if (isBroken) throw new Error('No hooks.')
      return { onToolResult: () => ({ result: 'clean' }) }
    }
    await using it = await chatting([CALL, { text: 'End.' }], {
      manager: { hooksForAgent },
      factory: { tools: noting('note', [], 'secret') },
      config: { name: 'Ann' },
    })
    isBroken = true
    await assert.rejects(it.agent.updateAgentConfig({ name: 'Bob' }), /No hooks/)
    assert.deepEqual(it.agent.getAgentConfig(), { name: 'Ann' })
    const result = await until(await it.session.chat('Go'), 'tool-result')
    assert.equal(result.result, 'clean')
    const manager = await it.restart()
    assert.deepEqual(manager.getAgentIds(), [])
    assert.deepEqual(
      manager.getRestoreFailures().map(({ agentId, error }) => [agentId, String(error)]),
      [['a', 'Error: No hooks.']],
    )
  })
})

suite('a factory', () => {
  test('declines approvals after its time limit, denies by its rules, and uses its store', async () => {
    const calls: unknown[] = []
    const store = new MemoryStore()
    await using it = await chatting([CALL, { text: 'Declined.' }, CALL, { text: 'Ran.' }], {
      factory: { tools: noting('note', calls), approvalTimeout: 50, store },
    })
    assert.equal(textOf(await eventsOf(await it.session.chat('Go', { requireToolApproval: true }))), 'Declined.')
    assert.deepEqual(calls, [])
    await eventsOf(await it.session.chat('Go'))
    assert.equal(calls.length, 1)
    assert.equal(existsSync(join(it.root, 'inspan.db')), false)
    const rules = { categories: {}, tools: { note: 'deny' as const }, patterns: [] }
    await using denied = await chatting([CALL, { text: 'Denied.' }], {
      factory: { tools: noting('note', calls), rules },
    })
    await eventsOf(await denied.session.chat('Go'))
    assert.equal(calls.length, 1)
    const allowing = { ...rules, tools: { note: 'allow' as const } }
    await using allowed = await chatting([CALL, { text: 'Ran.' }], {
      factory: { tools: noting('note', calls), rules: allowing },
    })
    const events = await eventsOf(await allowed.session.chat('Go', { requireToolApproval: true }))
    assert.deepEqual([calls.length, typesOf(events).includes('tool-approval-request')], [2, false])
  })
})

suite('reports', () => {
  test('show approvals and retries as telemetry', async () => {
    let now = 1_000
    await using it = await chatting([{ error: { status: 500 } }, CALL, { text: 'End.' }, CALL, { text: 'No.' }], {
      factory: { tools: noting('note', []), retry: { initialDelayMs: 1 } },
      manager: { now: () => now },
    })
    const telemetry: TelemetryEvent[] = []
    it.session.onTelemetry((event) => telemetry.push(event))
    const turn = await it.session.chat('Go', { requireToolApproval: true })
    await until(turn, 'tool-approval-request')
    now += 70
    await it.session.approveToolCall('c')
    await eventsOf(turn)
    const seen = telemetry.filter(({ type }) => type.startsWith('tool-approval') || type === 'llm-retry')
    assert.deepEqual(
      seen.map(({ type }) => type),
      ['llm-retry', 'tool-approval-requested', 'tool-approval-resolved'],
    )
    const [retry, , resolved] = seen
    assert.ok(retry?.type === 'llm-retry' && retry.attempt === 2 && retry.status === 500)
    assert.ok(resolved?.type === 'tool-approval-resolved' && resolved.decision === 'approved')
    assert.equal(resolved.waitedMs, 70)
    const declining = await it.session.chat('Go', { requireToolApproval: true })
    await until(declining, 'tool-approval-request')
    await it.session.declineToolCall('c')
    await eventsOf(declining)
    const declined = telemetry.findLast(({ type }) => type === 'tool-approval-resolved')
    assert.equal(declined?.type === 'tool-approval-resolved' && declined.decision, 'declined')
  })

  test('mask secrets in the headers of the wire', async () => {
    await using it = await chatting([{ text: 'Hi.', headers: { 'x-api-key': 'hush', 'x-plain': 'shown' } }])
    const events: WireCommunicationEvent[] = []
    it.manager.onWireCommunication((event) => events.push(event))
    await eventsOf(await it.session.chat('Hi'))
    const response = events.find((event) => event.type === 'llm-response')
    assert.deepEqual([response?.headers?.['x-api-key'], response?.headers?.['x-plain']], ['***', 'shown'])
    assert.doesNotMatch(JSON.stringify(events), /hush/)
    const requests: WireCommunicationEvent[] = []
    const wire = { isHeard: true, emit: (event: WireCommunicationEvent) => requests.push(event) }
    const model = observedModel(scriptedModel([{ text: 'Hi.' }]), { wire, agentId: 'a', sessionId: 's' })
    const secrets = ['Authorization', 'apikey', 'Set-Cookie', 'x-my-token', 'x-my-secret', 'x-my-password']
    const headers = Object.fromEntries(secrets.map((name) => [name, 'hush']))
    await model.doGenerate({ prompt: [], headers: { ...headers, 'x-plain': 'shown' } })
    const [request] = requests
    assert.ok(request?.type === 'llm-request')
    const expected = Object.fromEntries(secrets.map((name) => [name, '***']))
    assert.deepEqual(request.headers, { ...expected, 'x-plain': 'shown' })
  })

  test('never go to the console', async (t) => {
    const written = (['debug', 'log', 'info', 'warn', 'error'] as const).map((name) =>
      t.mock.method(console, name, () => undefined),
    )
    await using it = await chatting([{ error: { status: 400 } }, { text: 'Hi.' }])
    await eventsOf(await it.session.chat('Hi'))
    await eventsOf(await it.session.chat('Hi'))
    await it.restart()
    assert.equal(
      written.reduce((sum, { mock }) => sum + mock.callCount(), 0),
      0,
    )
  })
})

test('the context usage is empty after a restart until the next turn', async () => {
  const usage = { inputTokens: 10, outputTokens: 2 }
  await using it = await chatting([
    { text: 'One.', usage },
    { text: 'Two.', usage },
  ])
  await eventsOf(await it.session.chat('Hi'))
  assert.equal(it.session.getContextUsage().usage.inputTokens, 10)
  const manager = await it.restart()
  const session = manager.getAgent('a').getChatSession(it.session.getId())
  assert.deepEqual(session.getContextUsage().usage, {})
  await eventsOf(await session.chat('Hi'))
  assert.equal(session.getContextUsage().usage.inputTokens, 10)
})
