import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { MCPServerConfig } from '@inspan/protocol/chat'
import type { AgentEvent, JsonObject } from '@inspan/protocol'
import { TOOL_SERVER_NAME, type SourcedTool, type ToolRunContext, type ToolSource } from '@inspan/protocol/driver'
import { MemoryStore } from '@inspan/stores'
import { McpServers } from '@inspan/tools'
import { ForeignAgent, type Act } from '../../engine/foreign-agent.fixture.ts'
import { HarnessBench } from '../harness.fixture.ts'

const DISABLED = [
  'ask_user',
  'submit_plan',
  'task_write',
  'task_update',
  'task_complete',
  'task_check',
  'request_access',
] as const

const MANY: readonly SourcedTool[] = [
  ...Array.from({ length: 299 }, (_, index) => ({
    name: `store_item_${index}`,
    description: `Handles item ${index} of the store.`,
    inputSchema: { type: 'object', properties: { amount: { type: 'number' } } },
    serverName: 'store',
  })),
  {
    name: 'post_send_parcel',
    description: 'Sends a parcel by post.',
    inputSchema: { type: 'object' },
    serverName: 'post',
  },
]

const many: ToolSource = {
  id: 'many',
  list: () => MANY,
  call: async (name) => ({ result: `${name} is done` }),
  close: async () => undefined,
}

function runContext(): ToolRunContext {
  const ids = { idempotencyKey: 'k', toolCallId: 'c', runId: 'r', turnId: 't', threadId: 'th', agentId: 'cli' }
  return { ...ids, signal: new AbortController().signal, progress: () => undefined }
}

const offered = ({ model }: HarnessBench, step: number): string[] =>
  ((model.requests[step]?.tools ?? []) as readonly { readonly name: string }[]).map(({ name }) => name)

const search = (query: string): object => ({ toolCalls: [{ id: 's', name: 'search_tools', input: { query } }] })

