import { createHash } from 'node:crypto'

const WINDOW_MS = 60_000
const MAX_GUESSES = 10
const MAX_ADDRESSES = 10_000

/**
 * Counts wrong tokens and codes by address. The same wrong one counts once: a forgotten tab that tries its old cookie
 * again and again must not lock out its user. Loopback addresses are counted like all others.
 */
export class LoginFailures {
  readonly #now: () => number
  readonly #guesses = new Map<string, Map<string, number>>()

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  note(address: string, credential: string): void {
    const guesses = this.#recent(address)
    guesses.set(createHash('sha256').update(credential).digest('base64'), this.#now())
    this.#guesses.delete(address)
    this.#guesses.set(address, guesses)
    const [oldest] = this.#guesses.keys()
    if (this.#guesses.size > MAX_ADDRESSES && oldest !== undefined) this.#guesses.delete(oldest)
  }

  /** Returns for how many seconds the address is locked out; 0 if it is not. */
  lockedFor(address: string): number {
    const guesses = this.#recent(address)
    if (guesses.size < MAX_GUESSES) return 0
    const oldest = Math.min(...guesses.values())
    return Math.max(1, Math.ceil((oldest + WINDOW_MS - this.#now()) / 1000))
  }

  #recent(address: string): Map<string, number> {
    const from = this.#now() - WINDOW_MS
    const kept = [...(this.#guesses.get(address) ?? [])].filter(([, at]) => at > from).slice(-MAX_GUESSES)
    return new Map(kept)
  }
}
