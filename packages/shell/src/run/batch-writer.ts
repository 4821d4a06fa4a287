import type { FileHandle } from 'node:fs/promises'

/** With more bytes than this waiting to be written, the source is held back. */
const highWaterBytes = 4 * 1024 * 1024

/** A record to be written, with the number of output lines and bytes it covers. */
export interface BatchItem {
  readonly text: string
  readonly lines: number
  readonly lineBytes: number
}

interface Batch {
  readonly at: number
  readonly items: BatchItem[]
  bytes: number
}

/** Appends to a file in batches. What is added during a write goes into the next one. */
export class BatchWriter {
  readonly #file: FileHandle
  readonly #onFailure: (error: Error, lost: readonly BatchItem[]) => void
  #end: number
  #batch: Batch | undefined
  #writing: Promise<void> | undefined
  #overwriting: Promise<void> = Promise.resolve()
  #failed = false

  /** `onFailure` is called once. Nothing is written after it. */
  constructor(file: FileHandle, end: number, onFailure: (error: Error, lost: readonly BatchItem[]) => void) {
    this.#file = file
    this.#end = end
    this.#onFailure = onFailure
  }

  /** The position of the next record. */
  get end(): number {
    return this.#end
  }

  /** A returned promise means that too much is waiting: add nothing before it resolves. It never rejects. */
  append(item: BatchItem): Promise<void> | undefined {
    const bytes = Buffer.byteLength(item.text)
    this.#batch ??= { at: this.#end, items: [], bytes: 0 }
    this.#batch.items.push(item)
    this.#batch.bytes += bytes
    this.#end += bytes
    this.#writing ??= this.#writeBatches()
    return this.#batch.bytes > highWaterBytes ? this.#writing : undefined
  }

  /** `text` is called right before the write, so that the newest value is written. */
  overwrite(at: number, text: () => string): Promise<void> {
    this.#overwriting = this.#overwriting.then(async () => {
      await this.#writing
      if (!this.#failed) await this.#write(text(), at, [])
    })
    return this.#overwriting
  }

  async flush(): Promise<void> {
    await this.#writing
    await this.#overwriting
  }

  async #writeBatches(): Promise<void> {
    // Collects the lines of one chunk.
    await Promise.resolve()
    for (let batch = this.#batch; batch !== undefined && !this.#failed; batch = this.#batch) {
      this.#batch = undefined
      await this.#write(batch.items.map(({ text }) => text).join(''), batch.at, batch.items)
    }
    this.#writing = undefined
  }

  async #write(text: string, at: number, items: readonly BatchItem[]): Promise<void> {
    const bytes = Buffer.from(text)
    try {
      for (let written = 0; written < bytes.length;) {
        written += (await this.#file.write(bytes, written, bytes.length - written, at + written)).bytesWritten
      }
    } catch (error) {
      this.#failed = true
      this.#onFailure(error as Error, [...items, ...(this.#batch?.items ?? [])])
      this.#batch = undefined
    }
  }
}
