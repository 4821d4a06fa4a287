import type { Part, ThreadMessage } from '@inspan/protocol'
import {
  harnessMessageOf,
  toHarnessContent,
  type HarnessMessage,
  type HarnessMessageContent,
} from '@inspan/protocol/harness'
import { freezeDeep } from '../../common/frozen.ts'

interface Whole {
  readonly part: Part
  /** Frozen, since all later versions of the message share it. */
  readonly piece: HarnessMessageContent | undefined
}

/**
 * Makes the public form of a growing message anew with every delta. Parts that are whole already are reused: only the
 * list is copied.
 */
export class GrowingMessage {
  #id: string | undefined
  #whole: Whole[] = []

  /** `isShared`: freezes the growing piece and the list as well. */
  next(message: ThreadMessage, isShared: boolean): HarnessMessage {
    if (message.id !== this.#id) this.#begin(message.id)
    const { parts } = message
    // Most answers are one text, and an array made for one item reserves no room for more.
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
