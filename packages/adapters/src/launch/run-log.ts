import type { Line } from '@evener/shell/run'
import type { MappedEvent } from '../kit/activity.ts'
import type { Dialect, Mapper } from '../kit/mapper.ts'
import { openRecording, type Recording, type RecordOptions, type RunRecorder } from './recording.ts'
import { RunMapping } from './run-mapping.ts'
import type { RunHeader, RunNote } from './run-note.ts'

/** Everything a run says, from its program and from its host, mapped as it comes and recorded if that was asked for. */
export class RunLog {
  readonly #dialect: Dialect
  readonly #now: () => number
  readonly #emit: (event: MappedEvent) => void
  #mapping: RunMapping | undefined
  #recording: Recording | undefined
  #recorder: RunRecorder | undefined
  /** What was said before it was open. */
  #early: (() => void)[] = []

  constructor(dialect: Dialect, now: () => number, emit: (event: MappedEvent) => void) {
    this.#dialect = dialect
    this.#now = now
    this.#emit = emit
  }

  /** To be asked before anything is begun that could not be recorded. Rejects when it cannot be. */
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

  get hasToldResult(): boolean {
    return this.#mapping?.hasToldResult === true
  }

  /** Calls that were broken off when the run was stopped. */
  get brokenOff(): readonly string[] {
    return this.#mapping?.brokenOff ?? []
  }

  /**
   * A promise means: the disk is slower than the output, wait for it. It never rejects. What is said before the log is open
   * comes right after its header.
   */
  line(stream: 'stdout' | 'stderr', line: Line): Promise<void> | undefined {
    return this.lines(stream, [line])
  }

  /** The same for lines that came together, and so at one time. */
  lines(stream: 'stdout' | 'stderr', lines: readonly Line[]): Promise<void> | undefined {
    if (this.#mapping === undefined) {
      this.#early.push(() => void this.lines(stream, lines))
      return undefined
    }
    const at = this.#now()
    const texts = lines.map((line) => line.text)
    this.#mapping.lines(stream, texts, at)
    let written: Promise<void> | undefined
    if (this.#recorder !== undefined) {
      for (const line of lines) written = this.#recorder.line(stream, line, at) ?? written
    }
    return written
  }

  tell(note: RunNote): void {
    if (this.#mapping === undefined) {
      this.#early.push(() => this.tell(note))
      return
    }
    const at = this.#now()
    this.#mapping.note(note, at)
    this.#recorder?.note(note, at)
  }

  warn(message: string, code?: string): void {
    this.tell({ warning: { message, ...(code === undefined ? {} : { code }) } })
  }

  /** What was said before the log was open has not been said. */
  forget(): void {
    this.#early = []
  }

  async close(): Promise<void> {
    await this.#recorder?.close()
  }
}
