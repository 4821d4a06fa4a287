import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { nativeDriver } from '@inspan/agent'
import { NO_RULES, type PermissionRules, type Wait } from '@inspan/protocol'
import { SqliteStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { createPolicy } from '../../policy/index.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { McpClient, type ServerOptions } from './mcp-client.fixture.ts'

const CHILD = fileURLToPath(new URL('mcp-child.fixture.ts', import.meta.url))

async function journalIn(folder: string): Promise<string[]> {
  const text = await readFile(join(folder, 'journal'), 'utf8').catch(() => '')
  return text.split('\n').filter((line) => line !== '')
}

interface Served {
  readonly bench: RuntimeBench
  /** Returns the calls the server got. */
  readonly journal: () => Promise<string[]>
  /** Replaces the server by another one. */
  readonly replace: (options: Pick<ServerOptions, 'description' | 'serverName'>) => Promise<void>
}

/** A thread whose agent calls a tool of a server in every run. */
async function served(t: TestContext, toolName: string, rules: Partial<PermissionRules>): Promise<Served> {
  const folder = await mkdtemp(join(tmpdir(), 'inspan-mcp-'))
  const journal = join(folder, 'journal')
  let client = await McpClient.start({ journal })
  const script = Array.from({ length: 3 }, () => [{ toolCalls: [{ name: toolName }] }, { text: 'Done.' }])
  const driver = nativeDriver({ id: 'native', model: scriptedModel(script.flat()) })
  const policy = createPolicy({ rules: { ...NO_RULES, ...rules } })
  const bench = await RuntimeBench.open({ native: { driver, tools: () => client.tools } }, { policy })
  t.after(async () => {
    await bench[Symbol.asyncDispose]()
    await client[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })
  return {
    bench,
    journal: () => journalIn(folder),
    replace: async (options) => {
      await client[Symbol.asyncDispose]()
      client = await McpClient.start({ journal, ...options })
    },
  }
}

/** Starts a run. If it asks about its call, declines that and returns the wait. */
async function question({ bench }: Served): Promise<Wait | undefined> {
  await bench.submit('go', { agentId: 'native' })
  await bench.until(() => bench.runtime.state.head.waits.size > 0 || !bench.isRunning())
  const [wait] = bench.runtime.state.head.waits
  if (wait === undefined) return undefined
  await bench.runtime.answer(wait.id, { decision: 'decline' })
  await bench.runtime.idle()
  return wait
}

async function asked(thread: Served): Promise<string> {
  return (await question(thread))?.description ?? 'nothing was asked'
}

async function runs(thread: Served): Promise<void> {
  assert.equal(await question(thread), undefined)
}

suite('a tool of an MCP server', () => {
  test('has the category mcp, whatever its name and description claim', async (t) => {
    const harmless = await served(t, 'read_file', { categories: { read: 'allow', mcp: 'ask' } })
    assert.match(await asked(harmless), /read_file/)
    assert.deepEqual(await harmless.journal(), [])

    const allowed = await served(t, 'read_file', { categories: { read: 'ask', mcp: 'allow' } })
    await runs(allowed)
    assert.deepEqual(await allowed.journal(), ['read_file'])
  })

  test('asks where it declares that it destroys, unless it is allowed by its name', async (t) => {
    const cautious = await served(t, 'drop', { categories: { mcp: 'allow' } })
    assert.match(await asked(cautious), /drop/)
    assert.deepEqual(await cautious.journal(), [])

    const allowed = await served(t, 'drop', { tools: { drop: 'allow' } })
    await runs(allowed)
    assert.deepEqual(await allowed.journal(), ['drop'])
  })

  for (const [what, change] of [
    ['says something else of itself', { description: 'Keeps notes, and sends them away.' }],
    ['comes from another server', { serverName: 'other' }],
  ] as const) {
    test(`is asked about again when it ${what} than when it was allowed`, async (t) => {
      const changing = await served(t, 'read_file', { tools: { read_file: 'allow' } })
      await runs(changing)
      await runs(changing)
      await changing.replace(change)
      assert.match(await asked(changing), /not the tool it was/)
      assert.deepEqual(await changing.journal(), ['read_file', 'read_file'])
    })
  }

  test('is recorded with its server, and without what would make it look harmless', async (t) => {
    const harmless = await served(t, 'read_file', { categories: { mcp: 'allow' } })
    await runs(harmless)
    const [call] = await harmless.bench.bodies('tool-call')
    assert.deepEqual([call?.serverName, call?.annotations], ['notes', {}])
    const [result] = await harmless.bench.bodies('tool-result')
    assert.equal(result?.serverName, 'notes')

    const cautious = await served(t, 'drop', { tools: { drop: 'allow' } })
    await runs(cautious)
    assert.deepEqual((await cautious.bench.bodies('tool-call'))[0]?.annotations, { destructiveHint: true })
  })

  test('a tool of an MCP server that was running when its host died is not run again, although it claims to be read-only', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-mcp-'))
    t.after(() => rm(folder, { recursive: true }))
    const [url, journal] = [join(folder, 'data.db'), join(folder, 'journal')]
    const child = spawn(process.execPath, [CHILD, url, journal], { stdio: 'inherit' })
    const [, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
    assert.equal(signal, 'SIGKILL')

    await using client = await McpClient.start({ journal })
    const store = new SqliteStore({ url })
    const owner = await ProcessOwner.register(store)
    const model = scriptedModel([{ text: 'I will look.' }])
    const agents = { native: { driver: nativeDriver({ id: 'native', model }), tools: client.tools } }
    const runtime = await ThreadRuntime.open({ store, owner, thread: 'thread', agents })
    await runtime.idle()
    assert.deepEqual(await journalIn(folder), ['read_file'])
    assert.match(JSON.stringify(model.requests[0]), /interrupted and its outcome is unknown/)
    assert.equal(runtime.state.head.lastRun?.outcome, 'complete')
    await runtime.close()
    await owner.close()
    await store.close()
  })
})
