import { isDeepStrictEqual } from 'node:util'
import type { LanguageModel } from '@inspan/agent'
import { InspanError, type Goal } from '@inspan/protocol'
import type { GoalEvaluation, HarnessEvent } from '@inspan/protocol/harness'
import { asError, defined, unlessAborted } from '@inspan/protocol/internal'
import { asJson } from '@inspan/protocol/log'
import { sendStateSignal } from '../signals/send-signal.ts'
import { signalPart } from '../signals/signal-part.ts'
import type { ThreadPort } from '../signals/thread-port.ts'
import { judge, type GoalJudgement, type GoalVerdict } from './judge.ts'

export const DEFAULT_MAX_RUNS = 50
const JUDGE_TIMEOUT_MS = 60_000
/** The judge sees this many of the newest messages. */
const JUDGED_MESSAGES = 40

export interface ObjectiveOptions {
  /** The goal is paused after this many judged runs. Default: 50. */
  readonly maxRuns?: number
  /** The model that decides whether the goal is reached. */
  readonly judgeModelId?: string
  /** Added to the judge's instructions. */
  readonly prompt?: string
}

/** Changes of a goal; `status: 'active'` resumes a paused one. */
export interface ObjectiveChanges extends ObjectiveOptions {
  readonly status?: 'active' | 'paused'
  readonly pausedReason?: string
}

export interface GoalKeeperOptions {
  readonly port: ThreadPort
  readonly emit: (event: HarnessEvent) => void
  /** Returns the model that judges; `undefined` when the id is unknown, or when none was configured at all. */
  readonly judgeModel: (modelId: string | undefined) => Promise<LanguageModel | undefined>
  readonly now?: () => number
  readonly judgeTimeoutMs?: number
}

/**
 * Keeps a thread working towards its goal. A judge looks at every complete run; until it finds the goal reached,
 * another run begins. The goal is part of the thread's state and outlives the process.
 */
export class GoalKeeper {
  readonly #options: GoalKeeperOptions
  readonly #now: () => number
  readonly #closing = new AbortController()

  constructor(options: GoalKeeperOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
  }

  /** Called when the thread is closed: aborts the judge. */
  close(): void {
    this.#closing.abort()
  }

  getObjective(): Goal | null {
    return this.#options.port.state.head.goal
  }

  async setObjective(objective: string, options: ObjectiveOptions = {}): Promise<Goal> {
    if (objective.trim() === '') throw new InspanError('invalid-input', 'An objective must not be empty.')
    assertMaxRuns(options.maxRuns)
    await this.#assertJudge(options.judgeModelId)
    const now = this.#now()
    const { judgeModelId, maxRuns = DEFAULT_MAX_RUNS, prompt } = options
    const goal: Goal = {
      objective,
      status: 'active',
      runsUsed: 0,
      maxRuns,
      ...defined({ judgeModelId, prompt }),
      startedAt: now,
      updatedAt: now,
    }
    await this.#save(goal)
    await this.#tell(`Work towards this objective until it is reached: ${objective}`)
    return goal
  }

  async clearObjective(): Promise<void> {
    if (this.getObjective() === null) return
    await this.#save(null)
    await this.#tell('There is no objective any more.')
  }

  async updateObjectiveOptions(changes: ObjectiveChanges): Promise<Goal> {
    assertMaxRuns(changes.maxRuns)
    if (changes.judgeModelId !== undefined) await this.#assertJudge(changes.judgeModelId)
    const goal = this.getObjective()
    if (goal === null) throw new InspanError('not-found', 'This thread has no objective.')
    const { pausedReason: _pausedReason, ...rest } = goal
    const { status = goal.status } = changes
    const pausedReason = changes.pausedReason ?? goal.pausedReason
    const changed: Goal = {
      ...rest,
      ...defined({ maxRuns: changes.maxRuns, judgeModelId: changes.judgeModelId, prompt: changes.prompt }),
      status,
      ...(status === 'paused' && pausedReason !== undefined ? { pausedReason } : {}),
      updatedAt: this.#now(),
    }
    await this.#save(changed)
    return changed
  }

