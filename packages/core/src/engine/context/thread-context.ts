import type { StoredMessage, UsageMetadata } from '@inspan/protocol'
import type { ContextRequest, MemoryThread, ModelContext, ThreadMemory } from '@inspan/protocol/driver'
import type { Store } from '@inspan/protocol/store'
import type { RecordOrigin } from '../log/record-body.ts'
import type { ThreadLog } from '../log/thread-log.ts'
import { ContextMessages } from './context-messages.ts'
import { mostTokens, tokensOf } from './message-size.ts'
import { memoryThread } from './memory-thread.ts'
import { planCut } from './plan-cut.ts'
import { RunningSize } from './running-size.ts'

/** Returns the size of a model's context window in tokens, if it is known. */
export type WindowOf = (model: string) => number | undefined | Promise<number | undefined>

/** Makes the memory of a thread. */
export type MemoryOf = (thread: MemoryThread) => ThreadMemory

/** The share of the window from which on a request is cut: the rest is for the answer. */
const FULL = 0.9

/** The share of the window that a cut leaves. */
const AFTER_CUT = 0.6

/** What refused requests are cut to when nobody knows the window. */
const AFTER_REFUSAL = [0.6, 0.4, 0.2]

/** No model has a smaller window, so shorter conversations need no look into the catalogue. */
const SMALLEST_WINDOW = 2000

/** Estimates are off by less than this. A report that differs more is not about the same request. */
const MOST_FACTOR = 3

interface SentRequest {
  readonly model: string
  readonly sent: readonly StoredMessage[]
  readonly fixed: number
  /** The usage that was known before the request. */
  readonly before: UsageMetadata
}

/**
 * What the model sees: the messages of the thread, or what replaces them. When they no longer fit, a cut is recorded,
 * and nothing else decides what is sent: the same log gives the same messages in every process.
 */
export class ThreadContext {
  readonly messages: ContextMessages
  readonly memory: ThreadMemory | undefined
  readonly #store: Store
  #thread: MemoryThread | undefined
  readonly #log: ThreadLog
  readonly #windowOf: WindowOf | undefined
  readonly #windows = new Map<string, number | undefined>()
  /** How many real tokens an estimated one was in the last request of a model. */
  readonly #factors = new Map<string, number>()
  readonly #most = new RunningSize(mostTokens)
  readonly #tokens = new RunningSize(tokensOf)
  #asked: SentRequest | undefined

  constructor(store: Store, log: ThreadLog, windowOf?: WindowOf, memory?: MemoryOf) {
    this.#store = store
    this.#log = log
    this.#windowOf = windowOf
    this.messages = new ContextMessages(store, log)
    this.memory = memory?.(this.thread)
  }

  /** What a memory sees and does. There is one, so that whoever shortens the conversation sees what others did. */
  get thread(): MemoryThread {
    this.#thread ??= memoryThread(this.#store, this.#log, this.messages)
    return this.#thread
  }

  /**
   * Returns what the model sees. Records a cut first if it does not fit. `undefined`: the provider refused the last
   * request, and there is nothing to leave out.
   */
  async context(request: ContextRequest, origin: RecordOrigin): Promise<ModelContext | undefined> {
    const { fixedTokens: fixed = 0, model, overflow } = request
    if (overflow !== undefined && overflow.attempt > AFTER_REFUSAL.length) return undefined
    if (overflow?.window !== undefined) this.#windows.set(model, overflow.window)
    await this.memory?.beforeStep()
    let sent = await this.messages.sent()
    const window = await this.#windowFor(request, sent)
    let target = overflow === undefined ? this.#targetOf(request, sent, window) : this.#afterRefusal(request, sent)
    if (target !== undefined && (overflow?.attempt ?? 1) === 1 && (await this.memory?.compact()) === true) {
      sent = await this.messages.sent()
      // What was refused is tried again as soon as it is shorter.
      target = overflow === undefined ? this.#targetOf(request, sent, window) : undefined
    }
    if (target !== undefined) {
      if (await this.#cut(target - fixed * this.#factor(model), model, origin)) sent = await this.messages.sent()
      else if (overflow !== undefined) return undefined
    }
    const { head } = this.#log.state
    this.#asked = { model, sent, fixed, before: head.usage.lastStep }
    return { messages: sent, cacheKey: this, conversation: head.lineage.at(0)?.stream ?? head.stream }
  }

  /** Estimates the tokens of a request, corrected by what the provider reported of the last one. */
  size({ fixedTokens = 0, model }: ContextRequest, sent: readonly StoredMessage[]): number {
    this.#learn()
    return (this.#tokens.of(sent) + fixedTokens) * this.#factor(model)
  }

  /** Returns the window of a model, or `undefined` if it is unknown or cannot matter yet. */
  async #windowFor(request: ContextRequest, sent: readonly StoredMessage[]): Promise<number | undefined> {
    const { model } = request
    if (this.#windows.has(model)) return this.#windows.get(model)
    if (this.#windowOf === undefined || this.#most.of(sent) < SMALLEST_WINDOW) return undefined
    const window = await this.#windowOf(model)
    this.#windows.set(model, window)
    return window
  }

  /** Returns how many tokens to cut to, or `undefined` if the request fits. */
  #targetOf(request: ContextRequest, sent: readonly StoredMessage[], window: number | undefined): number | undefined {
    if (window === undefined) return undefined
    const limit = window * FULL
    // The bound is cheap, the estimate is not.
    const most = (this.#most.of(sent) + (request.fixedTokens ?? 0)) * Math.max(1, this.#factor(request.model))
    return most > limit && this.size(request, sent) > limit ? window * AFTER_CUT : undefined
  }

  #afterRefusal(request: ContextRequest, sent: readonly StoredMessage[]): number | undefined {
    const { overflow, model } = request
    const share = AFTER_REFUSAL[(overflow?.attempt ?? 1) - 1] ?? 0
    const size = this.size(request, sent)
    const window = this.#windows.get(model)
    // What we took for the window was refused as well: then the estimate is too low, or the window is smaller.
    return share * Math.min(size, window ?? size)
  }

  async #cut(budget: number, model: string, origin: RecordOrigin): Promise<boolean> {
    const { pointer } = this.messages
    const memory = (await this.messages.sent()).filter(({ order }) => order === 0)
    const standing = memory.reduce((sum, message) => sum + tokensOf(message), 0)
    const factor = this.#factor(model)
    const kept = await this.messages.kept()
    const messages = [...kept, ...(await this.messages.raw())]
    const cut = planCut({
      messages,
      kept: kept.length,
      pointer,
      budget: Math.max(0, budget - standing * factor),
      factor,
    })
    if (cut === undefined) return false
    await this.#log.commit([cut], origin)
    return true
  }

  #factor(model: string): number {
    return this.#factors.get(model) ?? 1
  }

  /** Compares the estimate of the last request with what the provider counted. */
  #learn(): void {
    const { lastStep } = this.#log.state.head.usage
    const asked = this.#asked
    if (asked === undefined || lastStep === asked.before) return
    this.#asked = undefined
    const { cachedInputTokens = 0, cacheWriteInputTokens = 0, inputTokens = 0 } = lastStep
    const factor =
      (inputTokens + cachedInputTokens + cacheWriteInputTokens) / (this.#tokens.of(asked.sent) + asked.fixed)
    if (factor < MOST_FACTOR && factor > 1 / MOST_FACTOR) this.#factors.set(asked.model, factor)
  }
}
