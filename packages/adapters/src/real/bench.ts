import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import type {
  ActivityEvent,
  AgentDriver,
  AgentEvent,
  AgentSession,
  Binding,
  Host,
  NativeRef,
  StoredMessage,
  Turn,
} from '@evener/protocol'
import { findTagged } from '@evener/shell/run'
import { startProvider, type Provider, type ProviderRequest, type ScriptObject } from '@evener/testing'
import { aTurn, diary, takeAll, type Diary } from '../../test/launch/diary.ts'
import { dialects, liveDialects } from '../dialects.ts'
import { normalize } from '../launch/normalize.ts'
import type { PrintOptions } from '../launch/print-driver.ts'
import type { CliProfile } from '../launch/profile.ts'
import type { LiveOptions } from '../live/live-driver.ts'

/** A home, a working directory and a temporary directory of its own for one run of a program. */
export interface Place {
  readonly home: string
  readonly work: string
  readonly temp: string
}

export interface AgentSetup {
  readonly bin: string
  readonly place: Place
  readonly provider: Provider
  /** Without a key, to see what the program says then. */
  readonly hasKey: boolean
  readonly options: LiveOptions
}

/** No turn takes so long unless something is wrong, even if the machine is busy. */
const TURN_MS = 8 * 60_000
const INTERRUPT_MS = 2 * 60_000

export type RealScript = ScriptObject<ProviderRequest>

/** What the scenarios need to know about a program. */
export interface RealCli {
  readonly profile: CliProfile
  /** How it is spoken to, when its scenarios are played in more than one way. */
  readonly way?: string
  /** What its host says beyond what the scenarios need: whoever asks has to be answered. */
  readonly host?: Partial<Host>
  /** The program as an agent that talks to the provider and to nobody else, without long retries. */
  agent(setup: AgentSetup): AgentDriver
  /** The model's turns that use the program's own tools for what a scenario is about. The answer "Done." is added. */
  readonly scripts: Partial<Readonly<Record<ToolScenario, (place: Place) => RealScript>>>
  /** Where this program shows something else than the scenario expects. */
  readonly expected?: Partial<Readonly<Record<ToolScenario, (place: Place) => readonly Expected[]>>>
  /** Options that a scenario needs with this program. */
  readonly options?: Partial<Readonly<Record<ToolScenario | 'reasoning' | 'image', PrintOptions>>>
  /** In which way it does what a scenario is about, for people who compare programs. */
  readonly notes?: Readonly<Record<string, string>>
  /** What it cannot do, and why. */
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

/** An activity event of this type with at least these fields; patterns are matched. */
export type Expected = { readonly type: ActivityEvent['type'] } & {
  readonly [field: string]: string | number | boolean | RegExp | undefined
}

export interface Ran {
  readonly events: readonly AgentEvent[]
  readonly activity: readonly ActivityEvent[]
  readonly notes: Diary
  /** The turn's last binding. */
  readonly binding: Binding | undefined
  readonly warnings: readonly string[]
}

export interface TurnSetup {
  readonly options?: PrintOptions
  readonly turn?: Partial<Turn>
  readonly binding?: Binding
  readonly hasKey?: boolean
  /** What the thread holds, newest first. */
  readonly history?: readonly StoredMessage[]
  /** Does something while the turn runs. */
  readonly meanwhile?: (session: AgentSession, notes: Diary, over: AbortSignal) => Promise<void>
}

/** One test's program, place and provider. */
export class Bench {
  readonly cli: RealCli
  readonly place: Place
  readonly provider: Provider
  readonly #bin: string
  #turns = 0

  constructor(cli: RealCli, bin: string, place: Place, provider: Provider) {
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
      // Everything is allowed unless a scenario is about that; nothing may take for ever.
      options: { permissions: 'full', deadlineMs: TURN_MS, interruptMs: INTERRUPT_MS, cwd: place.work, ...options },
    })
  }

  /** What the program has asked the model for, without titles and the like; -1 is the last. */
  request(index: number): string {
    return this.provider.requests.filter(({ route }) => route === 'main').at(index)?.text ?? ''
  }

  /** One turn, after which nothing may be left of the program. */
  async turn(setup: TurnSetup = {}): Promise<Ran> {
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

/** However a turn has ended, its recording reads again exactly as it was told. */
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
  place: Place,
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

export async function makePlace(t: TestContext): Promise<Place> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'evener-real-')))
  const place = { home: join(root, 'home'), work: join(root, 'work'), temp: join(root, 'temp') }
  t.after(() => removePlace(place))
  for (const dir of Object.values(place)) await mkdir(dir)
  return place
}

/** To be done again when a program that was still running then has ended: it may have written something. */
export async function removePlace({ home }: Place): Promise<void> {
  await rm(dirname(home), { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
}

export async function putFile(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
}

/** These, in this order, and besides them nothing but words and warnings. */
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
