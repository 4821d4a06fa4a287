import { findLiving } from './kill-tree.ts'
import type { RunTarget } from './membership.ts'

export interface SweptRun extends RunTarget {
  /** Called when a sweep finds no process of the run any more. */
  readonly onGone: () => void
}

/** Many short runs end close together, so one look serves them all. */
const sweepMs = 500

/**
 * Waits until no process of the ended runs is left. What a run leaves behind must still be ended when we die, so the
 * guard has to know the run until then. Sweeps only after a run has ended, and never keeps the host alive.
 */
export class Sweeper {
  #ended: SweptRun[] = []
  #isPlanned = false

  add(run: SweptRun): void {
    this.#ended.push(run)
    if (this.#isPlanned) return
    this.#isPlanned = true
    setTimeout(() => void this.#sweep(), sweepMs).unref()
  }

  async #sweep(): Promise<void> {
    this.#isPlanned = false
    const ended = this.#ended
    this.#ended = []
    const living = await findLiving(ended)
    this.#ended.push(...living)
    for (const run of ended) if (!living.includes(run)) run.onGone()
  }
}

export const hostSweeper: Sweeper = new Sweeper()
