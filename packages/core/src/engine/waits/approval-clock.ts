import { InspanError } from '@inspan/protocol'
import type { ThreadState } from '@inspan/protocol/log'
import { timerMs } from '../checks/check-options.ts'

const TRY_AGAIN_MS = 60_000

/** Error codes that say that the thread is closed here or has another owner. */
const GONE: ReadonlySet<string> = new Set(['closed', 'held', 'fenced'])

/** Declines approvals that are not answered in time. Nothing is ever approved by itself. */
export class ApprovalClock {
  readonly #timeout: number
  readonly #now: () => number
  readonly #decline: (waitId: string) => Promise<void>
  readonly #current: () => ThreadState
  #timer: NodeJS.Timeout | undefined

  constructor(
    timeout: number,
    now: () => number,
    decline: (waitId: string) => Promise<void>,
    current: () => ThreadState,
  ) {
    this.#timeout = timeout
    this.#now = now
    this.#decline = decline
    this.#current = current
  }

  /** Sets the timer for the oldest approval. The time counts from when it was asked, even across a restart. */
  follow(state: ThreadState): void {
    this.stop()
    const asked = [...state.head.waits].filter((wait) => wait.kind === 'approval')
    const [first] = asked.sort((a, b) => a.at - b.at)
    if (first === undefined) return
    const left = Math.max(0, first.at + this.#timeout - this.#now())
    const ms = timerMs(left)
    // Not unref'd: in a process with nothing else to do nobody would decline, and `await`ing the run would be cut off.
    const timer = setTimeout(() => {
      if (ms < left) return this.follow(state)
      this.#decline(first.id).catch((error: unknown) => {
        // Answered or cancelled a moment ago, or the thread is no longer ours.
        if (this.#timer !== timer || isGone(error) || !this.#current().head.waits.has(first.id)) return
        // The wait stays open, e.g. because its agent is unavailable or unknown: nobody else would try again.
        this.#timer = setTimeout(() => this.follow(state), TRY_AGAIN_MS).unref()
      })
    }, ms)
    this.#timer = timer
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

function isGone(error: unknown): boolean {
  return InspanError.is(error) && GONE.has(error.code)
}
