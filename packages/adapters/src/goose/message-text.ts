/** If a record repeats a text of this length word for word, it restates the text and does not continue it. */
const CERTAIN = 16
/** A beginning this short may be repeated by chance, if texts come in pieces. */
const CHANCE = 2

/**
 * A text that comes in records with the same id. Each record holds the next piece or the whole text so far: versions
 * differ, and only the records tell. A piece may begin like the text it continues ("1", "10" of "110"), so a short
 * restatement does not count before more of the text has come.
 */
export class MessageText {
  /** All pieces joined, in case each continues the text. */
  #joined = ''
  /** The pieces after that, once it is clear that each continues the text. Joining them one by one would copy all. */
  readonly #pieces: string[] = []
  #joinedPieces = 0
  #taken = 0
  /** The last piece, in case each restates the text. */
  #last = ''
  #kind: 'unknown' | 'pieces' | 'restated' = 'unknown'
  /** What was certain before a restatement that is still in doubt, and how much of the text that one restated. */
  #doubt: { readonly certain: string; restated: number } | undefined

  add(piece: string): void {
    if (piece === '') return
    if (this.#kind === 'pieces') this.#pieces.push(piece)
    else if (this.#last === '') this.#joined = this.#last = piece
    else if (piece.startsWith(this.#last)) this.#restate(piece)
    else this.#continue(piece)
  }

  /** Returns what has become certain since the last call. */
  takeCertain(): string {
    const before = this.#certain()
    const fresh = before.length > this.#taken ? before.slice(this.#taken) : ''
    this.#taken = Math.max(this.#taken, before.length)
    if (this.#joinedPieces === this.#pieces.length) return fresh
    const more = this.#pieces.slice(this.#joinedPieces).join('')
    this.#joinedPieces = this.#pieces.length
    return fresh + more
  }

  /** The part of the text that is certain, without pieces that came later. It only grows. */
  #certain(): string {
    if (this.#doubt !== undefined) return this.#doubt.certain
    return this.#kind === 'restated' ? this.#last : this.#joined
  }

  get comesInPieces(): boolean {
    return this.#kind === 'pieces'
  }

  /** Returns the text at its end. `othersInPieces`: other texts of this run came in pieces. */
  whole(othersInPieces: boolean): string {
    const doubt = this.#doubt
    if (doubt === undefined) return this.#certain() + this.#pieces.join('')
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
