import { EvenerError, type HarnessEvent, type Head, type Part } from '@evener/protocol'
import { freezeDeep } from '../../engine/log/frozen.ts'
import { Mailbox } from '../../engine/threads/mailbox.ts'
import type { ThreadRuntime } from '../../engine/thread-runtime.ts'
import { DisplayState } from '../events/display-state.ts'
import { EventBus } from '../events/event-bus.ts'
import { EventProjection } from '../events/event-projection.ts'
import type { HarnessCore, ThreadViewer } from '../harness-core.ts'
import type { OpenThread } from '../threads/open-threads.ts'
import { HeldLock } from '../threads/thread-lock.ts'
import { ThreadWatch } from '../threads/thread-watch.ts'

export type ModelScope = 'global' | 'thread' | 'mode'

interface Bound {
  readonly threadId: string
  readonly runtime: ThreadRuntime
  readonly viewers: ReadonlySet<ThreadViewer>
  readonly projection: EventProjection
  readonly watch: ThreadWatch
}

/** The one thread a session looks at, and what it tells of it. */
export class SessionBinding {
  readonly bus: EventBus = new EventBus()
  readonly display: DisplayState
  /** Why the model is being changed; said with the event. */
  modelScope: ModelScope = 'thread'
  readonly #core: HarnessCore
  /** The session, as threads know it. */
  readonly viewer: ThreadViewer
  readonly #lock: HeldLock
  readonly #onBound: (threadId: string) => Promise<void>
  /** Binding and unbinding, one after the other. */
  readonly #turns = new Mailbox()
  readonly #restWaiters = new Map<string, PromiseWithResolvers<void>>()
  #bound: Bound | undefined
  /** How many have asked to leave the thread and have not yet. */
  #leavers = 0
  #displayDue: NodeJS.Immediate | undefined

  /** `onBound`: it is on record before anything is done there that the session looks at another thread. */
  constructor(core: HarnessCore, viewer: ThreadViewer, onBound: (threadId: string) => Promise<void>) {
    this.#onBound = onBound
    this.#core = core
    this.viewer = viewer
    this.#lock = new HeldLock(core.config.threadLock)
    const { id, pubsub, subagents = [] } = core.config
    this.display = new DisplayState((agentType) => subagents.find((each) => each.id === agentType)?.name)
    if (pubsub === undefined) return
    // As a listener like others: if it fails, that is told and harms nobody.
    this.bus.subscribe((event) => {
      if (event.type !== 'display_state_changed') return pubsub.publish(`harness:${id}`, event)
    })
  }

  get threadId(): string | null {
    return this.#shown?.threadId ?? null
  }

  get runtime(): ThreadRuntime | undefined {
    return this.#shown?.runtime
  }

  get head(): Head | undefined {
    return this.#shown?.runtime.state.head
  }

  /** Also while it is being left: for what was asked for before. */
  get lastRuntime(): ThreadRuntime | undefined {
    return this.#bound?.runtime
  }

