import type { RunExit } from '@evener/shell/run'
import { cleanText } from '../kit/clean-text.ts'

const MAX_WORDS = 300

/**
 * Whether a program goes on with the session it was told to, by what it says first: it may never have saved what it had
 * printed before it was killed.
 */
export class ResumeTrial {
  readonly #lost: RegExp
  #complaint: string | undefined
  #isOver = false

  /** `lost`: how it says that there is no such session, or no such message in it. */
  constructor(lost: RegExp) {
    this.#lost = lost
  }

  /** True as soon as it goes on. */
  hears(stream: 'stdout' | 'stderr', text: string): boolean {
    if (this.#isOver) return true
    const found = this.#lost.exec(text)
    if (found !== null) this.#complaint ??= cleanText(text.slice(found.index)).slice(0, MAX_WORDS).trim()
    else if (stream === 'stdout' && text.trim() !== '') this.#isOver = true
    return this.#isOver
  }

  /** What it complained about, if it could not go on. */
  complaint({ code }: RunExit): string | undefined {
    return this.#isOver || code === 0 ? undefined : this.#complaint
  }
}
