import { InspanError, type Answer, type Wait } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import { asError, defined } from '@inspan/protocol/internal'
import type { RunOutcome } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { type ControlFact, isWaitingForChildren, type ThreadRuntime } from '../../engine/index.ts'
import { GoalKeeper, type GoalKeeperOptions } from '../goals/goal-keeper.ts'
import { inboxTool } from '../signals/inbox-tool.ts'
import type { DeliveryPolicy } from '../signals/notification.ts'
import { Notifications } from '../signals/notifications.ts'
import { ThreadPort } from '../signals/thread-port.ts'
import { builtinTools, type BuiltinToolId } from '../tools/builtin-tools.ts'
import { factsOfPlan, type ForeignPlanModes } from '../tools/foreign-plans.ts'

export interface ThreadControlOptions extends ForeignPlanModes, Pick<GoalKeeperOptions, 'emit' | 'judgeModel'> {
  readonly store: Store
  readonly runtime: Pick<ThreadRuntime, 'state' | 'stateInTurn' | 'record' | 'steer' | 'onEntry' | 'idle' | 'run'>
  /** Whether this door carries out the run. What follows from others' runs is theirs to do. */
  readonly isOwnRun: (runId: string) => boolean
  /** The key of this door, for the runs it starts. */
  readonly door?: string
  /** The agent that takes the next turn. */
  readonly agentId: () => string
  readonly disabledTools?: readonly BuiltinToolId[]
  readonly cwd?: () => string
  readonly delivery?: DeliveryPolicy
  readonly now?: () => number
  readonly newId?: () => string
  /** Called when the work after a run failed; the thread goes on. */
  readonly onFailure: (error: Error) => void
}

/** The control layer's part of one open thread: its tools, signals, inbox and goal. */
export class ThreadControl {
  readonly port: ThreadPort
  readonly notifications: Notifications
  readonly goal: GoalKeeper
  readonly #options: ThreadControlOptions
  /** Made when a run first asks for them: most open threads are idle. */
  #made: { readonly own: readonly RunnableTool[]; readonly builtin: readonly RunnableTool[] } | undefined
  #inboxTool: RunnableTool | undefined
  readonly #stop: () => void
  #after: Promise<void> = Promise.resolve()
  #following = new AbortController()
  #isClosed = false

  constructor(options: ThreadControlOptions) {
    this.#options = options
    const { agentId, delivery, emit, judgeModel, now = Date.now, runtime, store } = options
    this.port = new ThreadPort(runtime, store, { agentId, door: options.door }, options.newId)
    this.notifications = new Notifications({
      port: this.port,
      emit,
      now,
      ...defined({ policy: delivery }),
    })
    this.goal = new GoalKeeper({ port: this.port, emit, judgeModel, now })
    this.#stop = runtime.onEntry((entry) => {
      if (entry.kind !== 'record') return
      const { body } = entry.record
      if (entry.others !== true && body.type === 'run.ended' && options.isOwnRun(body.runId)) this.#ended(body.outcome)
    })
  }

  /** Returns what is recorded together with an answer. */
  withAnswer(wait: Wait, answer: Answer): readonly ControlFact[] {
    return factsOfPlan(this.port, this.#options, wait, answer)
  }

  /** Returns a built-in tool of the thread, also one that is not offered. */
  tool(id: string): RunnableTool | undefined {
    return this.#tools.own.find(({ name }) => name === id)
  }

  /** Returns the tools that are offered. The inbox is among them when there is something in it. */
  tools(): readonly RunnableTool[] {
    const { builtin } = this.#tools
    const { inbox } = this.notifications
    if (inbox.list().length === 0) return builtin
    this.#inboxTool ??= inboxTool(inbox, this.#options.now ?? Date.now)
    return [...builtin, this.#inboxTool]
  }

  get #tools(): { readonly own: readonly RunnableTool[]; readonly builtin: readonly RunnableTool[] } {
    if (this.#made !== undefined) return this.#made
    const { cwd, disabledTools = [] } = this.#options
    const own = builtinTools({ port: this.port, modes: this.#options, ...defined({ cwd }) })
    this.#made = { own, builtin: own.filter(({ name }) => !disabledTools.some((id) => id === name)) }
    return this.#made
  }

  /**
   * Resolves when no run goes on and nothing more follows from the last one: the goal is judged, due notifications are
   * delivered.
   */
  async settled(): Promise<void> {
    for (;;) {
      await this.#options.runtime.idle()
      const after = this.#after
      await after
      if (after !== this.#after) continue
      const { run } = this.port.state.head
      // A run that is not at work in this process cannot end here.
      if (run === null || this.#options.runtime.run === undefined) return
      if (run.status !== 'parked') continue
      if (!isWaitingForChildren(this.port.state)) return
      await this.#nextChange()
    }
  }

  /** Resolves when the run goes on, ends or waits for something else. */
  async #nextChange(): Promise<void> {
    const changed = Promise.withResolvers<void>()
    const stop = this.#options.runtime.onEntry((entry) => {
      if (entry.kind === 'record' && /^(run|wait)\./.test(entry.record.body.type)) changed.resolve()
    })
    await changed.promise.finally(stop)
  }

  /**
   * Stops what would follow from the runs that have ended. Resolves when that is done; by then a last run may have
   * begun.
   */
  async stop(): Promise<void> {
    for (;;) {
      this.#following.abort()
      this.#following = new AbortController()
      const after = this.#after
      await after
      if (after === this.#after) return
    }
  }

  close(): void {
    this.#isClosed = true
    this.goal.close()
    this.#stop()
  }

  #ended(outcome: RunOutcome): void {
    if (outcome !== 'complete') return
    const { signal } = this.#following
    this.#after = this.#after.then(() => this.#afterRun(signal)).catch((error: unknown) => this.#tell(error))
  }

  #tell(error: unknown): void {
    // The thread was closed meanwhile: nobody is left to report to, and nothing is left to do.
    if (this.#isClosed || InspanError.is(error, 'closed')) return
    this.#options.onFailure(asError(error))
  }

  async #afterRun(stop: AbortSignal): Promise<void> {
    // Waits behind the end of the run: a queued message has started its run by then, which is judged when it has ended.
    const { head } = await this.#options.runtime.stateInTurn()
    if (this.#isClosed || stop.aborted || head.run !== null) return
    if ((await this.goal.judgeRun(stop)) || stop.aborted) return
    await this.notifications.deliverDue()
  }
}
