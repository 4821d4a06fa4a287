import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import type { ActivityEvent, AgentEvent, NativeRef, StoredMessage } from '@inspan/protocol'
import type { AgentDriver, AgentSession, Binding, Host, Turn } from '@inspan/protocol/driver'
import { findTagged } from '@inspan/shell/run'
import { startProvider, type Provider, type ProviderRequest, type ScriptObject } from '@inspan/testing'
import { aTurn, diary, takeAll, type Diary } from '../launch/diary.ts'
import { dialects, liveDialects } from '../../src/dialects.ts'
import { normalize } from '../../src/launch/normalize.ts'
import type { PrintOptions } from '../../src/launch/print-driver.ts'
import type { CliProfile } from '../../src/launch/profile.ts'
import type { LiveOptions } from '../../src/live/live-driver.ts'

/** The home, working directory and temporary directory for one run of a CLI. */
export interface RunFolders {
  readonly home: string
  readonly work: string
  readonly temp: string
}

export interface AgentSetup {
  readonly bin: string
  readonly place: RunFolders
  readonly provider: Provider
  /** False to see what the CLI does without a key. */
  readonly hasKey: boolean
  readonly options: LiveOptions
}

/** No turn takes this long unless something is wrong, even on a busy machine. */
const TURN_MS = 8 * 60_000
const INTERRUPT_MS = 2 * 60_000

export type RealScript = ScriptObject<ProviderRequest>

/** What the scenarios need to know about a CLI. */
export interface RealCli {
  readonly profile: CliProfile
  /** How the CLI is driven, if its scenarios run in more than one way. */
  readonly way?: string
  /** What the host adds to what the scenarios need: a CLI that asks has to be answered. */
  readonly host?: Partial<Host>
  /** Makes an agent that contacts only the provider and does not retry for long. */
  agent(setup: AgentSetup): AgentDriver
  /** The model's turns, with the CLI's own tools for each scenario. The answer "Done." is added. */
  readonly scripts: Partial<Readonly<Record<ToolScenario, (place: RunFolders) => RealScript>>>
  /** What this CLI reports, if it is not what the scenario expects. */
  readonly expected?: Partial<Readonly<Record<ToolScenario, (place: RunFolders) => readonly Expected[]>>>
  /** Options that a scenario needs with this CLI. */
  readonly options?: Partial<Readonly<Record<ToolScenario | 'reasoning' | 'image', PrintOptions>>>
  /** How the CLI does what a scenario is about, for people who compare CLIs. */
  readonly notes?: Readonly<Record<string, string>>
  /** What the CLI cannot do, and why. */
  readonly unsupported?: Readonly<Record<string, string>>
}

export type ToolScenario =
  | 'command-succeeds'
  | 'command-fails'
  | 'read-range'
  | 'write'
  | 'edit'
  | 'search'
  | 'list'
  | 'parallel'
  | 'subagent'
  | 'skill'
  | 'mcp'
  | 'endless-command'
  | 'touch'
  | 'write-outside'

/** An activity event of this type with at least these fields. Patterns are matched. */
export type Expected = { readonly type: ActivityEvent['type'] } & {
  readonly [field: string]: string | number | boolean | RegExp | undefined
}

export interface Ran {
  readonly events: readonly AgentEvent[]
  readonly activity: readonly ActivityEvent[]
  readonly notes: Diary
  /** The last binding of the turn. */
  readonly binding: Binding | undefined
  readonly warnings: readonly string[]
}

export interface BenchTurnSetup {
  readonly options?: PrintOptions
  readonly turn?: Partial<Turn>
  readonly binding?: Binding
  readonly hasKey?: boolean
  /** The messages of the thread, newest first. */
  readonly history?: readonly StoredMessage[]
  /** Called while the turn runs. */
  readonly meanwhile?: (session: AgentSession, notes: Diary, over: AbortSignal) => Promise<void>
}

/** The CLI, place and provider of one test. */
export class Bench {
  readonly cli: RealCli
  readonly place: RunFolders
  readonly provider: Provider
  readonly #bin: string
  #turns = 0

  constructor(cli: RealCli, bin: string, place: RunFolders, provider: Provider) {
    this.cli = cli
    this.#bin = bin
    this.place = place
    this.provider = provider
  }

