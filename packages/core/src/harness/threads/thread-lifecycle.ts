import { isDeepStrictEqual } from 'node:util'
import { InspanError } from '@inspan/protocol'
import { toHarnessThread, type HarnessThread } from '@inspan/protocol/harness'
import type { ThreadInfo } from '@inspan/protocol/store'
import {
  type ConfigChange,
  createThread,
  type DeleteReport,
  noSuchThread,
  type ThreadRuntime,
} from '../../engine/index.ts'
import { frozenCopy } from '../../common/frozen.ts'
import type { OpenThread } from './open-threads.ts'
import type { SessionContext } from '../sessions/session-context.ts'

export interface CloneRequest {
  /** Default: the bound thread. */
  readonly sourceThreadId?: string
  readonly title?: string
  readonly resourceId?: string
}

export interface ThreadToCreate {
  readonly title?: string
  readonly id?: string
}

/** Creates, enters, leaves and deletes the threads of a session. */
export class ThreadLifecycle {
  readonly #session: SessionContext
  #isEnded = false

  constructor(session: SessionContext) {
    this.#session = session
  }

  /** Enters the newest thread of the resource, or a new one. */
  selectOrCreate(): Promise<HarnessThread> {
    return this.inTurn(async (resourceId) => {
      const { binding, core } = this.#session
      const newest = await core.store.listThreads({ resourceId, limit: 1 })
      const [info] = newest.items
      if (info === undefined) return this.create(resourceId, {})
      if (binding.lastRuntime?.state.head.stream !== info.id) await this.moveTo(info.id)
      return this.#thread(info)
    })
  }

  /** Returns the bound thread; creates one where there is none. */
  ensure(): Promise<OpenThread> {
    return this.inTurn(async (resourceId) => {
      const { binding } = this.#session
      if (binding.lastThread === undefined) await this.create(resourceId, {})
      return binding.lastThread ?? binding.requireThread()
    })
  }

  /** Enters the thread that the session was bound to, whatever its resource. */
  reopen(threadId: string): Promise<void> {
    return this.inTurn(() => this.moveTo(threadId))
  }

  /**
   * Forks a thread and enters the fork. It shares the messages of its source, with their ids, and continues separately.
   * Grants of the source do not hold in it.
   */
  clone(request: CloneRequest = {}): Promise<HarnessThread> {
    return this.inTurn((resourceId) => this.#clone(request, resourceId))
  }

  async #clone(request: CloneRequest, resourceId: string): Promise<HarnessThread> {
    const { core } = this.#session
    const sourceId = request.sourceThreadId ?? this.bound().state.head.stream
    const known = await this.find(sourceId, resourceId)
    const title = request.title ?? (known.title === null ? undefined : `Clone of ${known.title}`)
    const info = await core.threads.registry.fork(sourceId, {
      id: core.newId(),
      resourceId: request.resourceId ?? resourceId,
      now: core.now(),
      ...(title === undefined ? {} : { title }),
    })
    return this.#enterNew(info, {})
  }

  /** The thread of the session, also while it is being left: the command was given before that. */
  bound(): ThreadRuntime {
    const { binding } = this.#session
    return binding.lastRuntime ?? binding.requireRuntime()
  }

  /**
   * Deletes a thread. A run at work in it is cancelled without waiting for anybody. Records that forks need stay and
   * are named in the report.
   */
  async delete({ threadId }: { readonly threadId: string }): Promise<DeleteReport> {
    const { binding, core } = this.#session
    await this.inTurn(async (resourceId) => {
      await this.find(threadId, resourceId)
      // Messages sent from here on are not for this thread any more.
      if (binding.lastRuntime?.state.head.stream === threadId) await this.#leave()
    })
    // Outside of our turn: other sessions leave the thread in turns of their own.
    const report = await core.threads.delete(threadId)
    binding.emit({ type: 'thread_deleted', threadId })
    return report
  }

  /** Hides the thread from the call on; resolves when it has been left. */
  clear(): Promise<void> {
    const { binding, turns } = this.#session
    const showThread = binding.hideThread()
    return turns.post(() => this.#leave(showThread))
  }

  async #leave(left: () => void = () => undefined): Promise<void> {
    const { binding, log } = this.#session
    try {
      await binding.unbind({ endsRun: true })
    } finally {
      left()
    }
    // Not to be bound to it again by itself.
    await log?.keepThread(null)
  }

  /** Leaves the thread without cancelling anything: open waits go on waiting. */
  close(): Promise<void> {
    return this.#session.turns.post(() => this.#session.binding.unbind())
  }

