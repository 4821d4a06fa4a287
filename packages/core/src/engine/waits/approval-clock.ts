import { EvenerError, type ThreadState } from '@evener/protocol'
import { timerMs } from '../checks/check-options.ts'

const TRY_AGAIN_MS = 60_000

/** The thread is closed here or in other hands. */
const GONE: ReadonlySet<string> = new Set(['closed', 'held', 'fenced'])

/** Declines approvals that nobody gave in time. Nothing ever becomes "yes" by itself. */
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

  /** The time counts from when it was asked, also over a restart. */
  follow(state: ThreadState): void {
    this.stop()
    const asked = [...state.head.waits].filter((wait) => wait.kind === 'approval')
    const [first] = asked.sort((a, b) => a.at - b.at)
    if (first === undefined) return
    const left = Math.max(0, first.at + this.#timeout - this.#now())
    const ms = timerMs(left)
    // Keeps the process alive: in one with nothing else to do nobody would decline, and who awaits the run would be cut off.
    const timer = setTimeout(() => {
      if (ms < left) return this.follow(state)
      this.#decline(first.id).catch((error: unknown) => {
        // Answered or cancelled a moment ago, or no longer ours to decline.
        if (this.#timer !== timer || isGone(error) || !this.#current().head.waits.has(first.id)) return
        // It waits on, such as for an agent that is not there or not known: nobody else would try again.
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
  return EvenerError.is(error) && GONE.has(error.code)
}