  /**
   * Judges a complete run. Returns true when another run has begun for the goal. No run begins once `stop` is aborted.
   */
  async judgeRun(stop?: AbortSignal): Promise<boolean> {
    const goal = this.getObjective()
    if (goal?.status !== 'active') return false
    const { emit, port } = this.#options
    const isStopped = (): boolean => stop?.aborted === true
    emit({ type: 'goal_evaluation', payload: { ...pendingEvaluation(goal), pending: true } })
    const started = this.#now()
    const outcome = await this.#judge(goal, stop)
    if (this.#closing.signal.aborted) return false
    if (isStopped()) {
      emit({
        type: 'goal_evaluation',
        payload: { ...pendingEvaluation(goal), ...STOPPED, duration: this.#now() - started },
      })
      return false
    }
    // Whoever set, changed or paused the goal meanwhile has decided about it.
    if (!isDeepStrictEqual(this.getObjective(), goal)) return false
    const judged = this.#judged(goal, outcome)
    await this.#save(judged)
    // If a run began while the judge was thinking, that run is judged next.
    const goesOn = outcome.verdict === 'continue' && judged.status === 'active' && port.state.head.run === null
    const evaluation = evaluationOf(judged, outcome, this.#now() - started, !goesOn)
    emit({ type: 'goal_evaluation', payload: evaluation })
    // It may have been stopped meanwhile, even by a listener of this event.
    if (!goesOn || isStopped()) return false
    await port.submit([feedback(judged, outcome, evaluation)])
    return true
  }

  async #assertJudge(modelId: string | undefined): Promise<void> {
    if ((await this.#options.judgeModel(modelId)) !== undefined) return
    throw new InspanError('misuse', 'A goal needs a model that judges it, and none is known.', {
      hint: 'Give `judgeModelId`, and `resolveModel` to the harness if the id is your own.',
    })
  }

  async #judge(goal: Goal, stop: AbortSignal | undefined): Promise<JudgeOutcome> {
    const timeout = AbortSignal.timeout(this.#options.judgeTimeoutMs ?? JUDGE_TIMEOUT_MS)
    const signal = AbortSignal.any([timeout, this.#closing.signal, ...(stop === undefined ? [] : [stop])])
    try {
      // A model that ignores its signal must not hold up the thread.
      return { ...(await unlessAborted(signal, this.#ask(goal, signal))), timedOut: false }
    } catch (error) {
      const reason = signal.aborted ? 'The judge took too long.' : asError(error).message
      return { verdict: 'failed', reason, timedOut: timeout.aborted }
    }
  }

  async #ask(goal: Goal, signal: AbortSignal): Promise<GoalJudgement> {
    const model = await this.#options.judgeModel(goal.judgeModelId)
    if (model === undefined) throw new Error(`There is no model "${goal.judgeModelId ?? ''}" to judge.`)
    const messages = await this.#options.port.newestMessages(JUDGED_MESSAGES)
    signal.throwIfAborted()
    return judge(model, goal, messages, signal)
  }

  #judged(goal: Goal, { reason, verdict }: JudgeOutcome): Goal {
    const judged = { ...goal, runsUsed: goal.runsUsed + 1, updatedAt: this.#now() }
    if (verdict === 'done') return { ...judged, status: 'done' }
    // Without a judge, nobody would ever say that the goal is reached.
    if (verdict === 'failed') return { ...judged, status: 'paused', pausedReason: `The judge failed: ${reason}` }
    const { maxRuns = DEFAULT_MAX_RUNS } = goal
    if (verdict === 'continue' && judged.runsUsed >= maxRuns) {
      return { ...judged, status: 'paused', pausedReason: `The limit of ${maxRuns} runs is reached.` }
    }
    return judged
  }

  async #save(goal: Goal | null): Promise<void> {
    await this.#options.port.record([{ type: 'config.changed', goal }])
  }

  async #tell(contents: string): Promise<void> {
    const { port } = this.#options
    await sendStateSignal(port, { id: 'goal', cacheKey: port.newId(), tagName: 'objective', contents })
  }
}

type JudgeOutcome = Omit<GoalJudgement, 'verdict'> & {
  readonly verdict: GoalVerdict | 'failed'
  readonly timedOut: boolean
}

const SCORES: Readonly<Record<GoalVerdict, number>> = { done: 1, waiting: 0.5, continue: 0 }

/** The judge found out nothing: the goal stays as it is, and no run begins for it. */
const STOPPED = { reason: 'The judge was stopped.', suppressFeedback: true } as const

function pendingEvaluation(goal: Goal): GoalEvaluation {
  return {
    objective: goal.objective,
    iteration: goal.runsUsed + 1,
    maxRuns: goal.maxRuns ?? DEFAULT_MAX_RUNS,
    passed: false,
    status: goal.status,
    results: [],
    duration: 0,
    timedOut: false,
    maxRunsReached: false,
    suppressFeedback: false,
  }
}

function evaluationOf(goal: Goal, outcome: JudgeOutcome, duration: number, suppressFeedback: boolean): GoalEvaluation {
  const { reason, timedOut, verdict } = outcome
  const passed = verdict === 'done'
  const maxRuns = goal.maxRuns ?? DEFAULT_MAX_RUNS
  const result = { passed, reason, scorerId: 'goal-judge', scorerName: 'Goal (LLM)', duration }
  return {
    ...pendingEvaluation(goal),
    iteration: goal.runsUsed,
    passed,
    results: verdict === 'failed' ? [] : [{ score: SCORES[verdict], ...result }],
    reason,
    ...defined({ pausedReason: goal.pausedReason }),
    ...(verdict === 'waiting' ? { waitingForUser: true } : {}),
    ...(verdict === 'failed' ? { judgeFailed: true } : {}),
    duration,
    timedOut,
    maxRunsReached: verdict === 'continue' && goal.runsUsed >= maxRuns,
    suppressFeedback,
  }
}

function feedback(goal: Goal, { reason }: JudgeOutcome, evaluation: GoalEvaluation): ReturnType<typeof signalPart> {
  const message = `The objective is not reached yet. ${reason}\nGo on: ${goal.objective}`
  return signalPart(
    'system_reminder',
    { tagName: 'system-reminder', message, attributes: { type: 'goal' } },
    {
      reminderType: 'goal',
      goalMaxTurns: evaluation.maxRuns,
      goalEvaluation: asJson(evaluation),
      ...defined({ judgeModelId: goal.judgeModelId }),
    },
  )
}

function assertMaxRuns(maxRuns: number | undefined): void {
  if (maxRuns === undefined || (Number.isInteger(maxRuns) && maxRuns > 0)) return
  throw new InspanError('invalid-input', '`maxRuns` must be a positive whole number.')
}
