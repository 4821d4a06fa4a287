import { EvenerError, type ThreadState } from '@evener/protocol'
import { timerMs } from './check-options.ts'

const TRY_AGAIN_MS = 60_000

const SETTLED: ReadonlySet<string> = new Set(['not-found', 'conflict', 'closed', 'held', 'fenced'])

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
    this.stop()
    const asked = [...state.head.waits].filter((wait) => wait.kind === 'approval')
    const [first] = asked.sort((a, b) => a.at - b.at)
    if (first === undefined) return
    const left = Math.max(0, first.at + this.#timeout - this.#now())
    const ms = timerMs(left)
    const timer = setTimeout(() => {
      if (ms < left) return this.follow(state)
      this.#decline(first.id).catch((error: unknown) => {
        if (this.#timer !== timer || isSettled(error)) return
        // It waits on, such as for an agent that is not there: nobody else would try again.
        this.#timer = setTimeout(() => this.follow(state), TRY_AGAIN_MS).unref()
      })
    }, ms).unref()
    this.#timer = timer
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

/** Answered or cancelled a moment ago, closed here or in other hands: there is nothing left to decline here. */
function isSettled(error: unknown): boolean {
  return EvenerError.is(error) && SETTLED.has(error.code)
}
