import { InspanError, type Answer, type Wait, type WaitRequest } from '@inspan/protocol'
import type { ThreadState } from '@inspan/protocol/log'
import { timerMs } from '../checks/check-options.ts'

const TRY_AGAIN_MS = 60_000

/** Error codes that say that the thread is closed here or has another owner. */
const GONE: ReadonlySet<string> = new Set(['closed', 'held', 'fenced'])

const TOO_LATE: Answer = { decision: 'decline', reason: 'nobody answered in time' }

/** Returns how a wait settles that is due: the end of a limit is over, everything else is declined, never approved. */
export function answerWhenDue({ kind }: Wait): Answer {
  return kind === 'limit' ? { decision: 'answer', value: { isOver: true } } : TOO_LATE
}

/** Returns when a wait settles by itself. Approvals from before the time-out was set are due by it too. */
export function dueOf({ at, due, kind }: Wait, approvalTimeout: number | undefined): number | undefined {
  return due ?? (kind === 'approval' && approvalTimeout !== undefined ? at + approvalTimeout : undefined)
}

/** Notes when an approval is declined if nobody answers, so that any process can do it. */
export function withDue(
  wait: WaitRequest,
  { approvalTimeout, now = Date.now }: { readonly approvalTimeout?: number; readonly now?: () => number },
): WaitRequest {
  if (wait.kind !== 'approval' || wait.due !== undefined || approvalTimeout === undefined) return wait
  const due = now() + approvalTimeout
  return Number.isFinite(due) ? { ...wait, due } : wait
}

/**
 * Settles the waits of a thread that are due while a runtime of it is open. The times are on record: for a thread that
 * no process has open, a `Sweep` finds them.
 */
export class DueClock {
  readonly #approvalTimeout: () => number | undefined
  readonly #now: () => number
  readonly #settle: (wait: Wait) => Promise<void>
  readonly #current: () => ThreadState
  #timer: NodeJS.Timeout | undefined

  /** `approvalTimeout`: that of the door whose run waits. */
  constructor(
    approvalTimeout: () => number | undefined,
    now: () => number,
    settle: (wait: Wait) => Promise<void>,
    current: () => ThreadState,
  ) {
    this.#approvalTimeout = approvalTimeout
    this.#now = now
    this.#settle = settle
    this.#current = current
  }

  /** Settles the waits that are due, the one due longest first. Each settles once, whoever else finds it due. */
  async settleDue(): Promise<void> {
    for (const { due, wait } of this.#dated(this.#current())) {
      if (due > this.#now()) return
      await this.#settle(wait).catch((error: unknown) => {
        if (this.#current().head.waits.has(wait.id)) throw error
      })
    }
  }

  #dated({ head }: ThreadState): { readonly wait: Wait; readonly due: number }[] {
    return [...head.waits]
      .flatMap((wait) => {
        const due = dueOf(wait, this.#approvalTimeout())
        return due === undefined ? [] : [{ wait, due }]
      })
      .sort((a, b) => a.due - b.due)
  }

  /** Sets the timer for the wait that is due first. The time counts from when it was asked, even across a restart. */
  follow(state: ThreadState): void {
    this.stop()
    const [next] = this.#dated(state)
    if (next === undefined) return
    const { due, wait: first } = next
    const left = Math.max(0, due - this.#now())
    const ms = timerMs(left)
    // Not unref'd: in a process with nothing else to do nobody would decline, and `await`ing the run would be cut off.
    const timer = setTimeout(() => {
      if (ms < left) return this.follow(state)
      this.#settle(first).catch((error: unknown) => {
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
