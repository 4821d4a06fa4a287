import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { suite, test } from 'node:test'
import type { ModelTurn } from '@inspan/testing'
import {
  McpServerStatus,
  type Agent,
  type AgentHooks,
  type ChatEvent,
  type MCPServerConfig,
  type TelemetryEvent,
} from './index.ts'
import { chatting, eventsOf, noting, textOf, until } from './sdk.fixture.ts'

const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json')
const EVERYTHING: MCPServerConfig = {
  type: 'stdio',
  command: process.execPath,
  args: [join(dirname(manifest), 'dist', 'index.js'), 'stdio'],
}

/** Resolves when the server is no longer being connected. */
async function settled(agent: Agent, name: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = agent.onTelemetry((event) => {
    const isOver = event.type === 'mcp-server-discovery-completed' || event.type === 'mcp-server-discovery-failed'
    if (isOver && event.serverName === name) resolve()
  })
  const status = (): string => agent.getMcpServerInfo().find((info) => info.name === name)?.status ?? 'missing'
  if (status() === 'connecting') await promise
  stop()
  return status()
}

/** A remote server that knows one token and has no tools. */
async function tokenServer(token: string): Promise<Server> {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      if (request.headers.authorization !== `Bearer ${token}`) return response.writeHead(401).end()
      if (request.method !== 'POST') return response.writeHead(405).end()
      const { id, method, params } = JSON.parse(body)
      if (id === undefined) return response.writeHead(202).end()
      const { protocolVersion } = params ?? {}
      const hello = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'remote', version: '1' } }
      const reply =
        method === 'initialize'
          ? { result: hello }
          : method === 'tools/list'
            ? { result: { tools: [] } }
            : { error: { code: -32601, message: 'Method not found' } }
      response.setHeader('content-type', 'application/json')
      return response.end(JSON.stringify({ jsonrpc: '2.0', id, ...reply }))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

