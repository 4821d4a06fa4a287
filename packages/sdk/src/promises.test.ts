import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { open, readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as sdk from './index.ts'
import { AcpHarnessFactory, createAgentManager, type LogRecord } from './index.ts'
import { chatting, eventsOf, folders, textOf, typesOf } from './sdk.fixture.ts'

/** A program that speaks the Agent Client Protocol. */
const PROGRAM = [fileURLToPath(new URL('./factories/acp-agent.fixture.ts', import.meta.url))]

const NAMES =
  'createAgentManager AgentSDKError AgentSDKErrorType DEFAULT_MAX_STEPS resolveToolApprovalMode createClaudeModel ' +
  'McpServerStatus DefaultAgentConnectivityResolver ApiKeyConnectivityResolver AgentManager Agent ChatSession ' +
  'ChatStreamResult ChatEvent RestoreFailure AgentConfig StreamOptions ToolApprovalMode MCPConfiguration ' +
  'MCPServerConfig MCPStdioServerConfig MCPRemoteServerConfig McpServerInfo McpServerErrorDetail ' +
  'McpServerErrorCategory McpToolInfo McpToolAnnotations ToolDefinition ToolCallInfo ToolResultInfo Message ' +
  'MessagePart UsageMetadata ContextUsage FinishReason AgentConnectivityResolver HooksForAgent AgentHooks LogRecord ' +
  'TelemetryEventCallback WireCommunicationEventCallback Unsubscribe AgentHarness HarnessFactory ConfigOf ' +
  'WithAgentConfig ModelName Model OrgConnection StartEvent TextDeltaEvent ReasoningDeltaEvent ToolCallEvent ' +
  'ToolCallDeltaEvent ToolApprovalRequestEvent ToolResultEvent ToolProgressEvent StepStartEvent StepFinishEvent ' +
  'ErrorEvent FinishEvent TextPart ReasoningPart ToolCallPart ToolResultPart ImagePart FilePart'

/** The values. None of them is the class of managers, agents or sessions: `createAgentManager` makes those. */
const VALUES =
  'AcpHarnessFactory AgentSDKError AgentSDKErrorType AntigravityHarnessFactory ApiKeyConnectivityResolver ' +
  'ClaudeCodeHarnessFactory ClineHarnessFactory CodexHarnessFactory DEFAULT_MAX_STEPS DEFAULT_MODEL_LIMITS ' +
  'DefaultAgentConnectivityResolver EnvConnectivityResolver GooseHarnessFactory KiloCodeHarnessFactory ' +
  'McpServerErrorCategory McpServerStatus Models NativeHarnessFactory OpencodeHarnessFactory PiHarnessFactory ' +
  'SUPPORTED_PROTOCOL_VERSIONS createAgentManager createClaudeModel defineModel priceOf resolveToolApprovalMode'

test('everything that the page names is exported', () => {
  const text = readFileSync(new URL('./index.ts', import.meta.url), 'utf8')
  const exported = new Set([...text.matchAll(/(\w+)(?=,?\s*\}|,)/g)].map(([name]) => name))
  assert.deepEqual(
    NAMES.split(' ').filter((name) => !exported.has(name)),
    [],
  )
  assert.equal(Object.keys(sdk).toSorted().join(' '), VALUES)
})

test('the clock and the ids of a manager can be set from outside', async () => {
  let now = 1_000
  const ids = ['first', 'second']
  const options = { now: () => now++, newId: () => ids.shift() ?? assert.fail('too many ids') }
  await using it = await chatting([{ text: 'Hi.' }], { manager: options })
  const { agentId } = await it.manager.createAgent(it.project).then((agent) => ({ agentId: agent.getId() }))
  assert.equal(agentId, 'first')
  const times: number[] = []
  it.manager.onTelemetry(({ timestamp }) => times.push(timestamp))
  it.session.subscribe(() => {
    throw new Error('A broken subscriber.')
  })
  it.manager.onLog(({ timestamp }) => times.push(timestamp))
  await it.manager.createAgent(it.project)
  await it.session.addContext('Hi')
  times.push((await it.session.getMessageHistory())[0]?.createdAt?.getTime() ?? Infinity)
  await eventsOf(await it.session.chat('Hi'))
  assert.ok(times.length > 5 && times.every((time) => time < 2_000), times.join())
})

