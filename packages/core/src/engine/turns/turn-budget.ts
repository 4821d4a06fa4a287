import { addUsage, NO_USAGE, type Budget, type Head, type UsageTotals } from '@evener/protocol'
import type { ActiveTurn } from './active-run.ts'
import { BudgetMeter, type BudgetNotice } from '../runs/budget-meter.ts'
import { timerMs } from '../checks/check-options.ts'
import { isUnpriced, type PricedUsage } from '../runs/priced-usage.ts'
import type { ThreadLog } from '../log/thread-log.ts'

/**
 * Watches what a turn uses of its run's budget: tokens and money when a step reports them, time by the clock. Whatever
 * agent it is, it is stopped at a limit, and the record says so.
 */
export class TurnBudget implements Disposable {
  readonly #active: ActiveTurn
  readonly #log: ThreadLog
  readonly #onLimit: () => void
  readonly #meter: BudgetMeter
  readonly #headBefore: Head
  readonly #unfollow: () => void
  #workedMs: number
  #since: number | undefined = performance.now()
  /** Up to which time of work it has been told what there was to tell. Only what comes later needs a timer. */
  #checkedMs = -1
  #timer: NodeJS.Timeout | undefined
  #isWarned = false

  constructor(active: ActiveTurn, log: ThreadLog, onLimit: () => void) {
    this.#active = active
    this.#log = log
    this.#onLimit = onLimit
    this.#headBefore = log.state.head
    this.#workedMs = active.spent.workedMs
    this.#meter = new BudgetMeter(active.spent.announced)
    this.#unfollow = log.onEntry((entry) => {
      if (entry.kind !== 'record') return
      if (entry.record.body.type === 'run.parked') this.#rest()
      if (entry.record.body.type === 'run.resumed') this.#work()
    })
    this.#setTimer()
  }

  /** Asked before the agent is told anything: whether turns or processes before it have used up all there was. */
  isUsedUp(): boolean {
    return this.#check()
  }

  /** Asked after everything that may have changed what was used. */
  check(): void {
    if (this.#check()) this.#onLimit()
  }

  /** Asked when the agent has said its last word: programs may say only then what they used. There is nothing to stop. */
  async checkEnd(): Promise<void> {
    if (this.#budget !== undefined) this.#check(await this.#active.recorder.unsaidUsage())
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#unfollow()
  }

  get #budget(): Budget | undefined {
    return this.#active.setup.defaults.budget
  }

  get #elapsed(): number {
    return this.#workedMs + (this.#since === undefined ? 0 : performance.now() - this.#since)
  }

  /** Tells what there is to tell; whether the turn has to end for it. */
  #check(unsaid: PricedUsage = {}): boolean {
    const budget = this.#budget
    if (budget === undefined) return false
    const usage = addUsage(addUsage(usedByRun(this.#headBefore), this.#active.recorder.used), unsaid)
    const ms = this.#elapsed
    this.#checkedMs = ms
    if (budget.usd !== undefined && (this.#active.recorder.hasUnpriced || isUnpriced(unsaid))) this.#warn(budget.usd)
    const notices = this.#meter.check(budget, { usage, ms })
    return notices.map((notice) => this.#tell(notice)).includes(true)
  }

  #tell(notice: BudgetNotice): boolean {
    const { recorder, runId, turnId } = this.#active
    const { limit, max, stage, used } = notice
    const text = `${stage === 'near' ? 'Near' : 'At'} the limit of ${max} ${limit}: ${used} used.`
    const data = { limit, max, stage, used }
    this.#log.add({ type: 'note', kind: 'budget', text, data }, { run: runId, turn: turnId })
    // What ended by itself before anybody could stop it has its own reason.
    if (stage === 'near' || recorder.isFinished) return false
    recorder.noteLimit(limit)
    return true
  }

  /** A limit that cannot be kept must not look as if it were. */
  #warn(usd: number): void {
    if (this.#isWarned) return
    this.#isWarned = true
    const { runId, turnId } = this.#active
    const text =
      `The limit of ${usd} usd cannot be kept: it is not known what the model costs. ` +
      'Give its price with `priceOf`, or a limit in tokens.'
    this.#log.add({ type: 'note', kind: 'warning', text, data: { limit: 'usd' } }, { run: runId, turn: turnId })
  }

  /** While it waits for people a run uses up no time. */
  #rest(): void {
    this.#workedMs = this.#elapsed
    this.#since = undefined
    clearTimeout(this.#timer)
  }

  #work(): void {
    this.#since ??= performance.now()
    this.#setTimer()
  }

  /** For the next moment at which time itself is something to tell. */
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
        // It may come a little before its time, and then comes again.
      },
      timerMs(Math.max(next - this.#elapsed, 0)),
    ).unref()
  }
}

/** What the run has used already, in turns before this one and in processes before this one. */
function usedByRun({ run, usage: { own } }: Head): UsageTotals {
  const before = run?.usageBefore ?? NO_USAGE
  const rest = Object.entries(own).map(([key, used]: [string, number]) => [
    key,
    used - before[key as keyof UsageTotals],
  ])
  return Object.fromEntries(rest) as UsageTotals
}
