import { isUtf8 } from 'node:buffer'

export type LineEnding = '\n' | '\r\n' | ''

/** The position of a line in the buffer it was read from. `rawStart..start` is a byte order mark or empty. */
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
 * One line, or one piece of a line that is longer than the limit. It points into its chunk, so nothing is copied or
 * decoded before it is needed.
 */
export class Line {
  /** The line ending; `''` when the stream ended or the limit cut the line here. */
  readonly ending: LineEnding
  /** True for every piece of a line longer than `maxLineBytes`, including the last one. */
  readonly partial: boolean
  /** 0 for an ordinary line and the first piece of a long one, then 1, 2, 3 … */
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

  /** True if a line feed ended it. False for an incomplete last line and for pieces that are not the last one. */
  get complete(): boolean {
    return this.ending !== ''
  }

  /** True if the stream began with a UTF-8 byte order mark, which is in `raw` but not in `text`. */
  get hasBom(): boolean {
    return this.#start > this.#rawStart
  }

  /** The text without the line ending. Bytes that are not UTF-8 become U+FFFD; `bytes` has them unchanged. */
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
