import { InspanError, type Part } from '@inspan/protocol'
import type { HarnessEvent, PlacedEvent } from '@inspan/protocol/harness'
import type { Head } from '@inspan/protocol/log'
import { freezeDeep } from '../../common/frozen.ts'
import { Mailbox } from '../../common/mailbox.ts'
import type { ThreadRuntime } from '../../engine/index.ts'
import { DisplayState } from '../events/display-state.ts'
import { EventBus } from '../events/event-bus.ts'
import { EventProjection } from '../events/event-projection.ts'
import type { OpenThread, ThreadGuest } from '../threads/open-threads.ts'
import { HeldLock } from '../threads/thread-lock.ts'
import { ThreadWatch } from '../threads/thread-watch.ts'
import type { SessionContext } from './session-context.ts'

export type ModelScope = 'global' | 'thread' | 'mode'

interface Bound {
  readonly threadId: string
  readonly runtime: ThreadRuntime
  readonly thread: OpenThread
  readonly projection: EventProjection
  readonly watch: ThreadWatch
}

/** Binds a session to one thread and emits that thread's events. */
export class SessionBinding {
  readonly bus: EventBus = new EventBus()
  readonly display: DisplayState
  /** The scope of the model change in progress; part of its event. */
  modelScope: ModelScope = 'thread'
  readonly #session: SessionContext
  readonly #guest: ThreadGuest
  readonly #lock: HeldLock
  /** Serialises binding and unbinding. */
  readonly #turns = new Mailbox()
  readonly #restWaiters = new Map<string, PromiseWithResolvers<void>>()
  #bound: Bound | undefined
  /** The number of requests to leave the thread that are not done yet. */
  #leavers = 0
  #displayDue: NodeJS.Immediate | undefined

  constructor(session: SessionContext) {
    const { core, identity } = session
    this.#session = session
    this.#guest = { session, resourceId: () => identity.getResourceId(), leave: () => session.lifecycle.clear() }
    this.#lock = new HeldLock(core.config.threadLock)
    const { id, pubsub, subagents = [] } = core.config
    this.display = new DisplayState((agentType) => subagents.find((each) => each.id === agentType)?.name)
    if (pubsub === undefined) return
    // A listener like any other: its failure is reported and harms nobody.
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

  get thread(): OpenThread | undefined {
    return this.#shown?.thread
  }

  get lastThread(): OpenThread | undefined {
    return this.#bound?.thread
  }

  /** Set also while the thread is being left, for commands that were given before. */
  get lastRuntime(): ThreadRuntime | undefined {
    return this.#bound?.runtime
  }

  get #shown(): Bound | undefined {
    return this.#leavers === 0 ? this.#bound : undefined
  }

  /** True while the run is at work or waits for an approval. */
  get isRunning(): boolean {
    return this.#bound?.projection.isRunning ?? false
  }

