import type { Readable } from 'node:stream'
import type { Line } from './line.ts'
import { LineSplitter } from './line-splitter.ts'
import type { LineSplitterOptions } from './line-splitter.ts'

export interface LineStreamOptions extends LineSplitterOptions {
  /** The source is paused while more than this waits to be read. Default: 1 MiB. */
  readonly highWaterBytes?: number
  /** Gets every line first, even discarded ones. Its promise holds the source until it settles; it must not reject. */
  readonly tap?: ((line: Line) => Promise<void> | undefined) | undefined
}

/** Gets the lines that arrived together. Its promise holds the source until it settles; it must not reject. */
export type LineReceiver = (lines: readonly Line[]) => Promise<void> | undefined

const defaultHighWaterBytes = 1024 * 1024
/** The memory an empty line takes, so that a flood of them is bounded too. */
const bytesPerLine = 100

/**
 * The lines of a byte stream for one reader: `for await (const line of stream)`, or `of stream.batches()`, or
 * `stream.deliver(receive)`. Leaving the loop discards the rest, so that the writer never blocks on a full pipe.
 */
export class LineStream implements AsyncIterable<Line> {
  /** Resolves when the source has ended. Lines may still wait to be read. */
  readonly ended: Promise<void>
  readonly #source: Readable
  readonly #highWater: number
  readonly #tap: LineStreamOptions['tap']
  readonly #markEnded: () => void
  #lines: Line[] = []
  #waitingBytes = 0
  #unread = true
  #discarding = false
  #unbounded = false
  #finished = false
  #tapsPending = 0
  #error: Error | undefined
  #wake: (() => void) | undefined
  #receiver: LineReceiver | undefined
  #isHeld = false

  constructor(source: Readable, options: LineStreamOptions = {}) {
    this.#source = source
    this.#highWater = options.highWaterBytes ?? defaultHighWaterBytes
    this.#tap = options.tap
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    this.#markEnded = resolve
    const splitter = new LineSplitter((line) => this.#accept(line), options)
    source.on('data', (chunk: Buffer) => {
      splitter.push(chunk)
      this.#handOver()
      this.#regulate()
    })
    source.once('error', (error: Error) => {
      this.#error = error
    })
    // After destroy() only 'close' is emitted. Standard input that is a file emits 'end' and never 'close'.
    const end = (): void => {
      if (this.#finished) return
      splitter.end()
      this.#handOver()
      this.#finish()
    }
    source.once('end', end)
    source.once('close', end)
  }

  /** True while the source is held back because the reader or the tap is slower. */
  get paused(): boolean {
    return !this.#finished && this.#source.isPaused()
  }

  /** Keeps reading and drops all unread lines. */
  discard(): void {
    this.#discarding = true
    this.#lines = []
    this.#waitingBytes = 0
    this.#regulate()
  }

  /** Reads the rest without waiting for the reader, for a source whose writers are dead. */
  readToEnd(): void {
    this.#unbounded = true
    this.#regulate()
  }

  [Symbol.asyncIterator](): AsyncGenerator<Line, void, undefined> {
    this.#claim()
    return this.#read()
  }

  /** Yields all waiting lines at once, mostly those that arrived together. */
  batches(): AsyncGenerator<readonly Line[], void, undefined> {
    this.#claim()
    return this.#readBatches()
  }

  /**
   * Calls `receive` with lines in the moment in which they arrive, which costs less than a loop does. It must not throw.
   * Resolves after the last of them.
   */
  async deliver(receive: LineReceiver): Promise<void> {
    this.#claim()
    this.#receiver = receive
    this.#handOver()
    while (!this.#finished || this.#isHeld || this.#lines.length > 0) await this.#more()
    if (this.#error !== undefined) throw this.#error
  }

  #handOver(): void {
    if (this.#receiver === undefined || this.#isHeld || this.#lines.length === 0) return
    const lines = this.#lines
    this.#lines = []
    this.#waitingBytes = 0
    const held = this.#receiver(lines)
    if (held !== undefined) void this.#hold(held)
  }

  async #hold(held: Promise<void>): Promise<void> {
    this.#isHeld = true
    this.#regulate()
    await held
    this.#isHeld = false
    this.#regulate()
    this.#handOver()
    this.#wakeReader()
  }

  #claim(): void {
    if (!this.#unread) throw new Error('These lines are already being read: a line stream has one reader.')
    this.#unread = false
  }

  async *#read(): AsyncGenerator<Line, void, undefined> {
    try {
      for (;;) {
        const lines = this.#lines
        this.#lines = []
        for (const line of lines) {
          this.#waitingBytes -= cost(line)
          this.#regulate()
          yield line
        }
        if (this.#lines.length > 0) continue
        if (this.#finished) break
        await this.#more()
      }
      if (this.#error !== undefined) throw this.#error
    } finally {
      this.discard()
    }
  }

  async *#readBatches(): AsyncGenerator<readonly Line[], void, undefined> {
    try {
      for (;;) {
        const lines = this.#lines
        if (lines.length > 0) {
          this.#lines = []
          this.#waitingBytes = 0
          this.#regulate()
          yield lines
        } else if (this.#finished) break
        else await this.#more()
      }
      if (this.#error !== undefined) throw this.#error
    } finally {
      this.discard()
    }
  }

  #more(): Promise<void> {
    return new Promise((wake) => {
      this.#wake = wake
    })
  }

  #accept(line: Line): void {
    const recorded = this.#tap?.(line)
    if (recorded !== undefined) {
      this.#tapsPending += 1
      void recorded.finally(() => {
        this.#tapsPending -= 1
        this.#regulate()
      })
    }
    if (this.#discarding) return
    this.#lines.push(line)
    this.#waitingBytes += cost(line)
    if (this.#receiver === undefined) this.#wakeReader()
  }

  #regulate(): void {
    if (this.#finished) return
    const full = !this.#unbounded && !this.#discarding && this.#waitingBytes > this.#highWater
    const roomAgain = this.#unbounded || this.#discarding || this.#waitingBytes <= this.#highWater / 2
    if (full || this.#isHeld || this.#tapsPending > 0) this.#source.pause()
    else if (roomAgain && this.#source.isPaused()) this.#source.resume()
  }

  #finish(): void {
    this.#finished = true
    this.#wakeReader()
    this.#markEnded()
  }

  #wakeReader(): void {
    this.#wake?.()
    this.#wake = undefined
  }
}

function cost(line: Line): number {
  return line.rawLength + bytesPerLine
}
