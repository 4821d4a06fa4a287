import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { InspanError } from '@inspan/protocol'
import {
  SUPPORTED_PROTOCOL_VERSIONS,
  type AgentHarness,
  type AgentHooks,
  type ChatEvent,
  type HarnessAgentConfig,
  type HarnessFactory,
  type ModelConnectivityInfo,
} from '@inspan/protocol/chat'
import type { ModelTurn } from '../script.ts'
import type { HarnessItem, HarnessTool } from './harness-item.ts'
import { HARNESS_ITEMS } from './harness-items.ts'

export interface HarnessContract {
  /** The name in the titles of the tests and in the table. */
  readonly name: string
  /** How agents reach their model. Default: nowhere, for factories that bring their model. */
  readonly connectivity?: ModelConnectivityInfo
  /** A call of a tool that the harness runs itself and can repeat. Without it, approvals are not tested. */
  readonly tool?: HarnessTool
  /** Where tests are registered. Default: `node:test`. */
  readonly runner?: HarnessRunner
  /** Gets the table when all tests are over. Default: it is printed. */
  readonly onTable?: (rows: readonly HarnessRow[]) => void
}

/** The two functions that most test runners have. */
export interface HarnessRunner {
  readonly describe: (name: string, body: () => void) => unknown
  readonly it: (name: string, body: () => Promise<void>) => unknown
}

/** What became of one item. `not possible`: the harness refuses it with the error that is named. */
export interface HarnessRow {
  readonly item: string
  readonly result: 'passed' | 'failed' | 'not tested: the contract names no tool' | `not possible: ${string}`
}

/** A factory for one test. What it needs besides, such as a server, is disposed of with it. */
export interface TestedFactory extends HarnessFactory, Partial<AsyncDisposable> {
  /** The requests that its model got so far. Without it, what the model is told is not tested. */
  readonly requests?: () => readonly string[]
}

/** A harness with folders of its own, for one test. */
export interface HarnessSubject {
  harness: AgentHarness
  readonly project: string
  /** Fails unless one of the requests to the model has all of these texts. */
  readonly assertTold: (...texts: readonly string[]) => void
  /** Fails if one of the requests to the model has all of these texts. */
  readonly assertNotTold: (...texts: readonly string[]) => void
  /** Creates the agent `a`; rejects if the harness cannot serve this config or these hooks. */
  readonly createAgent: (config?: HarnessAgentConfig, hooks?: AgentHooks) => Promise<void>
  /** Shuts the harness down and builds another one over the same folder. */
  readonly restart: () => Promise<void>
  readonly events: (
    thread: string,
    text: string,
    options?: Parameters<AgentHarness['stream']>[3],
  ) => Promise<ChatEvent[]>
}

const NOWHERE: ModelConnectivityInfo = {
  model: { id: 'test/model', provider: 'test', nativeId: 'model', contextWindow: 100_000, supportedFormats: null },
  isDefault: true,
  headers: async () => ({}),
}

/**
 * Registers the tests that every harness has to pass. `factory` is called for each of them with what the model is to
 * answer. What the harness says it cannot do has to fail with a typed error; a silent difference fails the test.
 */
export function testHarnessFactory(
  factory: (script: readonly ModelTurn[]) => TestedFactory | Promise<TestedFactory>,
  contract: HarnessContract,
): void {
  const { name, onTable = (rows) => console.log(harnessTable(name, rows)), runner = { describe, it } } = contract
  const rows: HarnessRow[] = []
  runner.describe(name, () => {
    for (const item of HARNESS_ITEMS) {
      if (item.needsTool === true && contract.tool === undefined) {
        rows.push({ item: item.title, result: 'not tested: the contract names no tool' })
        continue
      }
      runner.it(item.title, async () => {
        let result: HarnessRow['result'] = 'failed'
        try {
          result = await play(item, await factory(item.script(contract.tool ?? { name: '' })), contract)
        } finally {
          rows.push({ item: item.title, result })
        }
      })
    }
    runner.it('leaves no item out of its table', async () => onTable(rows))
  })
}

/** The table as text, one line per item. */
export function harnessTable(name: string, rows: readonly HarnessRow[]): string {
  return rows.map(({ item, result }) => `| ${name} | ${item} | ${result} |`).join('\n')
}

