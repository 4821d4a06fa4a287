const FIRST_MS = 250
const LONGEST_MS = 30_000

export interface BackoffOptions {
  /** The longest pause before the first try to connect again; it doubles with every try. Default: 250. */
  readonly firstMs?: number
  /** Default: 30,000. */
  readonly longestMs?: number
}

/** How long to wait before the next try: longer each time, and never the same for all clients of a server. */
export class Backoff {
  readonly #options: BackoffOptions
  #tries = 0

  constructor(options: BackoffOptions = {}) {
    this.#options = options
  }

  next(random: number = Math.random()): number {
    const { firstMs = FIRST_MS, longestMs = LONGEST_MS } = this.#options
    const most = Math.min(longestMs, firstMs * 2 ** this.#tries)
    this.#tries = Math.min(this.#tries + 1, 20)
    return random * most
  }

  reset(): void {
    this.#tries = 0
  }
}
