import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { TOOL_SERVER_NAME, type ToolServer } from '@inspan/protocol/driver'
import { McpServers, serveTools } from '@inspan/tools'
import { ForeignAgent, type Act } from '../../engine/foreign-agent.fixture.ts'
import { HarnessBench } from '../harness.fixture.ts'

const INPUT = { kilos: 2 }
const NAME = `mcp__${TOOL_SERVER_NAME}__weigh`

interface Reply {
  readonly result?: { readonly content: readonly { readonly text: string }[]; readonly isError?: boolean }
}

/** Calls a tool as programs do: over HTTP, by the MCP. */
async function post(
  { token, url }: ToolServer,
  method: string,
  params: object,
  headers: object = {},
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
}

async function callOf(server: ToolServer, params: object): Promise<Reply> {
  const text = await (await post(server, 'tools/call', params)).text()
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '{}') as Reply
}

/** A program that announces a call of our tool, makes it, and shows its result. */
function weighs(meta: object = {}, toolCallId = 'call-1'): Act {
  return async function* ({ toolServer }) {
    assert.ok(toolServer !== undefined)
    yield { type: 'step-start', stepIndex: 0 }
    const call = { toolCallId, toolName: NAME, serverName: TOOL_SERVER_NAME }
    const replying = callOf(toolServer, { name: 'weigh', arguments: INPUT, _meta: meta })
    yield { type: 'tool-call', ...call, args: INPUT }
    const { result } = await replying
    yield { type: 'tool-result', ...call, result: result?.content[0]?.text ?? '', isError: result?.isError === true }
    yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
  }
}

const weigh = (log: unknown[]): ReturnType<typeof createTool> =>
  createTool({
    id: 'weigh',
    description: 'Weighs.',
    category: 'other',
    execute: (input) => {
      log.push(input)
      return 'two kilos'
    },
  })