test('the file of an agent is replaced as a whole: a reader of the old one still has all of it', async () => {
  await using it = await chatting([])
  const path = join(it.root, 'agents', 'a.json')
  const old = await readFile(path, 'utf8')
  const reader = await open(path)
  await it.agent.updateAgentConfig({ name: 'Another name, which makes the file longer' })
  const read = await reader.readFile('utf8')
  await reader.close()
  assert.equal(read, old)
  assert.match(await readFile(path, 'utf8'), /Another name/)
  assert.deepEqual(await readdir(dirname(path)), ['a.json'])
})

test('tokens of reasoning are counted', async () => {
  await using it = await chatting([{ text: 'Hi.', usage: { inputTokens: 5, outputTokens: 9, reasoningTokens: 4 } }])
  const counts = (await eventsOf(await it.session.chat('Hi'))).flatMap((event) =>
    event.type === 'step-finish' || event.type === 'finish' ? [event.usage?.reasoningTokens] : [],
  )
  assert.deepEqual(counts, [4, 4])
})

suite('a program', () => {
  test('output that is not understood is not shown, is logged for debugging, and the turn continues', async () => {
    await using it = await folders()
    const factory = new AcpHarnessFactory({ command: process.execPath, args: PROGRAM })
    await using manager = await createAgentManager(it.root, factory)
    const agent = await manager.createAgent(it.project, { agentId: 'a' })
    const session = await agent.createChatSession()
    const heard: Record<string, LogRecord[]> = { manager: [], agent: [], session: [] }
    manager.onLog((record) => heard['manager']?.push(record))
    agent.onLog((record) => heard['agent']?.push(record))
    session.onLog((record) => heard['session']?.push(record))
    const events = await eventsOf(await session.chat('Something odd'))
    assert.deepEqual([textOf(events), events.at(-1)?.type], ['You said: g odd', 'finish'])
    assert.ok(typesOf(events).every((type) => /^(start|step-start|text-delta|step-finish|finish)$/.test(type)))
    for (const [place, records] of Object.entries(heard)) {
      const found = records.find(({ context }) => JSON.stringify(context?.['rawChunk'])?.includes('from_the_future'))
      assert.deepEqual([found?.level, typeof found?.context?.['chunkType']], ['debug', 'string'], place)
    }
  })

  test('a program that cannot show its requests reports that to wire listeners', async () => {
    await using it = await folders()
    const factory = new AcpHarnessFactory({ command: process.execPath, args: PROGRAM })
    await using manager = await createAgentManager(it.root, factory)
    const agent = await manager.createAgent(it.project, { agentId: 'a' })
    assert.equal(agent.getCapabilities().wire, false)
    const session = await agent.createChatSession()
    const seen: unknown[] = []
    const stop = manager.onWireCommunication(({ agentId, sessionId, type }) => seen.push([type, agentId, sessionId]))
    await eventsOf(await session.chat('Say hello'))
    stop()
    await eventsOf(await session.chat('Say hello'))
    assert.deepEqual(seen, [['wire-monitoring-not-supported', 'a', session.getId()]])
  })
})

suite('tools', () => {
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json')
  const args = [join(dirname(manifest), 'dist', 'index.js'), 'stdio']
  const mcpServers = { every: { type: 'stdio', command: process.execPath, args } } as const

  test('tools of a server whose names are taken by the caller’s tools are reported and not offered', async () => {
    const tools = [{ name: 'every_echo', inputSchema: { type: 'object' } }]
    await using it = await chatting([{ text: 'Hi.' }], { config: { mcpServers, tools } })
    const warnings: string[] = []
    it.manager.onLog(({ level, message }) => void (level === 'warn' && warnings.push(message)))
    await eventsOf(await it.session.chat('Hi'))
    assert.match(warnings.join('\n'), /every_echo/)
    const offered = JSON.stringify(it.model.requests[0]).split('"every_echo"').length - 1
    assert.equal(offered, 1)
  })
})
