import type { RunExit } from '@inspan/shell/run'
import { cleanText } from '../kit/clean-text.ts'

const MAX_WORDS = 300

/**
 * Tells by the first output whether a CLI resumes the session it was told to. It may have been killed before it saved
 * what it had printed.
 */
export class ResumeTrial {
  readonly #lost: RegExp
  #complaint: string | undefined
  #isOver = false

  /** `lost` matches the message that there is no such session, or no such message in it. */
  constructor(lost: RegExp) {
    this.#lost = lost
  }

  /** Returns true as soon as the CLI has resumed. */
  hears(stream: 'stdout' | 'stderr', text: string): boolean {
    if (this.#isOver) return true
    const found = this.#lost.exec(text)
    if (found !== null) this.#complaint ??= cleanText(text.slice(found.index)).slice(0, MAX_WORDS).trim()
    else if (stream === 'stdout' && text.trim() !== '') this.#isOver = true
    return this.#isOver
  }

  /** Returns the CLI's message if it could not resume. */
  complaint({ code }: RunExit): string | undefined {
    return this.#isOver || code === 0 ? undefined : this.#complaint
  }
}
