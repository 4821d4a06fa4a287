import {
  harnessMessageOf,
  toHarnessContent,
  type HarnessMessage,
  type HarnessMessageContent,
  type Part,
  type ThreadMessage,
} from '@evener/protocol'
import { freezeDeep } from '../../engine/log/frozen.ts'

interface Whole {
  readonly part: Part
  /** Frozen, since every later form of the message has it too. */
  readonly piece: HarnessMessageContent | undefined
}

/** The public form of a message that grows, made anew with every delta: of what is whole already it only copies the list. */
export class GrowingMessage {
  #id: string | undefined
  #whole: Whole[] = []

  /** `isShared`: the piece that grows and the list are frozen as well. */
  next(message: ThreadMessage, isShared: boolean): HarnessMessage {
    if (message.id !== this.#id) this.#begin(message.id)
    const { parts } = message
    // Most answers are one text, and a list that is made for one holds no place for more.
    const only = parts.length === 1 ? this.#piece(parts.at(0), 0, isShared) : undefined
    const content = only === undefined ? this.#pieces(message, isShared) : [only]
    return harnessMessageOf(message, isShared ? Object.freeze(content) : content)
  }

  #begin(id: string): void {
    this.#id = id
    this.#whole = []
  }

  #pieces({ parts }: ThreadMessage, isShared: boolean): HarnessMessageContent[] {
    const pieces: HarnessMessageContent[] = []
    for (let i = 0; i < parts.length; i++) {
      const piece = this.#piece(parts.at(i), i, isShared)
      if (piece !== undefined) pieces.push(piece)
    }
    return pieces
  }

  #piece(part: Part | undefined, index: number, isShared: boolean): HarnessMessageContent | undefined {
    if (part === undefined) return undefined
    const known = this.#whole[index]
    if (known?.part === part) return known.piece
    const piece = toHarnessContent(part)
    if (part.state === 'open') return isShared ? Object.freeze(piece) : piece
    this.#whole[index] = { part, piece: freezeDeep(piece) }
    return piece
  }
}