  /** Called when the session has ended. */
  refuseCommands(): void {
    this.#isEnded = true
  }

  /** Returns a thread of the resource, or the bound one: a clone may have been made for another resource. */
  async find(threadId: string, resourceId: string): Promise<ThreadInfo> {
    const { binding, core } = this.#session
    const isBound = binding.lastRuntime?.state.head.stream === threadId
    const info = await core.store.getThread(threadId)
    if (info === null || (info.resourceId !== resourceId && !isBound)) throw noSuchThread(threadId)
    return info
  }

  /** Runs a task in turn, for the resource at the time of the call, not at the time of its turn. */
  async inTurn<T>(task: (resourceId: string) => Promise<T>): Promise<T> {
    if (this.#isEnded) {
      throw new InspanError('closed', 'The session is closed.', { hint: 'Make another with `createSession`.' })
    }
    const { core, identity, turns } = this.#session
    const resourceId = identity.getResourceId()
    // Begins with the call, so that a `destroy` that follows finds it begun.
    const ready = core.ready()
    ready.catch(() => undefined)
    return turns.post(async () => {
      await ready
      return task(resourceId)
    })
  }

  async create(resourceId: string, { id, title }: ThreadToCreate): Promise<HarnessThread> {
    const { core } = this.#session
    const { modeId, modelId } = this.#selection()
    const info = await createThread(core.store, {
      id: id ?? core.newId(),
      resourceId,
      now: core.now(),
      ...(title === undefined ? {} : { title }),
    }).catch(async (error: unknown) => {
      const known = id !== undefined && InspanError.is(error, 'already-exists') ? await core.store.getThread(id) : null
      // A thread of somebody else looks absent.
      throw known !== null && known.resourceId !== resourceId ? noSuchThread(known.id) : error
    })
    return this.#enterNew(info, this.#firstConfig(modeId, modelId))
  }

  async #enterNew(info: ThreadInfo, config: ConfigChange): Promise<HarnessThread> {
    const { binding, core } = this.#session
    const arrived = (): void => binding.emit({ type: 'thread_created', thread: frozenCopy(this.#thread(info)) })
    try {
      await this.#enter(info.id, { isNew: true, config, arrived })
    } catch (error) {
      await core.threads.delete(info.id)
      throw error
    }
    return this.#thread(info)
  }

  async moveTo(threadId: string): Promise<void> {
    const { binding } = this.#session
    const previousThreadId = binding.threadId
    const arrived = (): void => binding.emit({ type: 'thread_changed', threadId, previousThreadId })
    await this.#enter(threadId, { isNew: false, config: {}, arrived })
  }

  async #enter(
    threadId: string,
    {
      arrived,
      config,
      isNew,
    }: { readonly isNew: boolean; readonly config: ConfigChange; readonly arrived: () => void },
  ): Promise<void> {
    const { binding, core, rules: own } = this.#session
    const before = this.#selection()
    const prepare = async (runtime: ThreadRuntime): Promise<void> => {
      const known = runtime.state.head.rules
      const rules = own.forThread(known, { isNew })
      const change = isDeepStrictEqual(rules, known) ? config : { ...config, rules }
      if (Object.keys(change).length > 0) await runtime.configure(change, core.doorKey)
    }
    await binding.bind(threadId, prepare, () => {
      own.written()
      const now = this.#selection()
      if (now.modeId !== before.modeId) {
        binding.emit({ type: 'mode_changed', modeId: now.modeId, previousModeId: before.modeId })
      }
      if (now.modelId !== before.modelId && binding.head?.model !== null) {
        binding.emit({ type: 'model_changed', modelId: now.modelId, scope: 'thread', modeId: now.modeId })
      }
      arrived()
    })
  }

  /** The mode and model of the session, whether or not it is bound to a thread. */
  #selection(): { readonly modeId: string; readonly modelId: string } {
    const { mode, model } = this.#session
    return { modeId: mode.get(), modelId: model.get() }
  }

  #firstConfig(mode: string, model: string): ConfigChange {
    const { defaults } = this.#session
    return {
      mode,
      ...(model === '' ? {} : { model }),
      ...(defaults.yolo ? { yolo: true } : {}),
      settings: { ...defaults.settings },
    }
  }

  #thread(info: ThreadInfo): HarnessThread {
    const head = this.#session.binding.lastRuntime?.state.head
    return head?.stream === info.id ? toHarnessThread(info, head.usage.own) : toHarnessThread(info)
  }
}
