import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ActivityEvent } from '@inspan/protocol'
import { clis } from '../src/clis.ts'
import { activityOf, type MappedEvent } from '../src/kit/activity.ts'
import type { LedgerSums } from '../src/kit/ledger.ts'
import type { Dialect, Mapper, MapperOptions, RunEnd } from '../src/kit/mapper.ts'
import { createMapper } from '../src/kit/mapping.ts'

/** A recorded or hand-made run: what the program printed and how it ended. */
export interface Fixture {
  readonly name: string
  readonly lines: readonly string[]
  readonly stderr: readonly string[]
  readonly end: RunEnd
}

export interface MappedRun {
  readonly mapper: Mapper
  readonly events: readonly MappedEvent[]
  readonly activity: readonly ActivityEvent[]
  readonly sums: LedgerSums
}

interface FixtureNote {
  readonly exitCode?: number | null
  readonly signal?: string
  readonly stderr?: readonly string[]
}

/** The time all test runs have. */
export const AT: number = Date.UTC(2026, 0, 2, 3, 4, 5)

/** Those of a second way of speaking (`goose-acp`) are in the program's folder (`goose/acp`). */
function folderOf(id: string): string {
  const cli = clis.find(({ liveDialect }) => liveDialect?.id === id)?.profile.id
  const place = cli === undefined || cli === id ? id : `${cli}/${id.slice(cli.length + 1)}`
  return fileURLToPath(new URL(`../src/${place}/fixtures/`, import.meta.url))
}

export function fixtureNames(id: string): readonly string[] {
  const folder = folderOf(id)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => name.slice(0, -'.jsonl'.length))
    .sort()
}

/** `index.json` beside the fixtures says how a run ended and what it wrote to standard error; without a note it was fine. */
export function readFixture(id: string, name: string): Fixture {
  const folder = folderOf(id)
  const index = existsSync(`${folder}index.json`)
    ? (JSON.parse(readFileSync(`${folder}index.json`, 'utf8')) as Readonly<Record<string, FixtureNote>>)
    : {}
  const note = index[name] ?? {}
  const text = readFileSync(`${folder}${name}.jsonl`, 'utf8')
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return {
    name,
    lines,
    stderr: note.stderr ?? [],
    end: {
      exitCode: note.exitCode === undefined ? 0 : note.exitCode,
      ...(note.signal === undefined ? {} : { signal: note.signal }),
    },
  }
}

export interface RunOptions extends Partial<Omit<MapperOptions, 'emit' | 'cwd'>> {
  /** `/workspace` unless given; `null`: nobody knows. */
  readonly cwd?: string | null
  readonly stderr?: readonly string[]
  /** `null`: the run has not ended. */
  readonly end?: RunEnd | null
}

/** Maps lines, given as text or as the records to be written. */
export function mapRun(dialect: Dialect, lines: readonly unknown[], options: RunOptions = {}): MappedRun {
  const { stderr = [], end = { exitCode: 0 }, cwd = '/workspace', ...rest } = options
  const events: MappedEvent[] = []
  const mapper = createMapper(dialect, {
    ...(cwd === null ? {} : { cwd }),
    ...rest,
    emit: (event) => events.push(event),
  })
  for (const line of stderr) mapper.stderr(line, AT)
  for (const line of lines) mapper.line(typeof line === 'string' ? line : JSON.stringify(line), AT)
  if (end !== null) mapper.end(end, AT)
  return { mapper, events, activity: events.flatMap(activityOf), sums: mapper.ledger.sums() }
}

export function mapFixture(dialect: Dialect, name: string, options: RunOptions = {}): MappedRun {
  const fixture = readFixture(dialect.id, name)
  return mapRun(dialect, fixture.lines, { stderr: fixture.stderr, end: fixture.end, ...options })
}

/** Activity without its stamps, for comparison. */
export function unstamped(activity: readonly ActivityEvent[]): readonly object[] {
  return activity.map(({ timestamp: _timestamp, sessionId: _sessionId, ...rest }) => rest)
}

/** Events of one type. */
export function eventsOf<Type extends MappedEvent['type']>(
  run: MappedRun,
  type: Type,
): readonly Extract<MappedEvent, { readonly type: Type }>[] {
  return run.events.filter((event): event is Extract<MappedEvent, { readonly type: Type }> => event.type === type)
}
