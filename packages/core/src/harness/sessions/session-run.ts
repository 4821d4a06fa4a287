import { InspanError, type JsonValue } from '@inspan/protocol'
import type { Feedback, RunOpinions, Score } from '../../engine/index.ts'
import { aNumber, aText, words } from '@inspan/protocol/internal'
import { givenFields } from '../checks/check-given.ts'
import type { SessionContext } from './session-context.ts'

/** The run of the session's thread. */
export class SessionRun {
  readonly #session: SessionContext

  constructor(session: SessionContext) {
    this.#session = session
  }

  /** Returns the id of the run, also while it waits. */
  getRunId(): string | null {
    return this.#session.binding.head?.run?.runId ?? null
  }

  /** False while the run waits for a tool's question. */
  isRunning(): boolean {
    return this.#session.binding.isRunning
  }

  /**
   * Returns the signal of the run at work or waiting; aborted as soon as somebody asks to cancel it. `undefined`
   * without a run.
   */
  getAbortSignal(): AbortSignal | undefined {
    return this.#session.conversation.aborting.controller?.signal
  }

  hasAbortController(): boolean {
    return this.getRunId() !== null
  }

  /** Returns a controller that cancels the run when aborted. */
  ensureAbortController(): AbortController {
    const { controller } = this.#session.conversation.aborting
    if (controller !== undefined) return controller
    throw new InspanError('misuse', 'There is no run to abort.', { hint: 'Send a message first.' })
  }

  /** Returns the answer of the newest ended run as data, if the agent's `output` asked for it; else `undefined`. */
  getOutput(): JsonValue | undefined {
    return this.#session.binding.head?.lastRun?.output
  }

  /** Returns the trace id of the newest run where `observability` takes spans; else `null`. */
  getTraceId(): string | null {
    const { lastRun, run } = this.#session.binding.head ?? {}
    const runId = run?.runId ?? lastRun?.runId
    return (runId === undefined ? undefined : this.#session.core.traces.of(runId)) ?? null
  }

  isAbortRequested(): boolean {
    return this.#session.conversation.isAbortRequested
  }

  requestAbort(): Promise<void> {
    return this.#session.conversation.abort()
  }

  /** Records a score of a run. Default: the newest run. */
  async addScore(options: Score & MaybeRun): Promise<void> {
    const required = { name: aText, value: aNumber, source: aText }
    const optional = { reason: words, runId: aText }
    const { runId, ...score } = givenFields(options, 'run.addScore({ name, value, source })', required, optional)
    await this.#session.binding.requireRuntime().addScore(this.#meant(runId), score)
  }

  /** Records feedback on a run. Default: the newest run. */
  async addFeedback(options: Feedback & MaybeRun): Promise<void> {
    const call = 'run.addFeedback({ rating, text, source })'
    const optional = { rating: aNumber, text: words, runId: aText }
    const { runId, ...feedback } = givenFields(options, call, { source: aText }, optional)
    await this.#session.binding.requireRuntime().addFeedback(this.#meant(runId), feedback)
  }

  /** Returns the scores and feedback of a run. Default: the newest run. */
  async opinions(options: MaybeRun = {}): Promise<RunOpinions> {
    const { runId } = givenFields(options, 'run.opinions({ runId? })', {}, { runId: aText })
    return this.#session.binding.requireRuntime().opinions(this.#meant(runId))
  }

  #meant(runId: string | undefined): string {
    const { lastRun, run } = this.#session.binding.requireRuntime().state.head
    const meant = runId ?? run?.runId ?? lastRun?.runId
    if (meant !== undefined) return meant
    throw new InspanError('not-found', 'There has been no run in this thread.')
  }
}

interface MaybeRun {
  readonly runId?: string
}

/** The live connection to the thread. */
export class SessionStream {
  readonly #session: SessionContext

  constructor(session: SessionContext) {
    this.#session = session
  }

  /** True when the session is bound to a thread, whose events it emits. */
  isOpen(): boolean {
    return this.#session.binding.threadId !== null
  }

  isActive(): boolean {
    return this.#session.binding.isRunning
  }

  activeRunId(): string | null {
    return this.#session.binding.isRunning ? (this.#session.binding.head?.run?.runId ?? null) : null
  }

  abort(): Promise<void> {
    return this.#session.conversation.abort()
  }
}