  agent(options: PrintOptions = {}, hasKey = true): AgentDriver {
    const { place, provider, cli } = this
    return cli.agent({
      bin: this.#bin,
      place,
      provider,
      hasKey,
      // Everything is allowed unless a scenario is about that. Nothing may take forever.
      options: { permissions: 'full', deadlineMs: TURN_MS, interruptMs: INTERRUPT_MS, cwd: place.work, ...options },
    })
  }

  /** Returns what the CLI sent to the model, without requests for titles and the like. -1 is the last one. */
  request(index: number): string {
    return this.provider.requests.filter(({ route }) => route === 'main').at(index)?.text ?? ''
  }

  /** Runs one turn and checks that nothing of the CLI is left. */
  async turn(setup: BenchTurnSetup = {}): Promise<Ran> {
    const notes = diary({
      history: async function* () {
        yield* setup.history ?? []
      },
      ...this.cli.host,
    })
    this.#turns += 1
    const dir = join(this.place.temp, `recorded-${this.#turns}`)
    const options = { record: () => ({ dir }), ...setup.options }
    const session = await this.agent(options, setup.hasKey).open(setup.binding ?? null, notes.host)
    const over = new AbortController()
    const meanwhile = setup.meanwhile?.(session, notes, over.signal)
    const events = await takeAll(session.run({ ...aTurn, ...setup.turn }), notes)
    over.abort()
    await meanwhile
    await session.close()
    for (const { runTag } of notes.processes) assert.deepEqual(await findTagged(runTag), [], 'nothing is left running')
    assert.equal(events.filter(({ type }) => type === 'finish').length, 1, 'one finish')
    assert.deepEqual(this.provider.unexpected, [], 'the program is set up for this provider')
    const { activity, bindings } = notes
    if (setup.options?.record === undefined) await assertRecorded(dir, activity)
    const warnings = activity.flatMap((event) => (event.type === 'warning' ? [event.message] : []))
    return { events, activity, notes, binding: bindings.at(-1), warnings }
  }
}

/** Checks that a recording reads again exactly as the events were, however the turn ended. */
export async function assertRecorded(dir: string, activity: readonly ActivityEvent[]): Promise<void> {
  const lines = (await readFile(join(dir, 'raw.jsonl'), 'utf8')).split('\n')
  const recorded = await readFile(join(dir, 'events.jsonl'), 'utf8')
  const asLines = (events: readonly ActivityEvent[]): string =>
    events.map((event) => `${JSON.stringify(event)}\n`).join('')
  assert.equal(recorded, asLines(activity))
  assert.equal(asLines(await Array.fromAsync(normalize(lines, { dialects, liveDialects }))), recorded)
}

export async function makeBench(
  t: TestContext,
  cli: RealCli,
  bin: string,
  place: RunFolders,
  script: RealScript,
): Promise<Bench> {
  const provider = await startProvider(script)
  t.after(() => provider.close())
  return new Bench(cli, bin, place, provider)
}

/** A message of an earlier run. */
export function aMessage(text: string, native?: NativeRef): StoredMessage {
  const part = { id: '0', type: 'text' as const, text, ...(native === undefined ? {} : { native }) }
  return { id: 'm', role: 'assistant', order: 1, at: 1, state: 'done', run: 'earlier', parts: [part] }
}

export async function makePlace(t: TestContext): Promise<RunFolders> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'inspan-real-')))
  const place = { home: join(root, 'home'), work: join(root, 'work'), temp: join(root, 'temp') }
  t.after(() => removePlace(place))
  for (const dir of Object.values(place)) await mkdir(dir)
  return place
}

/** Call it again when a CLI has exited that was still running: it may have written something. */
export async function removePlace({ home }: RunFolders): Promise<void> {
  await rm(dirname(home), { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
}

export async function putFile(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
}

/** Checks for exactly these events, in this order. Words and warnings besides them are ignored. */
export function assertActivity(activity: readonly ActivityEvent[], expected: readonly Expected[]): void {
  const wanted = new Set(expected.map(({ type }) => type))
  const shown = activity.filter(({ type }) => wanted.has(type) || (type !== 'agent' && type !== 'warning'))
  const seen = JSON.stringify(shown, null, 1)
  assert.equal(shown.length, expected.length, `${expected.length} events expected: ${seen}`)
  for (const [index, fields] of expected.entries()) {
    const event: Readonly<Record<string, unknown>> = { ...shown[index] }
    for (const [field, value] of Object.entries(fields)) {
      if (value instanceof RegExp) assert.match(String(event[field]), value, `${field}: ${seen}`)
      else assert.equal(event[field], value, `${field}: ${seen}`)
    }
  }
}
