import { addUsage, NO_USAGE, type StepFinishEvent, type UsageMetadata, type UsageTotals } from '@inspan/protocol'
import type { Head, LogRecord, RunState, StepEndedRecord, ThreadState } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { budgetNotice } from './budget-meter.ts'
import { recordsAfter } from '../log/load-state.ts'
import type { ThreadLog } from '../log/thread-log.ts'

export type EndedStep = Pick<StepFinishEvent, 'finishReason' | 'usage'>

/** What a run has spent before its open turn is resumed or its next turn starts. */
export interface RunSpending {
  /** The usage of the steps of the open turn, in all processes. */
  readonly turnUsage: UsageTotals
  /** How the last step of the open turn that did not fail ended. */
  readonly lastStep?: EndedStep
  /** The usage of the run's subagents that have ended. */
  readonly childUsage: UsageTotals
  /** How long the run has worked, in all its turns and processes. */
  readonly workedMs: number
  /** The budget notices already recorded. */
  readonly announced: readonly string[]
}

export const NOTHING_SPENT: RunSpending = { turnUsage: NO_USAGE, childUsage: NO_USAGE, workedMs: 0, announced: [] }

async function runSpending(store: Store, stream: string, run: RunState): Promise<RunSpending> {
  let turnUsage = NO_USAGE
  let childUsage = NO_USAGE
  let lastStep: EndedStep | undefined
  const announced: string[] = []
  const clock = new WorkClock(run)
  for await (const record of recordsAfter(store, stream, run.startedSeq)) {
    const { body, turn } = record
    clock.see(record)
    if (body.type === 'child.ended' && body.usage !== undefined) childUsage = addUsage(childUsage, body.usage)
    if (body.type === 'note' && body.kind === 'budget') announced.push(budgetNotice(body.data ?? {}))
    if (turn !== run.turnId || body.type !== 'step.ended') continue
    if (body.error === undefined) lastStep = endedStep(body)
    if (body.usage === undefined) continue
    if (body.usage.scope === 'own' && body.usage.uncounted !== true) turnUsage = addUsage(turnUsage, body.usage)
  }
  const { workedMs } = clock
  return { turnUsage, childUsage, workedMs, announced, ...(lastStep === undefined ? {} : { lastStep }) }
}

function endedStep({ finishReason, usage }: StepEndedRecord): EndedStep {
  if (usage === undefined) return { finishReason }
  const { costUsd: _costUsd, estimatedUsd: _estimated, scope: _scope, source: _source, ...rest } = usage
  const { uncounted: _uncounted, ...tokens } = rest
  return { finishReason, usage: tokens }
}

/** Returns the spending of the thread's open run; nothing spent if there is none. */
export async function openRunSpending(
  store: Store,
  { state, stream }: { readonly state: ThreadState; readonly stream: string },
): Promise<RunSpending> {
  const { run } = state.head
  return run === null ? NOTHING_SPENT : runSpending(store, stream, run)
}

/** Returns what the thread's open run has used so far, its ended subagents included. */
export async function spentInRun(store: Store, state: ThreadState): Promise<UsageTotals> {
  const { childUsage } = await openRunSpending(store, { state, stream: state.head.stream })
  return addUsage(usedByRun(state.head), childUsage)
}

/** Returns what earlier turns and processes of the run have used themselves. */
export function usedByRun({ run, usage: { own } }: Head): UsageTotals {
  const before = run?.usageBefore ?? NO_USAGE
  const rest = Object.entries(own).map(([key, used]: [string, number]) => [
    key,
    used - (before[key as keyof UsageTotals] ?? 0),
  ])
  return Object.fromEntries(rest) as UsageTotals
}

/** Returns the usage of the open turn, for a turn that ends without reporting it. */
export async function openTurnUsage(store: Store, log: ThreadLog): Promise<UsageMetadata | undefined> {
  await log.flush()
  const { turnUsage } = await openRunSpending(store, log)
  return turnUsage.totalTokens === 0 ? undefined : tokensOf(turnUsage)
}

export function tokensOf({ costUsd: _costUsd, estimatedUsd: _estimated, ...tokens }: UsageTotals): UsageMetadata {
  return tokens
}

/** Measures the working time of a run: neither its waits nor the time when no process had it. */
class WorkClock {
  readonly #runId: string
  #worked = 0
  #since: number | undefined
  #last: number

  constructor({ runId, startedAt }: RunState) {
    this.#runId = runId
    this.#since = startedAt
    this.#last = startedAt
  }

  get workedMs(): number {
    return this.#worked + this.#open
  }

  see({ at, body, run }: LogRecord): void {
    // Records of others, such as an answer, are no work of the run.
    if (run !== this.#runId) return
    if (body.type === 'run.resumed') {
      // A process that died is counted up to the last record it wrote.
      this.#worked += this.#open
      this.#since = at
    }
    this.#last = at
    if (body.type !== 'run.parked') return
    this.#worked += this.#open
    this.#since = undefined
  }

  get #open(): number {
    return this.#since === undefined ? 0 : Math.max(0, this.#last - this.#since)
  }
}
