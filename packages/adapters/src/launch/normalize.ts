import { InspanError, type ActivityEvent } from '@inspan/protocol'
import { parseRecord, type SpoolRecord } from '@inspan/shell/run'
import { activityOf } from '../kit/activity.ts'
import { asText } from '../kit/fields.ts'
import { recordOf } from '../kit/json-line.ts'
import type { Dialect } from '../kit/mapper.ts'
import { LIMIT_REACHED, WITHHELD } from './recorded-lines.ts'
import { RunMapping } from './run-mapping.ts'
import { noteFromJson, type RunHeader, type RunNote } from './run-note.ts'

export interface NormalizeOptions {
  /** The dialects to choose from. */
  readonly dialects: readonly Dialect[]
  /** Dialects of live modes: `codex-…` is how `codex` speaks in live mode. */
  readonly liveDialects?: readonly Dialect[]
  /** The CLI that printed the output. A recording names it itself. Named like the option of `inspan normalize`. */
  readonly harness?: string
  readonly cwd?: string
  /** Standard error that belongs to plain output. A recording contains it. */
  readonly stderr?: Iterable<string>
  readonly exitCode?: number
  /** Clock for plain output. A recording contains the times. */
  readonly now?: () => number
}

/**
 * Turns the output of a CLI, or one of our recordings, into activity events, line by line. A recording gives exactly
 * the events that were recorded with it.
 */
export class Normalizer {
  readonly #options: NormalizeOptions
  readonly #now: () => number
  #mapping: RunMapping | undefined
  #isRecording: boolean | undefined
  /** The input is plain output of a live mode. */
  #isConversation = false
  #hasEnded = false
  #isFull = false
  #at: number | undefined
  #made: ActivityEvent[] = []

  constructor(options: NormalizeOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
  }

  line(text: string): readonly ActivityEvent[] {
    if (this.#isRecording === undefined && text.trim() === '') return []
    if (this.#isRecording === undefined) {
      this.#isRecording = isRecorded(text)
      this.#isConversation = !this.#isRecording && isMessage(text)
    }
    if (this.#isRecording) this.#recorded(text)
    else this.#open({}).line('stdout', text, this.#now())
    return this.#take()
  }

  /** Ends the input and returns the last events. */
  end(): readonly ActivityEvent[] {
    const { stderr = [], exitCode = null } = this.#options
    const mapping = this.#open({})
    if (this.#isRecording !== true) for (const line of stderr) mapping.line('stderr', line, this.#now())
    if (!this.#hasEnded) mapping.note({ end: { exitCode, signal: null } }, this.#at ?? this.#now())
    return this.#take()
  }

  #recorded(text: string): void {
    const record = parseRecord(text)
    if ('damaged' in record) {
      if (text.trim() !== '') this.#note(DAMAGED, this.#at ?? 0)
      return
    }
    if ('limit' in record) {
      // The time of the limit record itself is that of the end of the run.
      if (!this.#isFull) this.#note(LIMIT_REACHED, this.#at ?? record.at)
      this.#isFull = true
      return
    }
    this.#at = record.at
    if ('note' in record) {
      const note = noteFromJson(record.note)
      if (note !== undefined) this.#note(note, record.at)
    } else this.#recordedLine(record)
  }

  #recordedLine(record: Exclude<SpoolRecord, { limit: number } | { damaged: string } | { note: object }>): void {
    if ('withheld' in record) this.#note(WITHHELD, record.at)
    else {
      const text = 'line' in record ? record.line : Buffer.from(record.base64, 'base64').toString('utf8')
      this.#open({}).line(record.stream, text, record.at)
    }
  }

  #note(note: RunNote, at: number): void {
    if ('run' in note) {
      this.#open(note.run)
      return
    }
    if ('end' in note) this.#hasEnded = true
    this.#open({}).note(note, at)
  }

  #open(header: Partial<RunHeader>): RunMapping {
    if (this.#mapping !== undefined) return this.#mapping
    const { liveDialects = [], cwd } = this.#options
    const dialects = this.#isRecording === true ? [...liveDialects, ...this.#options.dialects] : this.#options.dialects
    const cli = header.harness ?? this.#options.harness
    const spoken = this.#isConversation ? liveDialects.find(({ id }) => id.startsWith(`${cli}-`)) : undefined
    const dialect = spoken ?? dialects.find(({ id }) => id === cli)
    if (cli === undefined || dialect === undefined) throw unknownCli(cli, dialects)
    this.#mapping = new RunMapping(
      dialect,
      { ...(cwd === undefined ? {} : { cwd }), ...header, harness: cli },
      (event) => void this.#made.push(...activityOf(event)),
    )
    return this.#mapping
  }

  #take(): readonly ActivityEvent[] {
    const made = this.#made
    this.#made = []
    return made
  }
}

/** Yields the activity events of all lines; see `Normalizer`. */
export async function* normalize(
  lines: Iterable<string> | AsyncIterable<string>,
  options: NormalizeOptions,
): AsyncGenerator<ActivityEvent, void, undefined> {
  const normalizer = new Normalizer(options)
  for await (const line of lines) yield* normalizer.line(line)
  yield* normalizer.end()
}

const DAMAGED: RunNote = { warning: { message: 'A record of the recording is damaged.', code: 'damaged-record' } }

/** Recognises our recordings: their records have a time and a stream, or a note of ours. No CLI prints such records. */
function isRecorded(text: string): boolean {
  const record = parseRecord(text)
  if ('damaged' in record) return false
  return 'stream' in record || ('note' in record && noteFromJson(record.note) !== undefined)
}

/** Recognises JSON-RPC: a response, a request or a notification. What CLIs print in print mode has a `type` instead. */
function isMessage(text: string): boolean {
  const record = recordOf(text)
  if (record === undefined || record['type'] !== undefined) return false
  return (
    asText(record['method']) !== undefined || (record['id'] !== undefined && ('result' in record || 'error' in record))
  )
}

function unknownCli(id: string | undefined, dialects: readonly Dialect[]): InspanError {
  const known = dialects.map(({ id }) => id).join(', ')
  return id === undefined
    ? new InspanError('invalid-input', 'It is not known which program printed this output.', {
        hint: `Name that program (--harness): one of ${known}.`,
      })
    : new InspanError('invalid-input', `There is no coding agent "${id}".`, { hint: `Known are ${known}.` })
}