suite('300 tools behind a search', () => {
  test('cost a model one, and what it finds stays with the thread after a restart', async () => {
    const storage = new MemoryStore()
    const config = {
      storage,
      toolSources: [many],
      toolSearch: {},
      disableBuiltinTools: DISABLED,
      initialState: { yolo: true },
    }
    const bench = new HarnessBench(
      [search('send a parcel'), { toolCalls: [{ id: 'p', name: 'post_send_parcel', input: {} }] }, { text: 'Sent.' }],
      config,
    )
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(offered(bench, 0), ['search_tools'])
    assert.ok(JSON.stringify(bench.model.requests[0]?.tools).length < 1_000)
    assert.deepEqual(offered(bench, 1), ['search_tools', 'post_send_parcel'])
    const results = bench.all('tool_end').map(({ result }) => String(result))
    assert.match(results[0] ?? '', /^You can call these from now on:\npost_send_parcel: Sends a parcel by post\.$/)
    assert.equal(results[1], 'post_send_parcel is done')
    const threadId = bench.harness.session.thread.getId() ?? ''
    await bench.harness.destroy()

    await using later = new HarnessBench([{ text: 'Yes.' }], config)
    await later.harness.switchThread({ threadId })
    await later.harness.sendMessage({ content: 'Still there?' })
    assert.deepEqual(offered(later, 0), ['search_tools', 'post_send_parcel'])
  })

  test('are found and called by a foreign agent in one turn, which learns that the list has changed', async () => {
    const lists: string[][] = []
    let sent: unknown
    const finds: Act = async function* ({ toolServer }) {
      assert.ok(toolServer !== undefined)
      yield { type: 'step-start', stepIndex: 0 }
      const headers = { authorization: `Bearer ${toolServer.token}` }
      const servers = new McpServers({ ours: { type: 'remote', url: toolServer.url, headers } })
      await servers.settled()
      const listed = async (): Promise<string[]> => (await servers.list()).map(({ name }) => name)
      lists.push(await listed())
      const call = async function* (name: string, args: JsonObject): AsyncGenerator<AgentEvent, unknown> {
        const announced = {
          toolCallId: name,
          toolName: `mcp__${TOOL_SERVER_NAME}__${name}`,
          serverName: TOOL_SERVER_NAME,
        }
        const replying = servers.call(`ours_${name}`, args, runContext())
        yield { type: 'tool-call', ...announced, args }
        const outcome = await replying
        yield { type: 'tool-result', ...announced, result: 'result' in outcome ? outcome.result : null, isError: false }
        return outcome
      }
      yield* call('search_tools', { query: 'send a parcel' })
      // The program has read the list again before the result came, and takes it in about now.
      while (!(await listed()).includes('ours_post_send_parcel')) await new Promise(setImmediate)
      lists.push(await listed())
      sent = yield* call('post_send_parcel', {})
      await servers.close()
      yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
    }
    const agent = new ForeignAgent('cli', [finds], { hostTools: 'mcp' })
    await using bench = new HarnessBench([], {
      agent,
      toolSources: [many],
      toolSearch: {},
      disableBuiltinTools: DISABLED,
      initialState: { yolo: true },
    })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(lists, [['ours_search_tools'], ['ours_search_tools', 'ours_post_send_parcel']])
    assert.deepEqual([sent, bench.all('error')], [{ result: 'post_send_parcel is done' }, []])
  })

  test('may leave some active: all of a server, one of a server, one of any source', async () => {
    const alwaysActive = [{ server: 'post' }, { server: 'store', tool: 'item_7' }, { tool: 'item_8' }]
    await using bench = new HarnessBench([{ text: 'Done.' }], {
      toolSources: [many],
      toolSearch: { alwaysActive },
      disableBuiltinTools: DISABLED,
    })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(offered(bench, 0), ['search_tools', 'store_item_7', 'store_item_8', 'post_send_parcel'])
  })

  test('are meant by what their server calls them, and an entry that names none is reported once', async () => {
    const server = fileURLToPath(new URL('../../../../tools/src/mcp/misbehaving-server.fixture.ts', import.meta.url))
    const config: MCPServerConfig = { type: 'stdio', command: process.execPath, args: [server, 'well'] }
    // A model does not know the second one as `a.b_change`.
    const alwaysActive = [{ server: 'a.b', tool: 'change' }, { server: 'a', tool: 'chang' }, { tool: 'Change' }]
    await using bench = new HarnessBench([search('anything'), { text: 'Done.' }], {
      mcpServers: { a: config, 'a.b': config },
      toolSearch: { alwaysActive },
      disableBuiltinTools: DISABLED,
    })
    await bench.harness.init()
    while (bench.harness.getMcpServerInfo().some(({ status }) => status !== 'connected'))
      await new Promise(setImmediate)
    await bench.harness.sendMessage({ content: 'Go.' })
    const [first, second, ...others] = offered(bench, 0)
    assert.deepEqual([first, others], ['search_tools', []])
    assert.match(second ?? '', /^a_b_change_/)
    assert.deepEqual(
      bench.all('info').map(({ message }) => message),
      [
        '`toolSearch.alwaysActive`: there is no tool "chang" of server "a".',
        '`toolSearch.alwaysActive`: there is no tool "Change".',
      ],
    )
  })

  test('ask like any other when they were found', async () => {
    await using bench = new HarnessBench(
      [search('parcel'), { toolCalls: [{ id: 'p', name: 'post_send_parcel', input: {} }] }, { text: 'No.' }],
      { toolSources: [many], toolSearch: {} },
    )
    const asked = bench.next('tool_approval_required')
    const sent = bench.harness.sendMessage({ content: 'Go.' })
    assert.equal((await asked).toolName, 'post_send_parcel')
    await bench.harness.session.respondToToolApproval({ decision: 'decline' })
    await sent
  })

  test('are refused when an entry is empty', () => {
    assert.throws(
      () => new HarnessBench([], { toolSearch: { alwaysActive: [{} as { tool: string }] } }),
      /alwaysActive/,
    )
  })
})
