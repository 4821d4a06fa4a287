import { toHarnessThread, type ConfigChangedRecord, type HarnessThread, type ThreadInfo } from '@evener/protocol'
import { boundaryAt } from '../engine/boundaries.ts'
import { deleteThread, type DeleteReport } from '../engine/delete-thread.ts'
import { createThread, forkThread } from '../engine/threads.ts'
import type { HarnessCore } from './harness-core.ts'
import type { SessionBinding } from './session-binding.ts'
import type { SessionDefaults } from './session-defaults.ts'
import type { SessionIdentity } from './session-identity.ts'
import { modeModelKey } from './session-mode.ts'
import { noSuchThread, readThreadState } from './thread-reads.ts'

export interface CloneRequest {
  /** The bound thread when absent. */
  readonly sourceThreadId?: string
  readonly title?: string
  readonly resourceId?: string
}

export interface LifecycleParts {
  readonly core: HarnessCore
  readonly binding: SessionBinding
  readonly defaults: SessionDefaults
  readonly identity: SessionIdentity
  /** The session is bound to no thread any more, and is not to be again by itself. */
  readonly onCleared: () => Promise<void>
  /** Mode and model as the session has them, whether or not it is bound. */
  readonly selection: () => { readonly modeId: string; readonly modelId: string }
}

/** Threads that come, go and take the place of one another. */
export class ThreadLifecycle {
  readonly #parts: LifecycleParts

  constructor(parts: LifecycleParts) {
    this.#parts = parts
  }

  /** The newest thread of the resource, or a new one. */
  async selectOrCreate(): Promise<HarnessThread> {
    const { binding, core, identity } = this.#parts
    await core.ready()
    const newest = await core.store.listThreads({ resourceId: identity.getResourceId(), limit: 1 })
    const [info] = newest.items
    if (info === undefined) return this.create()
    const previousThreadId = binding.threadId
    if (previousThreadId === info.id) return this.#thread(info)
    await this.#enter(info.id)
    binding.emit({ type: 'thread_changed', threadId: info.id, previousThreadId })
    binding.announceWaits()
    return this.#thread(info)
  }

  async create(options: { readonly title?: string; readonly id?: string } = {}): Promise<HarnessThread> {
    const { binding, core, identity } = this.#parts
    await core.ready()
    const { modeId, modelId } = this.#parts.selection()
    const info = await createThread(core.store, {
      id: options.id ?? core.newId(),
      resourceId: identity.getResourceId(),
      now: core.now(),
      ...(options.title === undefined ? {} : { title: options.title }),
    })
    try {
      await this.#enter(info.id)
    } catch (error) {
      await this.#remove(info.id)
      throw error
    }
    await binding.requireRuntime().configure(this.#firstConfig(modeId, modelId))
    const thread = this.#thread(info)
    binding.emit({ type: 'thread_created', thread })
    return thread
  }

  async switch({ threadId }: { readonly threadId: string }): Promise<void> {
    const { binding, core } = this.#parts
    await core.ready()
    if ((await core.store.getThread(threadId)) === null) throw noSuchThread(threadId)
    const previousThreadId = binding.threadId
    await this.#enter(threadId)
    binding.emit({ type: 'thread_changed', threadId, previousThreadId })
    binding.announceWaits()
  }

  async rename({ title }: { readonly title: string }): Promise<void> {
    await this.#parts.binding.requireRuntime().configure({ title })
  }

  /**
   * A fork: it shares the messages of its source, whose ids stay, and goes its own way from here. It has no title unless
   * it is given one, and asks again what its source was allowed.
   */
  async clone(request: CloneRequest = {}): Promise<HarnessThread> {
    const { binding, core, identity } = this.#parts
    await core.ready()
    const sourceId = request.sourceThreadId ?? binding.requireRuntime().state.head.stream
    if ((await core.store.getThread(sourceId)) === null) throw noSuchThread(sourceId)
    const source = core.threads.find(sourceId)?.state ?? (await readThreadState(core.store, sourceId))
    const { run, seq } = source.head
    const info = await forkThread(core.store, await core.threads.owner(), source, {
      id: core.newId(),
      resourceId: request.resourceId ?? identity.getResourceId(),
      // What is being said is in neither: a fork begins where something has ended.
      at: await boundaryAt(core.store, source.head.lineage, run === null ? seq : run.startedSeq - 1),
      now: core.now(),
      ...(request.title === undefined ? {} : { title: request.title }),
    })
    try {
      await this.#enter(info.id)
    } catch (error) {
      await this.#remove(info.id)
      throw error
    }
    const thread = this.#thread(info)
    binding.emit({ type: 'thread_created', thread })
    return thread
  }

  /** A run at work in it is ended and nobody is waited for; what forks of it need stays and is named in the answer. */
  async delete({ threadId }: { readonly threadId: string }): Promise<DeleteReport> {
    const { binding, core } = this.#parts
    await core.ready()
    if ((await core.store.getThread(threadId)) === null) throw noSuchThread(threadId)
    await core.evict(threadId)
    const report = await this.#remove(threadId)
    binding.emit({ type: 'thread_deleted', threadId })
    return report
  }

  async clear(): Promise<void> {
    await this.#abort()
    await this.#parts.binding.unbind()
    await this.#parts.onCleared()
  }

  async #enter(threadId: string): Promise<void> {
    const { binding, selection } = this.#parts
    const before = selection()
    await binding.bind(threadId, () => this.#abort())
    const now = selection()
    if (now.modeId !== before.modeId) {
      binding.emit({ type: 'mode_changed', modeId: now.modeId, previousModeId: before.modeId })
    }
    if (now.modelId !== before.modelId && binding.head?.model !== null) {
      binding.emit({ type: 'model_changed', modelId: now.modelId, scope: 'thread', modeId: now.modeId })
    }
  }

  /** What is being done in a thread that nobody else looks at ends with our leaving it. */
  async #abort(): Promise<void> {
    const { binding } = this.#parts
    if (binding.isRunning && binding.isAlone) await binding.runtime?.cancel()
  }

  async #remove(threadId: string): Promise<DeleteReport> {
    const { core } = this.#parts
    const { spool } = core.config
    return deleteThread(core.store, await core.threads.owner(), threadId, spool === undefined ? {} : { spool })
  }

  #firstConfig(mode: string, model: string): Omit<ConfigChangedRecord, 'type'> {
    const { defaults } = this.#parts
    const remembered = model === '' ? {} : { [modeModelKey(mode)]: model }
    return {
      mode,
      ...(model === '' ? {} : { model }),
      ...(defaults.yolo ? { yolo: true } : {}),
      settings: { ...defaults.settings, ...remembered },
    }
  }

  #thread(info: ThreadInfo): HarnessThread {
    const { head } = this.#parts.binding
    return head?.stream === info.id ? toHarnessThread(info, head.usage.own) : toHarnessThread(info)
  }
}
