import { readFileSync, readdirSync } from 'node:fs'
import type { ActivityEvent, JsonValue } from '@evener/protocol'
import { activityOf, type MappedEvent } from '../src/kit/activity.ts'
import type { LedgerSums } from '../src/kit/ledger.ts'
import type { Dialect, Mapper, MapperOptions, RunEnd } from '../src/kit/mapper.ts'
import { createMapper } from '../src/kit/mapping.ts'

export interface Ran {
  readonly mapper: Mapper
  readonly events: readonly MappedEvent[]
  /** Without the stamps that all activity has. */
  readonly activity: readonly object[]
  readonly sums: LedgerSums
}

export interface RunOptions extends Omit<MapperOptions, 'emit'> {
  readonly stderr?: readonly string[]
  readonly end?: RunEnd
}

/** Any fixed time: mapping has no clock. */
const AT = Date.parse('2026-01-02T03:04:05.678Z')

/** One run of a program that printed these records or lines. */
export function runMapper(dialect: Dialect, output: readonly JsonValue[], options: RunOptions = {}): Ran {
  const { stderr = [], end = { exitCode: 0 }, ...rest } = options
  const events: MappedEvent[] = []
  const mapper = createMapper(dialect, { cwd: '/workspace', ...rest, emit: (event) => void events.push(event) })
  for (const item of output) mapper.line(typeof item === 'string' ? item : JSON.stringify(item), AT)
  for (const line of stderr) mapper.stderr(line, AT)
  mapper.end(end, AT)
  return { mapper, events, activity: events.flatMap(activityOf).map(withoutStamp), sums: mapper.ledger.sums() }
}

function withoutStamp(event: ActivityEvent): object {
  const { timestamp: _timestamp, sessionId: _sessionId, ...rest } = event
  return rest
}

/** The lines of the `fixtures` folder beside a test, by file name. */
export function readFixtures(folder: URL): ReadonlyMap<string, readonly string[]> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
  return new Map(
    names.toSorted().map((name) => {
      const text = readFileSync(new URL(name, folder), 'utf8')
      return [name.slice(0, -'.jsonl'.length), text.split('\n').slice(0, text.endsWith('\n') ? -1 : undefined)]
    }),
  )
}

/** What is wrong with the accounts; empty when every line is counted once and nothing waits. */
export function accountFaults(sums: LedgerSums, lines: number): readonly string[] {
  const reasons = Object.values(sums.reasons).reduce((sum, count) => sum + count, 0)
  return [
    ...(sums.lines === lines ? [] : [`${lines} lines were read and ${sums.lines} counted`]),
    ...(sums.events + sums.consumed === sums.lines
      ? []
      : [`events ${sums.events} + consumed ${sums.consumed} are not ${sums.lines}`]),
    ...(sums.waiting === 0 ? [] : [`${sums.waiting} lines wait`]),
    ...(reasons === sums.consumed ? [] : [`${sums.consumed} were consumed for ${reasons} reasons`]),
    ...(sums.reasons['unexplained'] === undefined ? [] : ['a line was consumed for no reason']),
    ...(sums.faults === 0 ? [] : [`the mapping broke ${sums.faults} times`]),
  ]
}