suite('a foreign agent that takes MCP servers', () => {
  test('is given our tools, whose calls are judged, asked about and recorded once', async () => {
    for (const meta of [{}, { 'claudecode/toolUseId': 'call-1' }]) {
      const log: unknown[] = []
      const agent = new ForeignAgent('cli', [weighs(meta)], { hostTools: 'mcp' })
      await using bench = new HarnessBench([], { agent, tools: { weigh: weigh(log) } })
      const asked = bench.next('tool_approval_required')
      const sent = bench.harness.sendMessage({ content: 'Go.' })
      const question = await asked
      assert.deepEqual([question.toolName, question.toolCallId, log], ['weigh', 'call-1', []])
      await bench.harness.session.respondToToolApproval({ decision: 'approve' })
      await sent
      assert.deepEqual(log, [INPUT])
      assert.equal(bench.all('tool_approval_required').length, 1)
      assert.deepEqual(
        bench.all('tool_end').map(({ result, toolCallId }) => [toolCallId, result]),
        [['call-1', 'two kilos']],
      )
      assert.deepEqual(bench.all('error'), [])
    }
  })

  test('does not get to run what a rule denies', async () => {
    const log: unknown[] = []
    const agent = new ForeignAgent('cli', [weighs()], { hostTools: 'mcp' })
    const permissions = { categories: { other: 'deny' } } as const
    await using bench = new HarnessBench([], { agent, tools: { weigh: weigh(log) }, permissions })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(log, [])
    assert.equal(bench.all('tool_end')[0]?.isError, true)
  })

  test('may be gone when the answer comes: the next program makes the call with it', async () => {
    const log: unknown[] = []
    const agent = new ForeignAgent('cli', [weighs(), weighs({}, 'call-2')], { hostTools: 'mcp' })
    await using bench = new HarnessBench([], { agent, tools: { weigh: weigh(log) }, parkAfter: 1 })
    const asked = bench.next('tool_approval_required')
    const ended = bench.next('agent_end')
    void bench.harness.sendMessage({ content: 'Go.' })
    await asked
    while (agent.closed === 0) await new Promise(setImmediate)
    assert.deepEqual(log, [])
    await bench.harness.session.respondToToolApproval({ decision: 'approve' })
    await ended
    // Answered from what is kept: nobody was asked or answered a second time, and the run has ended.
    assert.deepEqual([log, agent.turns.length], [[INPUT], 2])
    assert.equal(bench.all('tool_approval_required').length, 1)
  })

  test('reaches them with its token only, and from programs only', async () => {
    const seen: number[] = []
    const look: Act = async function* ({ toolServer }) {
      assert.ok(toolServer !== undefined)
      yield { type: 'step-start', stepIndex: 0 }
      for (const response of [
        await post({ ...toolServer, token: 'guessed' }, 'tools/list', {}),
        await post(toolServer, 'tools/list', {}, { origin: 'https://example.com' }),
        await post(toolServer, 'tools/list', {}),
      ]) {
        seen.push(response.status)
        await response.text()
      }
      yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
    }
    const agent = new ForeignAgent('cli', [look], { hostTools: 'mcp' })
    await using bench = new HarnessBench([], { agent, tools: { weigh: weigh([]) } })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(seen, [401, 403, 200])
  })

  test('has another token in every turn, and that of an ended turn is refused, by one listener for all', async () => {
    const servers: ToolServer[] = []
    const statuses: number[][] = []
    const look: Act = async function* ({ toolServer }) {
      assert.ok(toolServer !== undefined)
      servers.push(toolServer)
      yield { type: 'step-start', stepIndex: 0 }
      const seen: number[] = []
      for (const { token } of servers) {
        const response = await post({ ...toolServer, token }, 'tools/list', {})
        seen.push(response.status)
        await response.text()
      }
      statuses.push(seen)
      yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
    }
    const agent = new ForeignAgent('cli', [look, look, look], { hostTools: 'mcp' })
    const other = await serveTools({ list: async () => [], call: async () => ({ result: null }) })
    const bench = new HarnessBench([], { agent, tools: { weigh: weigh([]) } })
    for (const content of ['One.', 'Two.', 'Three.']) await bench.harness.sendMessage({ content })
    assert.deepEqual(statuses, [[200], [401, 200], [401, 401, 200]])
    // The program stayed: all three turns were its own.
    assert.equal(agent.opened, 1)
    assert.deepEqual(new Set(servers.map(({ url }) => url)), new Set([other.url]))
    const [{ token } = { token: '' }] = servers
    assert.equal((await post({ url: other.url, token }, 'ping', {})).status, 401)
    await bench.harness.destroy()
    other.revoke()
    await new Promise(setImmediate)
    await assert.rejects(post(other, 'ping', {}))
  })

  test('is served by something that an MCP client understands', async () => {
    const names: string[] = []
    const look: Act = async function* ({ toolServer }) {
      assert.ok(toolServer !== undefined)
      yield { type: 'step-start', stepIndex: 0 }
      const headers = { authorization: `Bearer ${toolServer.token}` }
      const servers = new McpServers({ ours: { type: 'remote', url: toolServer.url, headers } })
      await servers.settled()
      names.push(...(await servers.list()).map(({ name }) => name))
      await servers.close()
      yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
    }
    const agent = new ForeignAgent('cli', [look], { hostTools: 'mcp' })
    await using bench = new HarnessBench([], { agent, tools: { weigh: weigh([]) } })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.ok(names.includes('ours_weigh') && names.includes('ours_ask_user') && names.includes('ours_task_write'))
  })

  test('learns that a call has changed the list, and from the result if it does not read the list again', async () => {
    const offered = [{ name: 'search', inputSchema: {} }]
    const served = await serveTools({
      list: async () => [...offered],
      call: async () => {
        offered.push({ name: 'found', inputSchema: {} })
        return { result: 'You can call found.' }
      },
    })
    await (await post(served, 'tools/list', {})).text()
    const said = await (await post(served, 'tools/call', { name: 'search', arguments: {} })).text()
    served.revoke()
    const [change, reply, ...others] = [...said.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
    assert.deepEqual([change, others], [{ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }, []])
    assert.deepEqual(
      (reply as Reply).result?.content.map(({ text }) => text),
      ['You can call found.', 'Your list of tools has changed. What is not in it yet is there in your next turn.'],
    )
  })

  test('a foreign agent that takes no MCP servers is given none', async () => {
    const agent = new ForeignAgent('cli', [])
    await using bench = new HarnessBench([], { agent, tools: { weigh: weigh([]) } })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.equal(agent.turns[0]?.toolServer, undefined)
  })
})
