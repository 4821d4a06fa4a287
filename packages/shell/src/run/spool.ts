import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { JsonObject } from '@inspan/protocol'
import { BatchWriter } from './batch-writer.ts'
import type { Line } from './line.ts'
import { makeFolder } from './make-folder.ts'
import { toRecord } from './spool-record.ts'
import type { SpoolRedactor, SpoolLimitRecord, SpoolNoteRecord, SpoolStream } from './spool-record.ts'

export interface SpoolOptions {
  /** The size at which recording stops. Default: 64 MiB. */
  readonly maxBytes?: number
  /** Runs on every line before it is written. If it throws, the line is withheld and a record says so. */
  readonly redact?: SpoolRedactor
  /** Called once when the file can no longer be written: disk full, directory gone. The run goes on. */
  readonly onError?: (error: SpoolError) => void
}

export type SpoolPlace = { readonly dir: string } | { readonly file: string }

export interface SpoolSummary {
  readonly recorded: number
  /** What was left out because of the size limit or an error. */
  readonly notRecorded: { readonly lines: number; readonly bytes: number }
  readonly error?: SpoolError
}

/** The raw spool of a run could not be written. */
export class SpoolError extends Error {
  override readonly name = 'SpoolError'
  readonly file: string

  constructor(file: string, cause: Error) {
    super(`The raw record ${file} cannot be written (${cause.message}). Free space or check the directory.`, { cause })
    this.file = file
  }
}

export const spoolFileName = 'raw.jsonl'
const defaultSpoolBytes = 64 * 1024 * 1024
/** The limit record is overwritten in place with larger numbers, so its width is fixed. */
const limitRecordWidth = 200

/**
 * Opens the raw spool of a run: one JSON record per line of output, readable by the owner only. An existing file is
 * continued. It must have only one writer at a time.
 */
export async function openSpool(place: SpoolPlace, options: SpoolOptions = {}): Promise<Spool> {
  const path = 'file' in place ? place.file : join(place.dir, spoolFileName)
  let file: FileHandle | undefined
  try {
    await makeFolder(dirname(path))
    file = await open(path, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o600)
    const info = await file.stat()
    if (!info.isFile()) throw new Error('it is not a regular file')
    await file.chmod(0o600)
    const spool = new Spool(path, file, info.size, options)
    if (info.size > 0 && !(await endsWithLineFeed(file, info.size))) spool.closeTornRecord()
    return spool
  } catch (error) {
    await file?.close()
    throw new SpoolError(path, error as Error)
  }
}

export class Spool {
  readonly file: string
  readonly #handle: FileHandle
  readonly #writer: BatchWriter
  readonly #maxBytes: number
  readonly #options: SpoolOptions
  #recorded = 0
  #lostLines = 0
  #lostBytes = 0
  #limitRecordAt: number | undefined
  #error: SpoolError | undefined
  #closing: Promise<SpoolSummary> | undefined

  constructor(file: string, handle: FileHandle, end: number, options: SpoolOptions) {
    this.file = file
    this.#handle = handle
    this.#options = options
    this.#maxBytes = options.maxBytes ?? defaultSpoolBytes
    this.#writer = new BatchWriter(handle, end, (error, lost) => {
      for (const { lines, lineBytes } of lost) {
        this.#recorded -= lines
        this.#lostLines += lines
        this.#lostBytes += lineBytes
      }
      this.#fail(error)
    })
  }

  /** How many lines were recorded so far. */
  get recorded(): number {
    return this.#recorded
  }

  /** A returned promise means that the disk is slower than the output: wait for it. It never rejects. */
  write(stream: SpoolStream, line: Line, at: number = Date.now()): Promise<void> | undefined {
    if (this.#closing !== undefined) this.#fail(new Error('it was closed while lines still came'))
    if (this.#error !== undefined || this.#limitRecordAt !== undefined) return this.#leaveOut(line)
    const text = `${JSON.stringify(toRecord(stream, line, at, this.#options.redact))}\n`
    if (this.#writer.end + Buffer.byteLength(text) > this.#maxBytes) return this.#leaveOut(line)
    this.#recorded += 1
    return this.#writer.append({ text, lines: 1, lineBytes: line.rawLength })
  }

  /** Records a note about the run itself. It is not redacted and not subject to the size limit. */
  note(note: JsonObject, at: number = Date.now()): void {
    if (this.#closing !== undefined) this.#fail(new Error('it was closed while notes still came'))
    if (this.#error !== undefined) return
    const record: SpoolNoteRecord = { at, note }
    void this.#writer.append({ text: `${JSON.stringify(record)}\n`, lines: 0, lineBytes: 0 })
  }

  /** Ends a half-written record left by a crash, so that it does not spoil the next one. */
  closeTornRecord(): void {
    void this.#writer.append({ text: '\n', lines: 0, lineBytes: 0 })
  }

  async flush(): Promise<void> {
    await this.#writer.flush()
  }

  close(): Promise<SpoolSummary> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<SpoolSummary> {
    if (this.#limitRecordAt !== undefined) {
      await this.#writer.overwrite(this.#limitRecordAt, () => this.#limitRecord(true))
    }
    await this.#writer.flush()
    await this.#handle.close()
    const notRecorded = { lines: this.#lostLines, bytes: this.#lostBytes }
    return { recorded: this.#recorded, notRecorded, ...(this.#error && { error: this.#error }) }
  }

  #leaveOut(line: Line): Promise<void> | undefined {
    this.#lostLines += 1
    this.#lostBytes += line.rawLength
    if (this.#error !== undefined) return undefined
    if (this.#limitRecordAt === undefined) {
      this.#limitRecordAt = this.#writer.end
      return this.#writer.append({ text: this.#limitRecord(false), lines: 0, lineBytes: 0 })
    }
    // Rewritten whenever the number has doubled, so that after a crash it is at least half of the true one.
    const hasDoubled = (this.#lostLines & (this.#lostLines - 1)) === 0
    return hasDoubled ? this.#writer.overwrite(this.#limitRecordAt, () => this.#limitRecord(false)) : undefined
  }

  #limitRecord(final: boolean): string {
    const notRecorded = { lines: this.#lostLines, bytes: this.#lostBytes }
    const record: SpoolLimitRecord = { at: Date.now(), limit: this.#maxBytes, notRecorded, final }
    return `${JSON.stringify(record).padEnd(limitRecordWidth - 1)}\n`
  }

  #fail(cause: Error): void {
    if (this.#error !== undefined) return
    this.#error = new SpoolError(this.file, cause)
    this.#options.onError?.(this.#error)
  }
}

async function endsWithLineFeed(file: FileHandle, size: number): Promise<boolean> {
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer[0] === 0x0a
}