suite('MCP servers of an agent', () => {
  test('report their discovery, and end with their agent', async () => {
    await using it = await chatting([])
    const pidFile = join(it.root, 'pid')
    const notePid = `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(pidFile)}, String(process.pid))`
    const args = ['--import', `data:text/javascript,${encodeURIComponent(notePid)}`, ...(EVERYTHING.args ?? [])]
    const found = Promise.withResolvers<TelemetryEvent>()
    it.manager.onTelemetry((event) => {
      if (event.type === 'mcp-server-discovery-completed') found.resolve(event)
    })
    const mcpServers = { every: { ...EVERYTHING, args } }
    const agent = await it.manager.createAgent(it.project, { agentId: 'b', mcpServers })
    const event = await found.promise
    assert.ok(event.type === 'mcp-server-discovery-completed')
    assert.equal(event.agentId, 'b')
    assert.equal(event.serverName, 'every')
    assert.equal(event.toolCount, agent.getMcpServerInfo()[0]?.tools.length)
    assert.ok(event.toolCount > 0 && event.durationMs > 0)
    const pid = Number(await readFile(pidFile, 'utf8'))
    assert.ok(process.kill(pid, 0))
    await it.manager.destroyAgent('b')
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
  })

  test('take other credentials while others stay connected', async () => {
    const server = await tokenServer('new')
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const remote: MCPServerConfig = { type: 'remote', url, headers: { authorization: 'Bearer old' } }
      await using it = await chatting([], { config: { mcpServers: { every: EVERYTHING, remote } } })
      await settled(it.agent, 'every')
      assert.equal(await settled(it.agent, 'remote'), 'error')
      const touched: string[] = []
      it.agent.onTelemetry((event) => {
        if ('serverName' in event) touched.push(event.serverName ?? '')
      })
      await it.agent.refreshMcpAuth('remote', { headers: { authorization: 'Bearer new' } })
      assert.equal(await settled(it.agent, 'remote'), 'connected')
      assert.deepEqual([...new Set(touched)], ['remote'])
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  test('offer their tools, which are called, approved and named by their server', async () => {
    await using it = await chatting(
      [
        { toolCalls: [{ id: 'c', name: 'every_echo', input: { message: 'Hi' } }] },
        { toolCalls: [{ id: 'own', name: 'note', input: {} }] },
        { text: 'End.' },
      ],
      {
        config: { mcpServers: { every: EVERYTHING, off: { ...EVERYTHING, enabled: false } } },
        factory: { tools: noting('note', []) },
      },
    )
    const telemetry: TelemetryEvent[] = []
    it.agent.onTelemetry((event) => telemetry.push(event))
    assert.equal(await settled(it.agent, 'every'), 'connected')
    const [info, off] = it.agent.getMcpServerInfo()
    assert.deepEqual([off?.status, off?.tools], ['disabled', []])
    const echo = info?.tools.find(({ toolName }) => toolName === 'echo')
    assert.deepEqual([echo?.name, echo?.serverName], ['every_echo', 'every'])
    const result = await it.session.chat('Go', { requireToolApproval: true })
    const called = await until(result, 'tool-call')
    const request = await until(result, 'tool-approval-request')
    assert.equal(request.toolCall.toolName, echo?.name)
    await it.session.approveToolCall('c')
    const answer = await until(result, 'tool-result')
    assert.match(JSON.stringify(answer.result), /Echo: Hi/)
    for (const event of [called, request, answer]) {
      assert.equal(event?.serverName, 'every')
      assert.deepEqual(event?.annotations, echo?.annotations)
    }
    assert.deepEqual([called?.toolName, answer.toolName], [echo?.name, echo?.name])
    assert.deepEqual(Object.values(McpServerStatus), ['connected', 'connecting', 'disabled', 'error', 'reconnecting'])
    // A tool of another source has no server.
    const own: ChatEvent[] = [await until(result, 'tool-call'), await until(result, 'tool-approval-request')]
    await it.session.approveToolCall('own')
    own.push(await until(result, 'tool-result'))
    for (const event of own) assert.deepEqual(['serverName' in event, 'annotations' in event], [false, false])
    assert.equal(textOf(await eventsOf(result)), 'End.')
    const servers = telemetry
      .filter(({ type }) => type.startsWith('tool-'))
      .flatMap((event) => ('serverName' in event && event.serverName !== undefined ? [event.serverName] : []))
    assert.deepEqual(servers, ['every', 'every', 'every', 'every'])
    const calls = telemetry.flatMap((event) => (event.type === 'mcp-tool-call-completed' ? [event] : []))
    assert.deepEqual(
      calls.map(({ isError, serverName, toolName }) => [serverName, toolName, isError]),
      [['every', 'echo', false]],
    )
  })

  test('have their results changed by the hook as well', async () => {
    const seen: unknown[] = []
    const hooks: AgentHooks = {
      onToolResult: ({ serverName, toolName }) => {
        seen.push([serverName, toolName])
        return { result: 'clean' }
      },
    }
    const script = [{ toolCalls: [{ id: 'c', name: 'every_echo', input: { message: 'dirty' } }] }, { text: 'End.' }]
    await using it = await chatting(script, {
      config: { mcpServers: { every: EVERYTHING } },
      manager: { hooksForAgent: () => hooks },
    })
    await settled(it.agent, 'every')
    const result = await it.session.chat('Go')
    assert.equal((await until(result, 'tool-result')).result, 'clean')
    await eventsOf(result)
    assert.deepEqual(seen, [['every', 'every_echo']])
    assert.doesNotMatch(JSON.stringify(it.model.requests[1]), /Echo: dirty/)
  })

  test('a remembered approval of their tool holds for this tool of this server', async () => {
    const echo = (id: string, name: string): ModelTurn => ({ toolCalls: [{ id, name, input: { message: id } }] })
    const script = [echo('a', 'every_echo'), echo('b', 'every_echo'), echo('c', 'other_echo'), { text: 'End.' }]
    await using it = await chatting(script, {
      config: { mcpServers: { every: EVERYTHING, other: EVERYTHING } },
    })
    const { eventStream } = await it.session.chat('Go', { requireToolApproval: true })
    const seen: string[] = []
    for await (const event of eventStream) {
      if (event.type === 'tool-result') seen.push(`${event.toolCallId} done`)
      if (event.type !== 'tool-approval-request') continue
      seen.push(`${event.toolCall.toolCallId} asked`)
      await it.session.approveToolCall(event.toolCall.toolCallId, { remember: true })
    }
    assert.deepEqual(seen, ['a asked', 'a done', 'b done', 'c asked', 'c done'])
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
    assert.deepEqual(seen.slice(1).toSorted(), [
      'mcp-server-discovery-completed',
      'mcp-server-discovery-started',
      'mcp-server-reconnect-completed',
      'mcp-server-reconnect-started',
    ])
    assert.equal(it.agent.getMcpServerInfo()[0]?.status, 'connected')
    await assert.rejects(it.agent.reconnectMcpServer('nobody'), { type: 'MCP_SERVER_NOT_FOUND' })
    await assert.rejects(it.agent.refreshMcpAuth('every', { headers: {} }), { type: 'MCP_RECONNECT_FAILED' })
    const off: MCPServerConfig = { ...EVERYTHING, enabled: false }
    const changed: MCPServerConfig = { ...EVERYTHING, timeout: 50_000 }
    seen.length = 0
    await it.agent.updateAgentConfig({ mcpServers: { every: changed, more: EVERYTHING, off } })
    for (const name of ['every', 'more']) assert.equal(await settled(it.agent, name), 'connected')
    assert.equal(seen.filter((type) => type === 'mcp-server-discovery-completed').length, 2)
    await assert.rejects(it.agent.reconnectMcpServer('off'), { type: 'MCP_RECONNECT_FAILED' })
    await it.agent.updateAgentConfig({ mcpServers: {} })
    assert.deepEqual(it.agent.getMcpServerInfo(), [])
  })

  test('MCP servers of an agent that fail do not fail the agent, and report why', async () => {
    const words = 'console.error("Error: no disk at /secret/place/x.ts:3:4"); process.exit(3)'
    const broken: MCPServerConfig = { type: 'stdio', command: process.execPath, args: ['-e', words] }
    await using it = await chatting([{ text: 'Fine.' }], { config: { mcpServers: { broken } } })
    const failures: TelemetryEvent[] = []
    it.manager.onTelemetry((event) => failures.push(event))
    // The agent is there before its servers are.
    assert.equal(it.agent.getMcpServerInfo()[0]?.status, 'connecting')
    assert.equal(await settled(it.agent, 'broken'), 'error')
    const [info] = it.agent.getMcpServerInfo()
    assert.ok(info?.error !== undefined && !info.error.includes('/secret'))
    assert.deepEqual(info.errorDetail, { category: 'transport-eof', retriable: true })
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