  /** True when no other session of this harness is bound to the thread. */
  get isAlone(): boolean {
    return (this.#bound?.thread.guests.size ?? 0) <= 1
  }

  requireRuntime(): ThreadRuntime {
    return this.requireThread().runtime
  }

  requireThread(): OpenThread {
    if (this.#shown !== undefined) return this.#shown.thread
    throw new InspanError('misuse', 'No thread is selected.', {
      hint: 'Call selectOrCreateThread(), createThread() or switchThread() first.',
    })
  }

  /** Emits the event and applies it to the display. */
  emit(event: HarnessEvent): void {
    this.#tell(freezeDeep(event), this.#bound?.threadId ?? null)
  }

  /** Like `emit`, for an event that the first session of the harness emits as well. */
  emitEcho(event: HarnessEvent): void {
    this.display.apply(event)
    this.bus.emitEcho(this.#placed(freezeDeep(event), this.#bound?.threadId ?? null))
    this.#planDisplay()
  }

  /** Does not freeze the event: those that come with every delta need not be. */
  #tell(event: HarnessEvent, threadId: string | null): void {
    this.display.apply(event)
    this.bus.emit(this.#placed(event, threadId))
    if (event.type === 'agent_end') this.#emitDisplay()
    else this.#planDisplay()
  }

  /** Adds where the event happened. An event that names a thread itself keeps that. */
  #placed(event: HarnessEvent, threadId: string | null): PlacedEvent {
    const placed = { threadId, ...event, sessionId: this.#session.identity.getId() } as PlacedEvent
    return Object.isFrozen(event) ? Object.freeze(placed) : placed
  }

  /** Resolves when the run is over or waits for a tool's question. */
  async atRest(runId: string): Promise<void> {
    if (!this.isRunning || this.lastRuntime?.state.head.run?.runId !== runId) return
    const waiter = this.#restWaiters.get(runId) ?? Promise.withResolvers<void>()
    this.#restWaiters.set(runId, waiter)
    await waiter.promise
  }

  /**
   * Binds the session to another thread. The old one is left only when the new one has been opened and prepared: if
   * either fails, nothing changes. No events are emitted for the preparation.
   *
   * `arrived` emits that the thread has been entered. Right after it come the events for what goes on and waits there,
   * and then those for all that has happened since it was opened.
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
        const opened = await this.#session.core.threads.enter(threadId, this.#guest, watch)
        try {
          await prepare(opened.runtime)
          await this.#endAlone()
          await this.#leave()
          await this.#session.log?.keepThread(threadId)
        } catch (error) {
          watch.end()
          await this.#session.core.threads.leave(threadId, this.#guest)
          throw error
        }
        const projection = this.#attach(opened, watch)
        arrived()
        projection.announce()
        watch.tell(projection)
      })
    })
  }

  /** Hides the thread from now on, although leaving it takes a while. The returned function ends that. */
  hideThread(): () => void {
    this.#leavers++
    return () => void this.#leavers--
  }

  /** Leaves the thread. Closing it interrupts a run at work there; with `endsRun` the run is cancelled first. */
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

  #attach(thread: OpenThread, watch: ThreadWatch): EventProjection {
    const { runtime, threadId } = thread
    const projection = new EventProjection(
      {
        display: this.display,
        place: { threadId, sessionId: this.#session.identity.getId() },
        emit: (event) => this.#tell(event, threadId),
        emitGrowth: (piece, update) => {
          this.bus.emit(piece)
          this.bus.emit(update)
          this.#planDisplay()
        },
        isHeard: () => this.bus.hasListeners,
        isShared: () => this.bus.isShared,
        onShown: () => this.#planDisplay(),
        onRest: (runId) => this.#rest(runId),
        defaultModeId: this.#session.core.defaultMode.id,
        modelScope: () => this.modelScope,
        editedFile: (call) => this.#editedFile(call, runtime),
      },
      watch.takeFrom() ?? runtime.state,
    )
    this.#bound = { threadId, runtime, thread, projection, watch }
    return projection
  }

  /** Cancels a run, unless another session is bound to its thread or it waits only for answers to tools' questions. */
  async #endAlone(): Promise<void> {
    if (this.isRunning && this.isAlone) await this.lastRuntime?.cancel()
  }

  async #leave(): Promise<void> {
    const bound = this.#bound
    if (bound === undefined) return
    try {
      // Closing reports how a run at work ends, so we listen until then.
      await this.#session.core.threads.leave(bound.threadId, this.#guest)
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

  /** As with permissions, the category the tool itself declares counts as well as that of its name. */
  #editedFile(
    { args: { path }, toolName }: Extract<Part, { type: 'tool-call' }>,
    runtime: ThreadRuntime,
  ): string | undefined {
    const isEdit =
      this.#session.core.categoryOf(toolName) === 'edit' || runtime.toolInUse(toolName)?.category === 'edit'
    return typeof path === 'string' && isEdit ? path : undefined
  }

  /** Emits `display_state_changed` once per turn of the event loop, however much happens in it. */
  #planDisplay(): void {
    if (this.#displayDue === undefined && this.bus.hasListeners) {
      this.#displayDue = setImmediate(() => this.#emitDisplay())
    }
  }

  #emitDisplay(): void {
    clearImmediate(this.#displayDue)
    this.#displayDue = undefined
    if (!this.bus.hasListeners) return
    const event = Object.freeze({ type: 'display_state_changed', displayState: this.display.get() } as const)
    this.bus.emit(this.#placed(event, this.#bound?.threadId ?? null))
  }
}
