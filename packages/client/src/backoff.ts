const FIRST_MS = 250
const LONGEST_MS = 30_000

/** How long to wait before the next try: longer each time, and never the same for all clients of a server. */
export class Backoff {
  #tries = 0

  next(random: number = Math.random()): number {
    const most = Math.min(LONGEST_MS, FIRST_MS * 2 ** this.#tries)
    this.#tries = Math.min(this.#tries + 1, 20)
    return random * most
  }

  reset(): void {
    this.#tries = 0
  }
}
