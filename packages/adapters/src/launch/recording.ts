import { createWriteStream, type WriteStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { once } from 'node:events'
import { join } from 'node:path'
import { InspanError } from '@inspan/protocol'
import type { Host } from '@inspan/protocol/driver'
import { makeFolder, openSpool, spoolFileName, type Line, type SpoolRedactor, type Spool } from '@inspan/shell/run'
import { activityOf, type MappedEvent } from '../kit/activity.ts'
import type { Dialect } from '../kit/mapper.ts'
import { LIMIT_REACHED, WITHHELD } from './recorded-lines.ts'
import { RunMapping } from './run-mapping.ts'
import { noteToJson, type RunHeader, type RunNote } from './run-note.ts'

const eventsFileName = 'events.jsonl'

export interface RecordOptions {
  /** A folder for this one run. */
  readonly dir: string
  /** Applied to every line before it is written; the recorded events are made from the result. Default: the host's. */
  readonly redact?: SpoolRedactor
  /** The size at which `raw.jsonl` stops growing. */
  readonly maxBytes?: number
  /** Called once, when a file can no longer be written or has reached its size limit. The run goes on. */
  readonly onError?: (error: Error) => void
}

/**
 * Adds the host's defaults: what must not be written of the agent's words must not be written of its raw lines either,
 * and an incomplete recording is logged.
 */
export function recordedFor(host: Pick<Host, 'redact' | 'log'>, record: RecordOptions | undefined): typeof record {
  if (record === undefined) return undefined
  return {
    redact: (line: string) => host.redact(line),
    onError: (error) => host.log('warn', `The recording in ${record.dir} is not complete: ${error.message}`),
    ...record,
  }
}

/** Writes `raw.jsonl`, every line and note with its time, and `events.jsonl`, the events that follow from them. */
export interface RunRecorder {
  /** Returns a promise if the disk is slower than the output: wait for it. It never rejects. */
  line(stream: 'stdout' | 'stderr', line: Line, at: number): Promise<void> | undefined
  note(note: RunNote, at: number): void
  close(): Promise<void>
}

/** The open files of a recording, before the header of the run is known. */
export interface Recording {
  begin(dialect: Dialect, header: RunHeader, at: number): RunRecorder
}

/** Rejects if a run cannot be recorded in that folder. Both files are readable by the owner only. */
export async function openRecording(options: RecordOptions): Promise<Recording> {
  const { dir, maxBytes } = options
  const onError = reportOnce(options.onError)
  await makeOwnFolder(dir)
  const raw = join(dir, spoolFileName)
  if ((await stat(raw).catch(() => undefined)) !== undefined) {
    throw new InspanError('already-exists', `${raw} holds another run already.`, {
      hint: 'Give each run its own folder.',
    })
  }
  const redaction = new RecordingRedaction(options.redact)
  const spool = await openSpool(
    { file: raw },
    {
      redact: redaction.redact,
      ...(maxBytes === undefined ? {} : { maxBytes }),
      onError,
    },
  )
  const events = createWriteStream(join(dir, eventsFileName), { flags: 'w', mode: 0o600 })
  try {
    await once(events, 'open')
  } catch (error) {
    await spool.close()
    await rm(raw)
    throw error
  }
  return {
    begin: (dialect, header, at) => {
      const recorder = new Recorder({ spool, events, redaction, dialect, header }, onError)
      recorder.note({ run: header }, at)
      return recorder
    },
  }
}

async function makeOwnFolder(dir: string): Promise<void> {
  try {
    await makeFolder(dir)
  } catch (error) {
    throw new InspanError('io', `A run cannot be recorded in ${dir}: ${(error as Error).message}.`, {
      hint: 'Name a folder that can be made or written to.',
      cause: error,
    })
  }
}

/** Both files may fail for the same reason, such as a full disk. */
function reportOnce(onError: RecordOptions['onError']): (error: Error) => void {
  let isReported = false
  return (error) => {
    if (!isReported) onError?.(error)
    isReported = true
  }
}

/** Applies the redactor and keeps its last result. */
class RecordingRedaction {
  /** `undefined` if the redactor threw. */
  last: string | undefined
  readonly #redact: SpoolRedactor | undefined

  constructor(redact: SpoolRedactor | undefined) {
    this.#redact = redact
  }

  readonly redact = (text: string): string => {
    this.last = undefined
    this.last = this.#redact === undefined ? text : this.#redact(text)
    return this.last
  }

  /** Redacts our own messages too, as they may repeat the CLI's words. */
  note(note: RunNote): RunNote {
    if ('warning' in note) return { warning: { ...note.warning, message: this.#words(note.warning.message) } }
    if (!('stop' in note) || note.stop.error === undefined) return note
    const { error } = note.stop
    return { stop: { ...note.stop, error: { ...error, message: this.#words(error.message) } } }
  }

  #words(text: string): string {
    try {
      return this.#redact === undefined ? text : this.#redact(text)
    } catch {
      return 'This could not be redacted.'
    }
  }
}

interface RecorderParts {
  readonly spool: Spool
  readonly events: WriteStream
  readonly redaction: RecordingRedaction
  readonly dialect: Dialect
  readonly header: RunHeader
}

class Recorder implements RunRecorder {
  readonly #spool: Spool
  readonly #events: WriteStream
  readonly #redaction: RecordingRedaction
  readonly #mapping: RunMapping
  readonly #onError: RecordOptions['onError']
  #isFull = false
  #at = 0
  #isBroken = false

  constructor({ spool, events, redaction, dialect, header }: RecorderParts, onError: RecordOptions['onError']) {
    this.#spool = spool
    this.#events = events
    this.#redaction = redaction
    this.#onError = onError
    this.#mapping = new RunMapping(dialect, header, (event) => this.#write(event))
    events.on('error', (error) => {
      this.#isBroken = true
      onError?.(error)
    })
  }

  line(stream: 'stdout' | 'stderr', line: Line, at: number): Promise<void> | undefined {
    const before = this.#spool.recorded
    const written = this.#spool.write(stream, line, at)
    if (this.#spool.recorded === before) {
      if (!this.#isFull) this.#stopAtLimit()
      return written
    }
    this.#at = at
    const text = this.#redaction.last
    if (text === undefined) this.#mapping.note(WITHHELD, at)
    else this.#mapping.line(stream, text, at)
    return written
  }

  #stopAtLimit(): void {
    this.#isFull = true
    this.#mapping.note(LIMIT_REACHED, this.#at)
    this.#onError?.(new Error(`${this.#spool.file} has reached its size limit, and what followed is missing.`))
  }

  note(note: RunNote, at: number): void {
    const redactedNote = this.#redaction.note(note)
    this.#at = at
    this.#spool.note(noteToJson(redactedNote), at)
    this.#mapping.note(redactedNote, at)
  }

  async close(): Promise<void> {
    await this.#spool.close()
    if (this.#isBroken) return
    this.#events.end()
    await once(this.#events, 'close').catch(() => undefined)
  }

  #write(event: MappedEvent): void {
    if (this.#isBroken) return
    for (const activity of activityOf(event)) this.#events.write(`${JSON.stringify(activity)}\n`)
  }
}
