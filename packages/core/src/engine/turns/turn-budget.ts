import { addUsage, type CostedUsage, type UsageTotals } from '@inspan/protocol'
import type { Budget } from '@inspan/protocol/driver'
import type { ChildEndedRecord, Head } from '@inspan/protocol/log'
import type { ActiveTurn } from './active-run.ts'
import { BudgetMeter, type BudgetNotice } from '../runs/budget-meter.ts'
import { timerMs } from '../checks/check-options.ts'
import { usedByRun } from '../runs/run-spending.ts'
import { isUnpriced } from '../runs/priced-usage.ts'
import type { ThreadLog } from '../log/thread-log.ts'

/**
 * Checks a turn against the budget of its run: tokens and money when a step reports them, time by the clock. At a limit
 * any agent is stopped, and the record names the limit.
 */
export class TurnBudget implements Disposable {
  readonly #active: ActiveTurn
  readonly #log: ThreadLog
  readonly #onLimit: () => void
  readonly #meter: BudgetMeter
  readonly #headBefore: Head
  readonly #unfollow: () => void
  /** What the run's subagents have used: they spend from its budget. */
  #childUsage: UsageTotals
  #workedMs: number
  #since: number | undefined = performance.now()
  /** The working time of the last check. Only later moments need a timer. */
  #checkedMs = -1
  #timer: NodeJS.Timeout | undefined
  #isWarned = false
  #isOver = false

  constructor(active: ActiveTurn, log: ThreadLog, onLimit: () => void) {
    this.#active = active
    this.#log = log
    this.#onLimit = onLimit
    this.#headBefore = log.state.head
    this.#workedMs = active.spent.workedMs
    this.#childUsage = active.spent.childUsage
    this.#meter = new BudgetMeter(active.spent.announced)
    this.#unfollow = log.onEntry((entry) => {
      if (entry.kind !== 'record') return
      if (entry.record.body.type === 'run.parked') this.#rest()
      if (entry.record.body.type === 'run.resumed') this.#work()
      if (entry.record.body.type === 'child.ended') this.#childEnded(entry.record.body)
    })
    this.#setTimer()
  }

  get isLimited(): boolean {
    return this.#budget !== undefined
  }

  /** Whether earlier turns or processes have used up the budget. Called before the agent gets its input. */
  isUsedUp(): boolean {
    return this.#check()
  }

  /** Called after everything that may have changed the usage. */
  check(): void {
    if (this.#check()) this.#onLimit()
  }

  /** Called at the agent's `finish`, when some programs first report their usage. There is nothing left to stop. */
  async checkEnd(): Promise<void> {
    if (this.#budget !== undefined) this.#check(await this.#active.recorder.unreportedUsage())
  }

  [Symbol.dispose](): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#unfollow()
  }

  get #budget(): Budget | undefined {
    return this.#active.setup.defaults.budget
  }

  get #elapsed(): number {
    return this.#workedMs + (this.#since === undefined ? 0 : performance.now() - this.#since)
  }

  /** Records the notices that are due. Returns whether the turn has to end. */
  #check(unreported: CostedUsage = {}): boolean {
    const budget = this.#budget
    if (budget === undefined) return false
    const own = addUsage(addUsage(usedByRun(this.#headBefore), this.#active.recorder.used), unreported)
    const usage = addUsage(own, this.#childUsage)
    const ms = this.#elapsed
    this.#checkedMs = ms
    if (budget.usd !== undefined && (this.#active.recorder.hasUnpriced || isUnpriced(unreported)))
      this.#warn(budget.usd)
    const notices = this.#meter.check(budget, { usage, ms })
    return notices.map((notice) => this.#tell(notice)).includes(true)
  }

  #tell(notice: BudgetNotice): boolean {
    const { recorder, runId, turnId } = this.#active
    const { limit, max, stage, used } = notice
    const text = `${stage === 'near' ? 'Near' : 'At'} the limit of ${max} ${limit}: ${used} used.`
    const data = { limit, max, stage, used }
    this.#log.add({ type: 'note', kind: 'budget', text, data }, { run: runId, turn: turnId })
    // A turn that has ended by itself keeps its own finish reason.
    if (stage === 'near' || recorder.isFinished) return false
    recorder.noteLimit(limit)
    return true
  }

  /** Warns that a limit in dollars cannot be enforced, which must not go unnoticed. */
  #warn(usd: number): void {
    if (this.#isWarned) return
    this.#isWarned = true
    const { runId, turnId } = this.#active
    const text =
      `The limit of ${usd} usd cannot be kept: it is not known what the model costs. ` +
      'Give its price with `priceOf`, or a limit in tokens.'
    this.#log.add({ type: 'note', kind: 'warning', text, data: { limit: 'usd' } }, { run: runId, turn: turnId })
  }

  #childEnded({ usage }: ChildEndedRecord): void {
    if (usage === undefined) return
    this.#childUsage = addUsage(this.#childUsage, usage)
    // Not now: a notice would be recorded while listeners still hear of this record.
    queueMicrotask(() => {
      if (!this.#isOver) this.check()
    })
  }

  /** Stops the clock: waits use up no time. */
  #rest(): void {
    this.#workedMs = this.#elapsed
    this.#since = undefined
    clearTimeout(this.#timer)
  }

  #work(): void {
    this.#since ??= performance.now()
    this.#setTimer()
  }

  /** Sets the timer for the next notice about time. */
  #setTimer(): void {
    clearTimeout(this.#timer)
    const { ms, warnAt = 0.8 } = this.#budget ?? {}
    if (ms === undefined) return
    const next = [ms * warnAt, ms].find((at) => at > this.#checkedMs)
    if (next === undefined) return
    this.#timer = setTimeout(
      () => {
        this.check()
        this.#setTimer()
        // A timer may fire slightly early; then it is set again.
      },
      timerMs(Math.max(next - this.#elapsed, 0)),
    ).unref()
  }
}