  get #shown(): Bound | undefined {
    return this.#leavers === 0 ? this.#bound : undefined
  }

  /** The run is at work, or waits for nothing but approvals. */
  get isRunning(): boolean {
    return this.#bound?.projection.isRunning ?? false
  }

  /** Nobody else in this harness looks at the thread. */
  get isAlone(): boolean {
    return (this.#bound?.viewers.size ?? 0) <= 1
  }

  requireRuntime(): ThreadRuntime {
    if (this.#shown !== undefined) return this.#shown.runtime
    throw new EvenerError('misuse', 'No thread is selected.', {
      hint: 'Call selectOrCreateThread(), createThread() or switchThread() first.',
    })
  }

  /** Tells everybody who listens, and shows it. */
  emit(event: HarnessEvent): void {
    this.#tell(freezeDeep(event))
  }

  /** As it is: what comes with every delta need not be frozen. */
  #tell(event: HarnessEvent): void {
    this.display.apply(event)
    this.bus.emit(event)
    if (event.type === 'agent_end') this.#tellDisplay()
    else this.#planDisplay()
  }

  /** Resolves when the run is over or waits for a tool's question. */
  async atRest(runId: string): Promise<void> {
    if (!this.isRunning || this.lastRuntime?.state.head.run?.runId !== runId) return
    const waiter = this.#restWaiters.get(runId) ?? Promise.withResolvers<void>()
    this.#restWaiters.set(runId, waiter)
    await waiter.promise
  }

  /**
   * Looks at another thread. The old one is left when the new one is ours, and not before: a thread that cannot be had
   * changes nothing. Nor does a thread that cannot be prepared; what is done to prepare it is not told of.
   *
   * `arrived` tells that it has been entered. What goes on and waits there is told right after it, and then all that has
   * happened since it was opened.
   */
  bind(threadId: string, prepare: (runtime: ThreadRuntime) => Promise<void>, arrived: () => void): Promise<void> {
    return this.#turns.post(async () => {
      if (this.#bound?.threadId === threadId) {
        arrived()
        this.#bound.projection.announce()
        return
      }
      await this.#lock.moveTo(threadId, async () => {
        const watch = new ThreadWatch()
        const opened = await this.#core.threads.enter(threadId, this.viewer, watch)
        try {
          await prepare(opened.runtime)
          await this.#endAlone()
          await this.#leave()
          await this.#onBound(threadId)
        } catch (error) {
          watch.end()
          await this.#core.threads.leave(threadId, this.viewer)
          throw error
        }
        const projection = this.#attach(opened, watch)
        arrived()
        projection.announce()
        watch.tell(projection)
      })
    })
  }

  /** From now on there is no thread to be seen, although leaving it takes a while. Ends with the function it gives. */
  lookAway(): () => void {
    this.#leavers++
    return () => void this.#leavers--
  }

  /** Leaves the thread. Closing it interrupts what is at work there; `endsRun`: that is ended first, as by an abort. */
  unbind({ endsRun = false }: { readonly endsRun?: boolean } = {}): Promise<void> {
    return this.#turns.post(async () => {
      if (endsRun) await this.#endAlone()
      try {
        await this.#leave()
      } finally {
        await this.#lock.release()
      }
    })
  }

  #attach({ runtime, threadId, viewers }: OpenThread<ThreadViewer>, watch: ThreadWatch): EventProjection {
    const projection = new EventProjection(
      {
        display: this.display,
        emit: (event) => this.#tell(event),
        emitGrowth: (piece, update) => {
          this.bus.emit(piece)
          this.bus.emit(update)
          this.#planDisplay()
        },
        isHeard: () => this.bus.hasListeners,
        isShared: () => this.bus.isShared,
        onShown: () => this.#planDisplay(),
        onRest: (runId) => this.#rest(runId),
        defaultModeId: this.#core.defaultMode.id,
        modelScope: () => this.modelScope,
        editedFile: (call) => this.#editedFile(call, runtime),
      },
      watch.takeFrom() ?? runtime.state,
    )
    this.#bound = { threadId, runtime, viewers, projection, watch }
    return projection
  }

  /** What is being done in a thread that nobody else looks at ends with our leaving it. */
  async #endAlone(): Promise<void> {
    if (this.isRunning && this.isAlone) await this.lastRuntime?.cancel()
  }

  async #leave(): Promise<void> {
    const bound = this.#bound
    if (bound === undefined) return
    try {
      // Closing tells how a run at work ends, so we listen until then.
      await this.#core.threads.leave(bound.threadId, this.viewer)
    } finally {
      bound.projection.leave()
      bound.watch.end()
      this.#bound = undefined
      this.display.reset(undefined, false)
      for (const waiter of this.#restWaiters.values()) waiter.resolve()
      this.#restWaiters.clear()
    }
  }

  #rest(runId: string): void {
    this.#restWaiters.get(runId)?.resolve()
    this.#restWaiters.delete(runId)
  }

  /** As with permissions, what a tool says of itself counts beside what is said of its name. */
  #editedFile(
    { args: { path }, toolName }: Extract<Part, { type: 'tool-call' }>,
    runtime: ThreadRuntime,
  ): string | undefined {
    const isEdit = this.#core.categoryOf(toolName) === 'edit' || runtime.toolInUse(toolName)?.category === 'edit'
    return typeof path === 'string' && isEdit ? path : undefined
  }

  /** However much happens in a turn of the event loop, the display is told of once. */
  #planDisplay(): void {
    if (this.#displayDue === undefined && this.bus.hasListeners) {
      this.#displayDue = setImmediate(() => this.#tellDisplay())
    }
  }

  #tellDisplay(): void {
    clearImmediate(this.#displayDue)
    this.#displayDue = undefined
    if (!this.bus.hasListeners) return
    this.bus.emit(Object.freeze({ type: 'display_state_changed', displayState: this.display.get() }))
  }
}
