/** A text this long that is said again word for word is restated, not continued. */
const CERTAIN = 16
/** So short a beginning may be repeated by chance, where texts come in pieces. */
const CHANCE = 2

/**
 * A text that comes in records which share one id. Each holds the next piece, or all of the text so far: versions differ,
 * and only the records tell. A piece may begin like the text it continues ("1", "10" of "110"), so a short restatement
 * is not believed before more of the text has come.
 */
export class MessageText {
  /** All pieces, if each continues the text. */
  #joined = ''
  /** The last piece, if each restates the text. */
  #last = ''
  #kind: 'unknown' | 'pieces' | 'restated' = 'unknown'
  /** What was certain before a restatement that is not believed yet, and how much of the text that one restated. */
  #doubt: { readonly certain: string; restated: number } | undefined

  add(piece: string): void {
    if (piece === '') return
    if (this.#kind === 'pieces') this.#joined += piece
    else if (this.#last === '') this.#joined = this.#last = piece
    else if (piece.startsWith(this.#last)) this.#restate(piece)
    else this.#continue(piece)
  }

  /** What is certain of the text so far. It only grows. */
  get certain(): string {
    if (this.#doubt !== undefined) return this.#doubt.certain
    return this.#kind === 'restated' ? this.#last : this.#joined
  }

  get comesInPieces(): boolean {
    return this.#kind === 'pieces'
  }

  /** The text, when no more of it comes. `othersInPieces`: other texts of this run did. */
  whole(othersInPieces: boolean): string {
    const doubt = this.#doubt
    if (doubt === undefined) return this.certain
    return othersInPieces && doubt.restated <= CHANCE ? this.#joined : this.#last
  }

  #restate(piece: string): void {
    const restated = this.#last.length
    if (this.#kind === 'restated' || restated >= CERTAIN) {
      this.#kind = 'restated'
      this.#doubt = undefined
    } else {
      this.#doubt ??= { certain: this.#last, restated }
      this.#doubt.restated = restated
      this.#joined += piece
    }
    this.#last = piece
  }

  #continue(piece: string): void {
    const restated = this.#doubt?.restated ?? 0
    if (this.#kind === 'restated' || restated > CHANCE) {
      this.#kind = 'restated'
      this.#doubt = undefined
      this.#last += piece
      return
    }
    this.#kind = 'pieces'
    this.#doubt = undefined
    this.#joined += piece
  }
}