async function play(
  item: HarnessItem,
  factory: TestedFactory,
  contract: HarnessContract,
): Promise<HarnessRow['result']> {
  const base = await mkdtemp(join(tmpdir(), 'inspan-harness-'))
  const [root, project] = [join(base, 'storage'), join(base, 'project')]
  await mkdir(root)
  await mkdir(join(project, 'skills', 'greet'), { recursive: true })
  await writeFile(join(project, 'RULES.md'), 'Be brief.\n')
  await writeFile(join(project, 'skills', 'greet', 'SKILL.md'), SKILL)
  const subject = await open(factory, root, project, contract)
  try {
    const refused = await refusal(item, subject)
    if (refused !== undefined) return `not possible: ${refused}`
    assert.equal(subject.harness.protocolVersion, factory.protocolVersion)
    assert.ok(SUPPORTED_PROTOCOL_VERSIONS.some((version) => version === factory.protocolVersion))
    await item.run(subject)
    return 'passed'
  } finally {
    await subject.harness.shutdown()
    // Fails if the harness has left a handle open, where that keeps a folder from being removed.
    await rm(base, { recursive: true })
    await factory[Symbol.asyncDispose]?.()
  }
}

/** Returns why the harness cannot do this. If it says that it cannot, it has to refuse. */
async function refusal(
  { attempt = askBeforeTools, config, hooks, instead, needs }: HarnessItem,
  subject: HarnessSubject,
): Promise<string | undefined> {
  try {
    await subject.createAgent(config, hooks)
  } catch (error) {
    assert.ok(InspanError.is(error, 'unsupported'), `expected a typed refusal, got ${String(error)}`)
    await subject.createAgent()
    assert.equal(isPossible(subject.harness, needs), false, 'it refuses what it says it can do')
    return error.message
  }
  if (config !== undefined || hooks !== undefined) {
    assert.notEqual(isPossible(subject.harness, needs), false, 'it accepts what it cannot do')
  }
  if (needs === undefined || isPossible(subject.harness, needs) !== false) return undefined
  if (instead !== undefined) return instead(subject)
  const error: unknown = await attempt(subject).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  assert.ok(InspanError.is(error, 'unsupported'), 'it says that it cannot do this, and does not refuse it')
  return error.message
}

async function askBeforeTools({ harness }: HarnessSubject): Promise<unknown> {
  return harness.stream('a', await harness.createThread('a'), 'Go', { requireToolApproval: true })
}

const SKILL = '---\nname: greet\ndescription: Greets people.\n---\nSay hello.\n'

function isPossible(harness: AgentHarness, needs: HarnessItem['needs']): boolean | undefined {
  const all = harness.getCapabilities?.('a')
  if (all === undefined || needs === undefined) return undefined
  if (typeof needs === 'function') return needs(all)
  const can = all[needs]
  return Array.isArray(can) ? can.length > 0 : can !== false && can !== 'none'
}

async function open(
  factory: TestedFactory,
  root: string,
  project: string,
  { connectivity = NOWHERE }: HarnessContract,
): Promise<HarnessSubject> {
  let lastConfig: HarnessAgentConfig = {}
  // Not the last one: some programs ask for a title besides.
  const isTold = (texts: readonly string[]): boolean | undefined =>
    factory.requests?.().some((request) => texts.every((text) => request.includes(text)))
  const subject: HarnessSubject = {
    harness: await factory.create(root),
    project,
    assertTold: (...texts) => assert.notEqual(isTold(texts), false, `the model was not told ${JSON.stringify(texts)}`),
    assertNotTold: (...texts) => assert.notEqual(isTold(texts), true, `the model was told ${JSON.stringify(texts)}`),
    createAgent: async (config = {}, hooks) => {
      const options = hooks === undefined ? {} : { hooks }
      await subject.harness.createAgent('a', project, connectivity, config, options)
      lastConfig = config
    },
    restart: async () => {
      await subject.harness.shutdown()
      subject.harness = await factory.create(root)
      await subject.createAgent(lastConfig)
    },
    events: async (thread, text, options) => {
      const { eventStream } = await subject.harness.stream('a', thread, text, options)
      return Array.fromAsync(eventStream)
    },
  }
  return subject
}
