import { EvenerError, type ThreadState } from '@evener/protocol'
import { timerMs } from './check-options.ts'

/** Declines approvals that nobody gave in time. Nothing ever becomes "yes" by itself. */
export class ApprovalClock {
  readonly #timeout: number
  readonly #now: () => number
  readonly #decline: (waitId: string) => Promise<void>
  #timer: NodeJS.Timeout | undefined

  constructor(timeout: number, now: () => number, decline: (waitId: string) => Promise<void>) {
    this.#timeout = timeout
    this.#now = now
    this.#decline = decline
  }

  /** The time counts from when it was asked, also over a restart. */
  follow(state: ThreadState): void {
    clearTimeout(this.#timer)
    const asked = [...state.head.waits].filter((wait) => wait.kind === 'approval')
    const [first] = asked.sort((a, b) => a.at - b.at)
    if (first === undefined) return
    const left = Math.max(0, first.at + this.#timeout - this.#now())
    const ms = timerMs(left)
    this.#timer = setTimeout(() => {
      if (ms < left) return this.follow(state)
      this.#decline(first.id).catch((error: unknown) => {
        // Answered, cancelled or closed a moment ago: then there is nothing to decline.
        if (!EvenerError.is(error)) throw error
      })
    }, ms).unref()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}
