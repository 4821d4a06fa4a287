import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentHarness } from '@inspan/protocol/chat'
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

test('a harness whose model is told nothing fails the items about what it is told', async () => {
  const [, failures] = await outcomeOf((script) => {
    const factory = new ScriptedHarnessFactory({ script, tools: { work: () => 'done' } })
    return { protocolVersion: 1, create: (root) => factory.create(root), requests: () => ['Hi'] }
  })
  assert.deepEqual(failures, ['tells the model what was said before, also after a restart', 'takes rules from a file'])
})
