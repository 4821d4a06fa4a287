import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { suite, test } from 'node:test'
import type { Agent, MCPServerConfig, TelemetryEvent } from './index.ts'
import { chatting, eventsOf, textOf, until } from './sdk.fixture.ts'

const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json')
const EVERYTHING: MCPServerConfig = {
  type: 'stdio',
  command: process.execPath,
  args: [join(dirname(manifest), 'dist', 'index.js'), 'stdio'],
}

/** Resolves when the server is no longer being connected. */
async function settled(agent: Agent, name: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = agent.onTelemetry(({ type }) => {
    if (type === 'mcp-server-discovery-completed' || type === 'mcp-server-discovery-failed') resolve()
  })
  const status = (): string => agent.getMcpServerInfo().find((info) => info.name === name)?.status ?? 'missing'
  if (status() === 'connecting') await promise
  stop()
  return status()
}

suite('MCP servers of an agent', () => {
  test('offer their tools, which are called, approved and named by their server', async () => {
    await using it = await chatting(
      [{ toolCalls: [{ id: 'c', name: 'every_echo', input: { message: 'Hi' } }] }, { text: 'End.' }],
      { config: { mcpServers: { every: EVERYTHING, off: { ...EVERYTHING, enabled: false } } } },
    )
    assert.equal(await settled(it.agent, 'every'), 'connected')
    const [info, off] = it.agent.getMcpServerInfo()
    assert.deepEqual([off?.status, off?.tools], ['disabled', []])
    const echo = info?.tools.find(({ toolName }) => toolName === 'echo')
    assert.deepEqual([echo?.name, echo?.serverName], ['every_echo', 'every'])
    const result = await it.session.chat('Go', { requireToolApproval: true })
    const request = await until(result, 'tool-approval-request')
    assert.equal(request.serverName, 'every')
    assert.equal(request.toolCall.toolName, echo?.name)
    await it.session.approveToolCall('c')
    const answer = await until(result, 'tool-result')
    assert.match(JSON.stringify(answer.result), /Echo: Hi/)
    assert.equal(answer.serverName, 'every')
    assert.equal(textOf(await eventsOf(result)), 'End.')
  })

  test('stay connected over an update that does not change them, and can be reconnected', async () => {
    await using it = await chatting([], { config: { mcpServers: { every: EVERYTHING } } })
    await settled(it.agent, 'every')
    const seen: TelemetryEvent['type'][] = []
    it.agent.onTelemetry(({ type }) => seen.push(type))
    await it.agent.updateAgentConfig({ name: 'Bob', mcpServers: { every: { ...EVERYTHING } } })
    assert.deepEqual(seen, ['agent-config-updated'])
    const reconnected = it.agent.reconnectMcpServer('every')
    assert.equal(it.agent.getMcpServerInfo()[0]?.status, 'reconnecting')
    await reconnected
    assert.equal(it.agent.getMcpServerInfo()[0]?.status, 'connected')
    await assert.rejects(it.agent.reconnectMcpServer('nobody'), { type: 'MCP_SERVER_NOT_FOUND' })
    await assert.rejects(it.agent.refreshMcpAuth('every', { headers: {} }), { type: 'MCP_RECONNECT_FAILED' })
    await it.agent.updateAgentConfig({ mcpServers: {} })
    assert.deepEqual(it.agent.getMcpServerInfo(), [])
  })

  test('that fail do not fail the agent, and say why', async () => {
    const broken: MCPServerConfig = { type: 'stdio', command: process.execPath, args: ['-e', 'process.exit(3)'] }
    await using it = await chatting([{ text: 'Fine.' }], { config: { mcpServers: { broken } } })
    const failures: TelemetryEvent[] = []
    it.manager.onTelemetry((event) => failures.push(event))
    assert.equal(await settled(it.agent, 'broken'), 'error')
    const [info] = it.agent.getMcpServerInfo()
    assert.ok(info?.error !== undefined && info.errorDetail !== undefined)
    assert.equal(textOf(await eventsOf(await it.session.chat('Hi'))), 'Fine.')
    const failed = failures.find(({ type }) => type === 'mcp-server-discovery-failed')
    assert.ok(failed?.type === 'mcp-server-discovery-failed')
    assert.deepEqual(failed.errorDetail, info.errorDetail)
  })

  test('are restored with the agent', async () => {
    await using it = await chatting([], { config: { mcpServers: { every: EVERYTHING } } })
    const manager = await it.restart()
    assert.equal(await settled(manager.getAgent('a'), 'every'), 'connected')
  })
})
