import type { NativeRef } from '@inspan/protocol'
import type { TextPlace, Run } from '../kit/mapper.ts'
import { MessageText } from './message-text.ts'

/** The open text and the open thought. They end when something else happens. */
export class GooseSaying {
  readonly #run: Run
  #text: { readonly id: string; readonly text: MessageText; readonly place: GooseTextPlace } | undefined
  #thought: { readonly id: string; said: string; readonly place: GooseTextPlace } | undefined
  #parts = 0
  /** Whether texts of this run came in pieces. */
  #hasPieces = false
  /** Whether anything was said since the last call. */
  #hasSpoken = false

  constructor(run: Run) {
    this.#run = run
  }

  get hasSpoken(): boolean {
    return this.#hasSpoken
  }

  /** Notes a call: what was said before it is no answer. */
  awaitAnswer(): void {
    this.#hasSpoken = false
  }

  text(id: string, piece: string): void {
    this.#endThought()
    if (this.#text !== undefined && this.#text.id !== id) this.end()
    this.#text ??= { id, text: new MessageText(), place: this.#place(id) }
    const pending = this.#text
    pending.text.add(piece)
    this.#hasSpoken ||= piece.trim() !== ''
    this.#hasPieces ||= pending.text.comesInPieces
    const certain = pending.text.takeCertain()
    if (certain !== '') this.#run.textDelta(certain, pending.place)
  }

  thought(id: string, piece: string): void {
    if (this.#thought !== undefined && this.#thought.id !== id) this.#endThought()
    this.#thought ??= { id, said: '', place: this.#place(id) }
    this.#thought.said += piece
    this.#run.reasoningDelta(piece, this.#thought.place)
  }

  /** Ends the open texts. `interrupted`: they were cut short. */
  end(interrupted = false): void {
    this.#endThought()
    const pending = this.#text
    if (pending === undefined) return
    this.#text = undefined
    this.#run.text(pending.text.whole(this.#hasPieces), pending.place, interrupted)
  }

  #endThought(): void {
    const thought = this.#thought
    if (thought === undefined) return
    this.#thought = undefined
    this.#run.reasoning(thought.said, thought.place)
  }

  #place(id: string): GooseTextPlace {
    this.#parts += 1
    return { partId: `${id}.${this.#parts}`, native: this.#native(id) }
  }

  #native(id: string): NativeRef | undefined {
    const { sessionId } = this.#run
    if (id === '') return sessionId === undefined ? undefined : { sessionId }
    return sessionId === undefined ? { messageId: id } : { sessionId, messageId: id }
  }
}

type GooseTextPlace = TextPlace & { readonly partId: string }
