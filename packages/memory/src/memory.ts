import { InspanError } from '@inspan/protocol'
import type { MemoryServices, MemoryThread, ThreadMemory } from '@inspan/protocol/driver'
import { compactThread, type CompactionOptions, type CompactionReport } from './compaction.ts'
import { keepLast } from './history-window.ts'
import { recallTool, type RecallOptions } from './recall.ts'
import { ObservationalMemory, type ObservationalOptions } from './observational-memory.ts'

/** The name of a model, as `provider/model`, or a model of the AI SDK. */
export type MemoryModelInput = string | object

export interface MemoryOptions {
  /**
   * Sends the model at most this many of the newest messages. When there are more, about 60 % of them are kept, so that
   * requests extend each other until the next cut. Cannot be combined with `observationalMemory`.
   */
  readonly lastMessages?: number
  /** Settings of the tool `recall`, with which agents look up original messages. `false`: no such tool. */
  readonly recall?: false | RecallOptions
  /** Summarises older messages with this `model` when the conversation no longer fits the window. */
  readonly compaction?: CompactionOptions & { readonly model: MemoryModelInput }
  /** Takes notes in the background, and replaces older messages by the notes. `true`: with the defaults. */
  readonly observationalMemory?:
    | true
    | (ObservationalOptions & {
        /** The model of observer and reflector, unless one of them has its own. */
        readonly model?: MemoryModelInput
        readonly observation?: { readonly model?: MemoryModelInput }
        readonly reflection?: { readonly model?: MemoryModelInput }
      })
}

export interface ObservedRecord {
  readonly id: string
  readonly scope: 'thread'
  readonly threadId: string | null
  readonly resourceId: string
  readonly activeObservations: string
  readonly generationCount: number
  readonly observationTokenCount: number
  readonly pendingMessageTokens: number
  readonly currentTask: string
  readonly suggestedResponse: string
  readonly totalTokensObserved: number
}

interface Attached {
  readonly thread: MemoryThread
  readonly services: MemoryServices
  readonly observing: ObservationalMemory | undefined
  readonly closed: AbortController
}

/** The memory of a harness's threads: what replaces older messages in requests. */
export class Memory {
  readonly options: MemoryOptions
  readonly #open = new Map<string, Attached>()

  constructor(options: MemoryOptions = {}) {
    const { compaction, observationalMemory } = options
    if (compaction !== undefined && (typeof compaction !== 'object' || !('model' in compaction))) {
      throw new InspanError('invalid-input', 'A memory with `compaction` needs a model to summarise with.', {
        hint: "new Memory({ compaction: { model: 'provider/model' } })",
      })
    }
    if (observationalMemory !== undefined && observationalMemory !== true && typeof observationalMemory !== 'object') {
      throw new InspanError('invalid-input', '`observationalMemory` is true or an object of options.')
    }
    const { lastMessages } = options
    if (lastMessages !== undefined && (!Number.isInteger(lastMessages) || lastMessages < 2)) {
      throw new InspanError('invalid-input', '`lastMessages` is a whole number of at least 2.')
    }
    if (lastMessages !== undefined && observationalMemory !== undefined) {
      throw new InspanError('invalid-input', 'A memory has `lastMessages` or `observationalMemory`, not both.', {
        hint: '`observationalMemory.observation.messageTokens` says how much stays in its own words.',
      })
    }
    this.options = options
  }

  /** Called when a thread is opened. */
  attach(thread: MemoryThread, services: MemoryServices): ThreadMemory {
    const { observationalMemory: om } = this.options
    const closed = new AbortController()
    const observing = om === undefined ? undefined : new ObservationalMemory(thread, services, om === true ? {} : om)
    const attached: Attached = { thread, services, observing, closed }
    this.#open.set(thread.threadId, attached)
    const { lastMessages, recall = {} } = this.options
    return {
      tools: recall === false ? [] : [recallTool(thread, services.embed, recall)],
      beforeStep: async () => {
        if (observing !== undefined) await observing.beforeStep()
        else if (lastMessages !== undefined) await keepLast(thread, lastMessages)
      },
      compact: async () => (await observing?.makeRoom()) === true || (await this.#compact(attached)).isDone,
      close: () => {
        closed.abort()
        observing?.close()
        if (this.#open.get(thread.threadId) === attached) this.#open.delete(thread.threadId)
      },
    }
  }

  /** Summarises the older messages of an open thread now. */
  async compact(threadId: string): Promise<CompactionReport> {
    return this.#compact(this.#find(threadId))
  }

  /** Returns what was observed of an open thread. */
  async getObservationalMemoryRecord(query: {
    readonly threadId: string
    readonly resourceId: string
  }): Promise<ObservedRecord | null> {
    const { observing, thread } = this.#open.get(query.threadId) ?? {}
    if (observing === undefined || thread === undefined) return null
    const { observations, ...state } = await observing.state()
    return {
      ...state,
      id: query.threadId,
      threadId: query.threadId,
      resourceId: query.resourceId,
      activeObservations: observations,
      observationTokenCount: thread.countTokens(observations),
      pendingMessageTokens: await observing.pendingTokens(),
    }
  }

  /** Resolves when nothing is being observed in the thread. */
  async settled(threadId: string): Promise<void> {
    await this.#open.get(threadId)?.observing?.settled()
  }

  async #compact({ closed, services, thread }: Attached): Promise<CompactionReport> {
    const { compaction } = this.options
    if (compaction === undefined) return { isDone: false, reason: 'No model was configured for summaries.' }
    return compactThread(thread, services, compaction, closed.signal)
  }

  #find(threadId: string): Attached {
    const found = this.#open.get(threadId)
    if (found !== undefined) return found
    throw new InspanError('not-found', `Thread ${threadId} is not open here.`, { hint: 'Switch to the thread first.' })
  }
}
