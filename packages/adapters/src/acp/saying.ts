import type { NativeRef } from '@inspan/protocol'
import type { TextPlace, Run } from '../kit/mapper.ts'

type AcpTextPlace = TextPlace & { readonly partId: string }

interface OpenWords {
  readonly isThought: boolean
  readonly messageId: string | undefined
  readonly place: AcpTextPlace
  said: string
}

/** Collects the chunks of what one session says. A text ends when something else happens. */
export class Saying {
  readonly #run: Run
  readonly #sessionId: string | undefined
  /** The call that started the subagent, if it is one. */
  readonly #parent: string | undefined
  #open: OpenWords | undefined
  #count = 0

  constructor(run: Run, sessionId: string | undefined, parent: string | undefined) {
    this.#run = run
    this.#sessionId = sessionId
    this.#parent = parent
  }

  /** Whether a chunk continues the open text. */
  goesOn(isThought: boolean, messageId: string | undefined): boolean {
    return this.#open?.isThought === isThought && this.#open.messageId === messageId
  }

  add(text: string, isThought: boolean, messageId: string | undefined): void {
    if (!this.goesOn(isThought, messageId)) this.end()
    this.#open ??= { isThought, messageId, place: this.#place(messageId), said: '' }
    const open = this.#open
    open.said += text
    if (isThought) this.#run.reasoningDelta(text, open.place)
    else this.#run.textDelta(text, open.place)
  }

  end(isInterrupted = false): void {
    const open = this.#open
    if (open === undefined) return
    this.#open = undefined
    if (open.isThought) this.#run.reasoning(open.said, open.place)
    else this.#run.text(open.said, open.place, isInterrupted)
  }

  #place(messageId: string | undefined): AcpTextPlace {
    this.#count += 1
    const native: NativeRef = {
      ...(this.#sessionId === undefined ? {} : { sessionId: this.#sessionId }),
      ...(messageId === undefined ? {} : { messageId }),
    }
    return {
      partId: `${this.#parent ?? ''}${messageId ?? ''}.${this.#count}`,
      native,
      ...(this.#parent === undefined ? {} : { parent: this.#parent }),
    }
  }
}
