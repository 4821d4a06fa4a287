import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentHarness, HarnessCapabilities } from '@inspan/protocol/chat'
import type { ModelTurn } from '../script.ts'
import { ScriptedHarnessFactory } from '../scripted-harness.ts'
import { testHarnessFactory, type HarnessRow, type TestedFactory } from './harness-contract.ts'
import { HARNESS_ITEMS } from './harness-items.ts'

async function* nothing(): AsyncGenerator<never> {}
const done = async (): Promise<void> => undefined

/** Takes every call and does nothing. */
const idle: AgentHarness = {
  id: 'idle',
  protocolVersion: 1,
  extensions: {},
  createAgent: done,
  updateAgent: done,
  destroyAgent: async () => true,
  getMcpServerInfo: () => [],
  reconnectMcpServer: done,
  createThread: async () => 'thread',
  destroyThread: done,
  cloneThread: async () => 'clone',
  compactThread: async () => 'compacted',
  getThreadIds: async () => [],
  getMessages: async () => [],
  addMessages: done,
  clearMessages: done,
  stream: async () => ({ eventStream: nothing(), textStream: nothing() }),
  submitToolResult: done,
  approveToolCall: done,
  declineToolCall: done,
  onTelemetry: () => () => undefined,
  onLog: () => () => undefined,
  shutdown: done,
}

/** Runs the contract with a runner of its own. Returns its table, and the titles of the tests that failed. */
async function outcomeOf(
  factory: (script: readonly ModelTurn[]) => TestedFactory,
): Promise<[readonly HarnessRow[], string[]]> {
  const tests: [title: string, body: () => Promise<void>][] = []
  let table: readonly HarnessRow[] = []
  testHarnessFactory(factory, {
    name: 'tried',
    tool: { name: 'work' },
    runner: { describe: (_name, body) => body(), it: (title, body) => tests.push([title, body]) },
    onTable: (rows) => {
      table = rows
    },
  })
  const failed: string[] = []
  for (const [title, body] of tests) await body().catch(() => failed.push(title))
  return [table, failed]
}

test('a harness that does nothing fails every item of the contract, and one that works fails none', async () => {
  const titles = HARNESS_ITEMS.map(({ title }) => title)
  const [idleTable, idleFailures] = await outcomeOf(() => ({ protocolVersion: 1, create: async () => idle }))
  assert.deepEqual(idleFailures, titles)
  assert.deepEqual(
    idleTable,
    titles.map((item) => ({ item, result: 'failed' })),
  )
  const [table, failures] = await outcomeOf(
    (script) => new ScriptedHarnessFactory({ script, tools: { work: () => 'done' } }),
  )
  assert.deepEqual(failures, [])
  assert.deepEqual(
    table.map(({ item }) => item),
    titles,
  )
})

test('the table is printed for those who do not take it', async (t) => {
  const printed = t.mock.method(console, 'log', () => undefined)
  const tests: [title: string, body: () => Promise<void>][] = []
  testHarnessFactory(() => ({ protocolVersion: 1, create: async () => idle }), {
    name: 'tried',
    runner: { describe: (_name, body) => body(), it: (title, body) => tests.push([title, body]) },
  })
  await tests.at(-1)?.[1]()
  const [first = ''] = printed.mock.calls.flatMap((call) => call.arguments.map(String))
  assert.match(first, /^\| tried \| asks for approvals one by one \| not tested: the contract names no tool \|$/m)
})

test('a harness whose model is told nothing fails the items about what it is told', async () => {
  const [, failures] = await outcomeOf((script) => {
    const factory = new ScriptedHarnessFactory({ script, tools: { work: () => 'done' } })
    return { protocolVersion: 1, create: (root) => factory.create(root), requests: () => ['Hi'] }
  })
  assert.deepEqual(failures, [
    'forgets what was cleared, and goes on',
    'tells the model what was said before, also after a restart',
    'takes rules from a file',
    'takes an image, or refuses it before there is a stream',
    'takes a PDF file, or refuses it before there is a stream',
    'takes an image as context, or refuses it',
    'lets a hook replace the results of tools',
  ])
})

test('a harness that claims what it cannot do, or can do what it does not claim, fails the items about that', async () => {
  const claims = async (claimed: Partial<HarnessCapabilities>): Promise<string[]> => {
    const [, failures] = await outcomeOf((script) => {
      const factory = new ScriptedHarnessFactory({ script, tools: { work: () => 'done' } })
      return { protocolVersion: 1, create: async (root) => claiming(await factory.create(root), claimed) }
    })
    return failures
  }
  assert.deepEqual(await claims({ usage: true, effort: ['low'], toolSearch: true, mcp: true, skills: true }), [
    'takes skills from a folder',
    'takes a budget in tokens, or refuses it before there is a stream',
    'takes a level of effort, or refuses it before there is a stream',
    'lets its model search for tools',
    'lists the MCP servers of its config',
  ])
  assert.deepEqual(
    await claims({ attachments: 'none', maxSteps: false, toolResultHook: false, batchApprovals: false }),
    [
      'shows all requests of a batch before the first answer',
      'takes an image, or refuses it before there is a stream',
      'takes a PDF file, or refuses it before there is a stream',
      'takes an image as context, or refuses it',
      'takes a limit of model calls, or refuses it before there is a stream',
      'lets a hook replace the results of tools',
    ],
  )
})

/** The same harness with other capabilities. */
function claiming(harness: AgentHarness, claimed: Partial<HarnessCapabilities>): AgentHarness {
  const getCapabilities = (agentId: string): HarnessCapabilities => ({
    ...(harness.getCapabilities?.(agentId) ?? assert.fail('it has no capabilities')),
    ...claimed,
  })
  return new Proxy(harness, {
    get: (target, key) => {
      if (key === 'getCapabilities') return getCapabilities
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
