import { isUtf8 } from 'node:buffer'

export type LineEnding = '\n' | '\r\n' | ''

/** Where a line lies in the bytes it was read from. `rawStart..start` is a byte order mark or nothing. */
export interface LineSpan {
  readonly buffer: Buffer
  readonly rawStart: number
  readonly start: number
  readonly end: number
  readonly ending: LineEnding
  readonly partial: boolean
  readonly piece: number
}

/**
 * One line, or one piece of a line that is longer than the limit.
 * It points into the chunk it came from, so nothing is copied or decoded before somebody asks for it.
 */
export class Line {
  /** What ended it. `''`: the stream did, or the limit cut it here. */
  readonly ending: LineEnding
  /** A piece of a line longer than `maxLineBytes`. All pieces of it carry the mark, the last one too. */
  readonly partial: boolean
  /** 0 for an ordinary line and for the first piece of a long one, then 1, 2, 3 … */
  readonly piece: number
  readonly #buffer: Buffer
  readonly #rawStart: number
  readonly #start: number
  readonly #end: number
  #text: string | undefined

  constructor(span: LineSpan) {
    this.ending = span.ending
    this.partial = span.partial
    this.piece = span.piece
    this.#buffer = span.buffer
    this.#rawStart = span.rawStart
    this.#start = span.start
    this.#end = span.end
  }

  /** A line feed ended it. False for a half line at the end of the stream and for pieces that are not the last one. */
  get complete(): boolean {
    return this.ending !== ''
  }

  /** The stream began with a UTF-8 byte order mark; it is in `raw`, not in `text`. */
  get hasBom(): boolean {
    return this.#start > this.#rawStart
  }

  /** Without the line ending. Bytes that are not UTF-8 become U+FFFD; `bytes` has them unchanged. */
  get text(): string {
    this.#text ??= this.#buffer.toString('utf8', this.#start, this.#end)
    return this.#text
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(this.#start, this.#end)
  }

  /** Exactly what was read: byte order mark, content and line ending. */
  get raw(): Buffer {
    return this.#buffer.subarray(this.#rawStart, this.#end + this.ending.length)
  }

  get rawLength(): number {
    return this.#end + this.ending.length - this.#rawStart
  }

  get isUtf8(): boolean {
    return isUtf8(this.bytes)
  }
}
