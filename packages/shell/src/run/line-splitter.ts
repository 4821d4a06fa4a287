import { constants } from 'node:buffer'
import { Line } from './line.ts'
import type { LineEnding } from './line.ts'

export interface LineSplitterOptions {
  /** A longer line is delivered in pieces marked `partial`. Default: 64 MiB. */
  readonly maxLineBytes?: number | undefined
}

const defaultMaxLineBytes: number = 64 * 1024 * 1024
const leastMaxLineBytes = 16
const lineFeed = 0x0a
const carriageReturn = 0x0d

/**
 * Splits bytes into lines at 0x0A and at nothing else: U+2028, U+2029, NUL and a lone CR are content. Chunk boundaries
 * do not affect the lines. A chunk must not be changed after it was pushed.
 */
export class LineSplitter {
  readonly #onLine: (line: Line) => void
  readonly #max: number
  // Grows by doubling. A list of chunks would cost a hundred bytes for each byte that arrives alone.
  #pending: Buffer = Buffer.alloc(0)
  #pendingBytes = 0
  #piece = 0
  #atStart = true

  constructor(onLine: (line: Line) => void, options: LineSplitterOptions = {}) {
    assertMaxLineBytes(options.maxLineBytes)
    this.#onLine = onLine
    this.#max = options.maxLineBytes ?? defaultMaxLineBytes
  }

  push(chunk: Uint8Array): void {
    const buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let start = 0
    let newline = buffer.indexOf(lineFeed)
    if (newline !== -1 && this.#pendingBytes > 0) {
      start = newline + 1
      this.#keep(buffer, 0, start)
      const line = this.#takePending()
      this.#deliverLine(line, 0, line.length)
      newline = buffer.indexOf(lineFeed, start)
    }
    while (newline !== -1) {
      const next = newline + 1
      this.#deliverLine(buffer, start, next)
      start = next
      newline = buffer.indexOf(lineFeed, start)
    }
    if (start < buffer.length) {
      this.#keep(buffer, start, buffer.length)
      this.#deliverOverflow()
    }
  }

  /** Delivers the incomplete last line, if there is one. */
  end(): void {
    if (this.#pendingBytes === 0) return
    const rest = this.#takePending()
    this.#deliver(rest, 0, rest.length, '')
  }

  #deliverLine(buffer: Buffer, start: number, next: number): void {
    const crlf = next - 2 >= start && buffer[next - 2] === carriageReturn
    this.#deliver(buffer, start, crlf ? next - 2 : next - 1, crlf ? '\r\n' : '\n')
  }

  #deliver(buffer: Buffer, start: number, end: number, ending: LineEnding): void {
    let from = start
    while (end - from > this.#max) from = this.#deliverPiece(buffer, from)
    this.#emit(buffer, from, end, ending, this.#piece > 0)
    this.#piece = 0
  }

  /**
   * With more than `max` + 1 bytes waiting, the content is too long even if the last byte is the CR of a CRLF. Waiting
   * for that one byte makes the pieces independent of the chunks.
   */
  #deliverOverflow(): void {
    if (this.#pendingBytes <= this.#max + 1) return
    const pending = this.#takePending()
    let from = 0
    while (pending.length - from > this.#max + 1) from = this.#deliverPiece(pending, from)
    this.#keep(pending, from, pending.length)
  }

  #deliverPiece(buffer: Buffer, from: number): number {
    const cut = cutBetweenCharacters(buffer, from, this.#max)
    this.#emit(buffer, from, cut, '', true)
    this.#piece += 1
    return cut
  }

  #emit(buffer: Buffer, rawStart: number, end: number, ending: LineEnding, partial: boolean): void {
    let start = rawStart
    if (this.#atStart) {
      this.#atStart = false
      if (end - start >= 3 && buffer[start] === 0xef && buffer[start + 1] === 0xbb && buffer[start + 2] === 0xbf) {
        start += 3
      }
    }
    this.#onLine(new Line({ buffer, rawStart, start, end, ending, partial, piece: this.#piece }))
  }

  #keep(buffer: Buffer, start: number, end: number): void {
    const needed = this.#pendingBytes + end - start
    if (needed > this.#pending.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#pending.length * 2))
      this.#pending.copy(larger, 0, 0, this.#pendingBytes)
      this.#pending = larger
    }
    buffer.copy(this.#pending, this.#pendingBytes, start, end)
    this.#pendingBytes = needed
  }

  /** Hands the buffer over, because the lines made from it keep pointing into it. */
  #takePending(): Buffer {
    const taken = this.#pending.subarray(0, this.#pendingBytes)
    this.#pending = Buffer.alloc(0)
    this.#pendingBytes = 0
    return taken
  }
}

export function assertMaxLineBytes(max: number = defaultMaxLineBytes): void {
  if (Number.isInteger(max) && max >= leastMaxLineBytes && max <= constants.MAX_STRING_LENGTH) return
  throw new RangeError(
    `maxLineBytes must be a whole number from ${leastMaxLineBytes} to ${constants.MAX_STRING_LENGTH}, not ${max}`,
  )
}

/** Returns a cut at most `max` bytes on that is not inside a character. Bytes that are not UTF-8 are cut anywhere. */
function cutBetweenCharacters(buffer: Buffer, from: number, max: number): number {
  for (let cut = from + max; cut > from + max - 4; cut -= 1) {
    if (!isContinuation(buffer[cut] ?? 0)) return cut
  }
  return from + max
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}
