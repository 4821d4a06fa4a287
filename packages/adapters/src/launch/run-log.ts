import type { Line } from '@inspan/shell/run'
import type { MappedEvent } from '../kit/activity.ts'
import type { Dialect, Mapper, ReadRecords } from '../kit/mapper.ts'
import { openRecording, type Recording, type RecordOptions, type RunRecorder } from './recording.ts'
import { RunMapping } from './run-mapping.ts'
import type { RunHeader, RunNote } from './run-note.ts'

/** Collects what a CLI prints and what we note about its run. Maps it at once, and records it if asked to. */
export class RunLog {
  readonly #dialect: Dialect
  readonly #now: () => number
  readonly #emit: (event: MappedEvent) => void
  #mapping: RunMapping | undefined
  #recording: Recording | undefined
  #recorder: RunRecorder | undefined
  /** Lines and notes from before the log was opened. */
  #early: (() => void)[] = []

  constructor(dialect: Dialect, now: () => number, emit: (event: MappedEvent) => void) {
    this.#dialect = dialect
    this.#now = now
    this.#emit = emit
  }

  /** Prepares the recording, or rejects. Call it before anything starts that has to be recorded. */
  async record(options: RecordOptions | undefined): Promise<void> {
    if (options !== undefined) this.#recording = await openRecording(options)
  }

  open(header: RunHeader): void {
    this.#mapping = new RunMapping(this.#dialect, header, this.#emit)
    this.#recorder = this.#recording?.begin(this.#dialect, header, this.#now())
    for (const say of this.#early.splice(0)) say()
  }

  get isOpen(): boolean {
    return this.#mapping !== undefined
  }

  get mapper(): Mapper | undefined {
    return this.#mapping?.mapper
  }

  hasReportedResult(orConcluded: boolean): boolean {
    return this.#mapping?.hasReportedResult(orConcluded) === true
  }

  /** Calls that were interrupted when the run was stopped. */
  get brokenOff(): readonly string[] {
    return this.#mapping?.brokenOff ?? []
  }

  /**
   * Returns a promise if the disk is slower than the output: wait for it. It never rejects. Lines from before the log
   * was opened follow right after its header.
   */
  line(stream: 'stdout' | 'stderr', line: Line): Promise<void> | undefined {
    return this.lines(stream, [line])
  }

  /** The same for lines that arrived together and share one time. */
  lines(stream: 'stdout' | 'stderr', lines: readonly Line[], records?: ReadRecords): Promise<void> | undefined {
    if (this.#mapping === undefined) {
      this.#early.push(() => void this.lines(stream, lines, records))
      return undefined
    }
    const at = this.#now()
    const texts = lines.map((line) => line.text)
    this.#mapping.lines(stream, texts, at, records)
    let written: Promise<void> | undefined
    if (this.#recorder !== undefined) {
      for (const line of lines) written = this.#recorder.line(stream, line, at) ?? written
    }
    return written
  }

  addNote(note: RunNote): void {
    if (this.#mapping === undefined) {
      this.#early.push(() => this.addNote(note))
      return
    }
    const at = this.#now()
    this.#mapping.note(note, at)
    this.#recorder?.note(note, at)
  }

  warn(message: string, code?: string): void {
    this.addNote({ warning: { message, ...(code === undefined ? {} : { code }) } })
  }

  /** Drops the lines and notes from before the log was opened. */
  forget(): void {
    this.#early = []
  }

  async close(): Promise<void> {
    await this.#recorder?.close()
  }
}
