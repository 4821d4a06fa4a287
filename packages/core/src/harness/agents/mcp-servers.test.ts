import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { MCPServerConfig } from '@inspan/protocol/chat'
import { SqliteStore } from '@inspan/stores'
import { HarnessBench } from '../harness.fixture.ts'

const SERVERS = new URL('../../../../tools/src/mcp/', import.meta.url)
const server = (file: string, ...args: string[]): MCPServerConfig => ({
  type: 'stdio',
  command: process.execPath,
  args: [fileURLToPath(new URL(file, SERVERS)), ...args],
})
const misbehaving = (how: string): MCPServerConfig => server('misbehaving-server.fixture.ts', how)

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'inspan-mcp-harness-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

const calls = (name: string, input = {}): object => ({ toolCalls: [{ id: 'c1', name, input }] })

suite('MCP servers of a harness', () => {
  test('offer their tools, which ask unless a rule allows them', async () => {
    await using bench = new HarnessBench([calls('a_change'), { text: 'Done.' }], {
      mcpServers: { a: misbehaving('well') },
    })
    const asked = bench.next('tool_approval_required')
    const sent = bench.harness.sendMessage({ content: 'Go.' })
    assert.equal((await asked).toolName, 'a_change')
    await bench.harness.session.respondToToolApproval({ decision: 'approve' })
    await sent
    assert.equal(bench.all('tool_end')[0]?.result, 'done')
    assert.equal(bench.harness.getMcpServerInfo()[0]?.status, 'connected')
  })

  test('show the progress of a long call between its start and its end', async () => {
    const everything = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'))
    const name = 'every_trigger-long-running-operation'
    await using bench = new HarnessBench([calls(name, { duration: 0.1, steps: 2 }), { text: 'Done.' }], {
      mcpServers: { every: { type: 'stdio', command: process.execPath, args: [everything] } },
      permissions: { tools: { [name]: 'allow' } },
    })
    await bench.harness.init()
    while (bench.harness.getMcpServerInfo()[0]?.status !== 'connected') await new Promise(setImmediate)
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(bench.all('tool_update'), [
      { type: 'tool_update', toolCallId: 'c1', partialResult: '1/2\n' },
      { type: 'tool_update', toolCallId: 'c1', partialResult: '1/2\n2/2\n' },
    ])
    const order = bench.types().filter((type) => ['tool_start', 'tool_update', 'tool_end'].includes(type))
    assert.deepEqual(order, ['tool_start', 'tool_update', 'tool_update', 'tool_end'])
  })

  test('MCP servers of a harness that fail are reported, can be reconnected and replaced', async () => {
    await using bench = new HarnessBench([{ text: 'Done.' }], { mcpServers: { bad: misbehaving('die') } })
    const told = bench.next('info')
    await bench.harness.init()
    assert.match((await told).message, /^MCP server "bad" is not connected \(transport-eof\)/)
    await bench.harness.reconnectMcpServer({ serverName: 'bad' })
    assert.equal(bench.harness.getMcpServerInfo()[0]?.errorDetail?.category, 'transport-eof')
    await bench.harness.setMcpServers({ good: misbehaving('well') })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.match(JSON.stringify(bench.model.requests[0]?.tools), /good_change/)
  })

  test('a tool that changes its description after approval (a rug pull) asks again, although it was always allowed', async () => {
    const script = [calls('a_change'), { text: 'Done.' }, calls('a_change'), { text: 'Done.' }]
    await using bench = new HarnessBench(script, {
      mcpServers: { a: misbehaving('change') },
      permissions: { tools: { a_change: 'allow' } },
    })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.equal(bench.all('tool_approval_required').length, 0)
    while (bench.harness.getMcpServerInfo()[0]?.tools[0]?.description !== 'Generation 1.')
      await new Promise(setImmediate)
    const asked = bench.next('tool_approval_required')
    const sent = bench.harness.sendMessage({ content: 'Again.' })
    await asked
    await bench.harness.session.respondToToolApproval({ decision: 'decline' })
    await sent
  })

  test('ask people, who answer after a restart; nobody sees what the server wanted kept', async (t) => {
    const folder = await folderFor(t)
    const journal = join(folder, 'journal')
    const config = {
      mcpServers: { m: server('modern-server.fixture.ts', journal) },
      initialState: { yolo: true },
      redact: (text: string) => text.replaceAll('secret', '[withheld]'),
    }
    let threadId = ''
    {
      const storage = new SqliteStore({ url: `file:${join(folder, 'db')}` })
      const bench = new HarnessBench([calls('m_book', { day: 'Monday' })], { ...config, storage })
      await bench.harness.sendMessage({ content: 'Book.' })
      const [asked] = bench.all('tool_suspended')
      assert.match(JSON.stringify(asked), /For how many\?/)
      assert.doesNotMatch([...bench.kept.values()].join(), /-state-of-Monday/)
      threadId = bench.harness.session.thread.getId() ?? ''
      await bench.harness.destroy()
      await storage.close()
    }
    const storage = new SqliteStore({ url: `file:${join(folder, 'db')}` })
    {
      await using bench = new HarnessBench([{ text: 'Booked.' }], { ...config, storage })
      await bench.harness.switchThread({ threadId })
      const [waiting] = bench.harness.session.suspensions.list()
      await bench.harness.respondToToolSuspension({ toolCallId: waiting?.toolCallId ?? '', resumeData: { guests: 4 } })
      assert.equal(bench.all('tool_end')[0]?.result, 'Monday: a table for 4')
    }
    await storage.close()
    assert.equal(await readFile(journal, 'utf8'), 'Monday null\nMonday "secret-state-of-Monday"\n')
  })
})
