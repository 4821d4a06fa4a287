import type { StoredMessage } from '@inspan/protocol'
import type { MemoryServices, MemoryThread } from '@inspan/protocol/driver'
import { contentOf, stateOf, type ObservedState } from './observed-state.ts'
import { OBSERVER, REFLECTOR, TITLE } from './prompts.ts'
import { readObservations, type Observed } from './read-answer.ts'
import { Retry } from './retry.ts'
import { escapeText, transcript } from './transcript.ts'

export interface ObservationOptions {
  /** The number of tokens at which notes replace messages. Default: 30,000. */
  readonly messageTokens?: number
  /** The share of this threshold at which the observer prepares notes in the background. `false`: never. Default: 0.2. */
  readonly bufferTokens?: number | false
  /** The share of the threshold that notes replace; the rest stays as it is. Default: 0.8. */
  readonly bufferActivation?: number
  /** Lets the observer name the thread (`om_thread_title_updated`). Default: false. */
  readonly threadTitle?: boolean
}

export interface ReflectionOptions {
  /** The number of tokens at which the reflector rewrites the notes. Default: 40,000. */
  readonly observationTokens?: number
}

export interface ObservationalOptions {
  /** When notes replace messages. */
  readonly observation?: ObservationOptions
  /** When notes are rewritten. */
  readonly reflection?: ReflectionOptions
  /** Milliseconds that an observer or reflector may take. Default: 300,000. */
  readonly timeoutMs?: number
}

/** Observations of a stretch of messages that still are sent themselves. */
interface Chunk extends Observed {
  readonly coversTo: number
  readonly messageTokens: number
  readonly tokens: number
  readonly messages: number
}

const TIMEOUT_MS = 5 * 60_000

/** Observations that no reflection shortens may grow to this multiple of the threshold. */
const MOST_OBSERVATIONS = 1.5
const FULL = 'The observations are too long, and no reflection has shortened them. More would fill the window.'

/**
 * Observes a thread in the background and puts observations in the place of older messages. No step waits for it, and
 * a result that is empty, repeats itself or is no shorter than what it replaces changes nothing.
 */
export class ObservationalMemory {
  readonly #thread: MemoryThread
  readonly #services: MemoryServices
  readonly #options: ObservationalOptions
  readonly #end = new AbortController()
  #chunks: readonly Chunk[] = []
  /** The basis of the chunks: they are void when messages were rewound or erased. */
  #changes = 0
  #observing: Promise<void> | undefined
  #reflecting: { readonly done: Promise<void>; readonly tokens: number } | undefined
  #steps = 0
  /** Why the last activation did not happen. */
  #problem: string | undefined
  readonly #observerRetry = new Retry()
  readonly #reflectorRetry = new Retry()
  #counted = { text: '', tokens: 0 }

  constructor(thread: MemoryThread, services: MemoryServices, options: ObservationalOptions) {
    this.#thread = thread
    this.#services = services
    this.#options = options
  }

  get observerThreshold(): number {
    return this.#options.observation?.messageTokens ?? this.#services.threshold('observer') ?? 30_000
  }

  get reflectorThreshold(): number {
    return this.#options.reflection?.observationTokens ?? this.#services.threshold('reflector') ?? 40_000
  }

  async beforeStep(): Promise<void> {
    if (this.#thread.basis().changes !== this.#changes) {
      this.#changes = this.#thread.basis().changes
      this.#chunks = []
    }
    let pending = await this.#pending()
    if (this.#sum(pending) >= this.observerThreshold) {
      const cycleId = this.#services.newId()
      const problem = await this.#activate(cycleId)
      // Once is enough for what does not change from step to step.
      if (problem !== undefined && problem !== this.#problem) this.#fail(cycleId, problem)
      this.#problem = problem
      pending = await this.#pending()
    }
    if (!(await this.#isFull())) this.#observeMore(pending)
    await this.#reflectIfLong()
    await this.#report(pending)
    this.#steps++
  }

  /** Uses all that is prepared, because the conversation no longer fits. True if it is shorter now. */
  async makeRoom(): Promise<boolean> {
    const { generation } = this.#thread.basis()
    await this.#activate(this.#services.newId(), this.#chunks.length)
    return this.#thread.basis().generation !== generation
  }

  /** Resolves when nothing runs in the background. */
  async settled(): Promise<void> {
    await Promise.all([this.#observing, this.#reflecting?.done])
  }

  async state(): Promise<ObservedState> {
    return stateOf(await this.#thread.content())
  }

  async pendingTokens(): Promise<number> {
    return this.#sum(await this.#pending())
  }

  close(): void {
    this.#end.abort()
  }

  #pending(): Promise<readonly StoredMessage[]> {
    return this.#thread.messages()
  }

  #sum(messages: readonly StoredMessage[]): number {
    return messages.reduce((sum, message) => sum + this.#thread.tokensOf(message), 0)
  }

  /** Starts to observe what no chunk covers yet, if there is enough of it and nobody is at it. */
  #observeMore(pending: readonly StoredMessage[]): void {
    if (this.#observing !== undefined || !this.#observerRetry.isDue(this.#steps)) return
    const from = this.#chunks.at(-1)?.coversTo ?? 0
    const rest = pending.filter(({ order }) => order > from)
    const newest = rest.at(-1)
    // The newest message is being answered, unless it alone is too large to stay.
    const isLarge = newest !== undefined && this.#thread.tokensOf(newest) >= this.observerThreshold
    const fresh = isLarge ? rest : rest.slice(0, -1)
    const tokens = this.#sum(fresh)
    const { bufferTokens = 0.2 } = this.#options.observation ?? {}
    const isBuffering = bufferTokens !== false
    const enough = isBuffering ? this.observerThreshold * bufferTokens : this.observerThreshold
    if (tokens < enough || fresh.length === 0) return
    const coversTo = (rest[fresh.length]?.order ?? (newest?.order ?? 0) + 1) - 1
    this.#observing = this.#observe(fresh, coversTo, isBuffering).finally(() => {
      this.#observing = undefined
    })
  }

  async #observe(messages: readonly StoredMessage[], coversTo: number, isBuffering: boolean): Promise<void> {
    const tokens = this.#sum(messages)
    const { emit, newId, now } = this.#services
    const cycleId = newId()
    const began = now()
    const operationType = 'observation'
    const basis = this.#thread.basis()
    if (isBuffering) emit({ type: 'om_buffering_start', cycleId, operationType, tokensToBuffer: tokens })
    else emit({ type: 'om_observation_start', cycleId, operationType, tokensToObserve: tokens })
    try {
      const before = await this.state()
      const known = [before.observations, ...this.#chunks.map(({ observations }) => observations)].join('\n')
      const prompt = `<known>\n${escapeText(known.slice(-8000))}\n</known>\n<conversation>\n${transcript(messages)}\n</conversation>`
      const isNamed = this.#options.observation?.threadTitle === true
      const system = isNamed ? OBSERVER + TITLE : OBSERVER
      const chunk = this.#chunkOf(await this.#ask('observer', system, prompt), messages, coversTo)
      if (this.#thread.basis().changes !== basis.changes) throw new Error('The messages were changed meanwhile.')
      this.#chunks = [...this.#chunks, chunk]
      this.#observerRetry.succeeded()
      const { currentTask, observations, suggestedResponse, threadTitle, tokens: observationTokens } = chunk
      if (isNamed && threadTitle !== undefined) await this.#name(threadTitle, cycleId)
      if (isBuffering) {
        const bufferedTokens = this.#chunks.reduce((sum, each) => sum + each.tokens, 0)
        emit({ type: 'om_buffering_end', cycleId, operationType, tokensBuffered: tokens, bufferedTokens, observations })
        return
      }
      const problem = await this.#activate(newId())
      if (problem !== undefined) throw new Error(problem)
      emit({
        type: 'om_observation_end',
        cycleId,
        durationMs: now() - began,
        tokensObserved: tokens,
        observationTokens,
        observations,
        ...(currentTask === undefined ? {} : { currentTask }),
        ...(suggestedResponse === undefined ? {} : { suggestedResponse }),
      })
    } catch (thrown) {
      if (this.#end.signal.aborted) return
      this.#observerRetry.failed(this.#steps)
      const error = messageOf(thrown)
      if (isBuffering) emit({ type: 'om_buffering_failed', cycleId, operationType, error })
      else emit({ type: 'om_observation_failed', cycleId, error, durationMs: now() - began })
    }
  }

  async #name(newTitle: string, cycleId: string): Promise<void> {
    const { emit, setTitle } = this.#services
    const named = await setTitle(newTitle)
    if (named === undefined) return
    const { threadId } = this.#thread
    const old = named.oldTitle === null ? {} : { oldTitle: named.oldTitle }
    emit({ type: 'om_thread_title_updated', cycleId, threadId, newTitle, ...old })
  }

  #chunkOf(answer: string, messages: readonly StoredMessage[], coversTo: number): Chunk {
    const messageTokens = this.#sum(messages)
    const read = readObservations(answer)
    if ('problem' in read) throw new Error(read.problem)
    const tokens = this.#thread.countTokens(read.observations)
    if (tokens >= messageTokens) throw new Error('The observations are no shorter than the messages.')
    return { ...read, tokens, messageTokens, messages: messages.length, coversTo }
  }

  /**
   * Puts prepared observations in the place of their messages, as many as leave about the wanted rest, but at least so
   * many. Returns why not, if that would not make the context smaller; nothing has changed then.
   */
  async #activate(cycleId: string, least = 1): Promise<string | undefined> {
    if (await this.#isFull()) return FULL
    const basis = this.#thread.basis()
    const pending = await this.#pending()
    const before = await this.state()
    const { bufferActivation = 0.8 } = this.#options.observation ?? {}
    const rest = this.observerThreshold * (1 - bufferActivation)
    const leftAfter = ({ coversTo }: Chunk): number => this.#sum(pending.filter(({ order }) => order > coversTo))
    const enough = this.#chunks.findIndex((chunk) => leftAfter(chunk) <= rest) + 1
    const used = enough === 0 ? this.#chunks : this.#chunks.slice(0, Math.max(least, enough))
    const last = used.at(-1)
    // A cut was faster: these wait for the observations of what came after it.
    if (last === undefined || last.coversTo <= (this.#thread.pointer()?.coversTo ?? 0)) return undefined
    const next: ObservedState = {
      ...before,
      observations: [before.observations, ...used.map(({ observations }) => observations)]
        .filter((text) => text !== '')
        .join('\n'),
      currentTask: last.currentTask ?? before.currentTask,
      suggestedResponse: last.suggestedResponse ?? before.suggestedResponse,
      totalTokensObserved: before.totalTokensObserved + used.reduce((sum, each) => sum + each.messageTokens, 0),
    }
    const content = contentOf(next)
    const [now, then] = await this.#thread.sizes(content.text, last)
    if (then >= now) {
      this.#chunks = this.#chunks.slice(used.length)
      return 'The observations would make the context no smaller.'
    }
    if (!(await this.#thread.observe(content, last.coversTo, basis))) {
      // Somebody else moved the context; what was prepared may cover what is gone.
      this.#chunks = []
      return 'The context was changed meanwhile.'
    }
    this.#chunks = this.#chunks.slice(used.length)
    const observed = this.#count(next.observations)
    this.#services.emit({
      type: 'om_activation',
      cycleId,
      operationType: 'observation',
      chunksActivated: used.length,
      tokensActivated: used.reduce((sum, each) => sum + each.messageTokens, 0),
      observationTokens: observed,
      messagesActivated: used.reduce((sum, each) => sum + each.messages, 0),
      generationCount: next.generationCount,
      triggeredBy: 'threshold',
    })
    const left = leftAfter(last)
    if (left >= this.observerThreshold) {
      this.#fail(cycleId, `${left} tokens of messages remain, above the threshold: nobody has observed them yet.`)
    }
    return undefined
  }

  #fail(cycleId: string, error: string): void {
    this.#services.emit({ type: 'om_buffering_failed', cycleId, operationType: 'observation', error })
  }

  /** Whether more observations would fill the window, because no reflection shortens them. */
  async #isFull(): Promise<boolean> {
    const { observations } = await this.state()
    return this.#count(observations) > this.reflectorThreshold * MOST_OBSERVATIONS
  }

  /** Counts a text once: the observations are the same in most steps. */
  #count(text: string): number {
    if (this.#counted.text !== text) this.#counted = { text, tokens: this.#thread.countTokens(text) }
    return this.#counted.tokens
  }

  async #reflectIfLong(): Promise<void> {
    if (this.#reflecting !== undefined || !this.#reflectorRetry.isDue(this.#steps)) return
    const state = await this.state()
    const tokens = this.#count(state.observations)
    if (tokens < this.reflectorThreshold) return
    const done = this.#reflect(state, tokens).finally(() => {
      this.#reflecting = undefined
    })
    this.#reflecting = { done, tokens }
  }

  async #reflect(state: ObservedState, tokens: number): Promise<void> {
    const { emit, newId, now } = this.#services
    const cycleId = newId()
    const began = now()
    emit({ type: 'om_reflection_start', cycleId, tokensToReflect: tokens })
    try {
      const prompt = `<known>\n${escapeText(state.observations)}\n</known>`
      const read = readObservations(await this.#ask('reflector', REFLECTOR, prompt))
      if ('problem' in read) throw new Error(read.problem)
      const basis = this.#thread.basis()
      const present = await this.state()
      // What was observed since then stays as it is.
      if (!present.observations.startsWith(state.observations))
        throw new Error('The observations were changed meanwhile.')
      const observations = read.observations + present.observations.slice(state.observations.length)
      const compressedTokens = this.#thread.countTokens(read.observations)
      if (compressedTokens >= tokens) throw new Error('The reflection is no shorter than the observations.')
      const next = { ...present, observations, generationCount: present.generationCount + 1 }
      const coversTo = this.#thread.pointer()?.coversTo ?? 0
      if (!(await this.#thread.observe(contentOf(next), coversTo, basis)))
        throw new Error('The context was changed meanwhile.')
      this.#reflectorRetry.succeeded()
      emit({ type: 'om_reflection_end', cycleId, durationMs: now() - began, compressedTokens, observations })
    } catch (thrown) {
      if (this.#end.signal.aborted) return
      this.#reflectorRetry.failed(this.#steps)
      emit({ type: 'om_reflection_failed', cycleId, error: messageOf(thrown), durationMs: now() - began })
    }
  }

  async #report(pending: readonly StoredMessage[]): Promise<void> {
    const state = await this.state()
    const chunks = this.#chunks
    const sum = (key: 'messageTokens' | 'tokens'): number => chunks.reduce((total, chunk) => total + chunk[key], 0)
    this.#services.emit({
      type: 'om_status',
      windows: {
        active: {
          messages: { tokens: this.#sum(pending), threshold: this.observerThreshold },
          observations: { tokens: this.#count(state.observations), threshold: this.reflectorThreshold },
        },
        buffered: {
          observations: {
            status: this.#observing === undefined ? (chunks.length > 0 ? 'complete' : 'idle') : 'running',
            chunks: chunks.length,
            messageTokens: sum('messageTokens'),
            projectedMessageRemoval: sum('messageTokens'),
            observationTokens: sum('tokens'),
          },
          reflection: {
            status: this.#reflecting === undefined ? 'idle' : 'running',
            inputObservationTokens: this.#reflecting?.tokens ?? 0,
            observationTokens: 0,
          },
        },
      },
      recordId: this.#thread.threadId,
      threadId: this.#thread.threadId,
      stepNumber: this.#steps,
      generationCount: state.generationCount,
    })
  }

  async #ask(role: 'observer' | 'reflector', system: string, prompt: string): Promise<string> {
    const signal = AbortSignal.any([this.#end.signal, AbortSignal.timeout(this.#options.timeoutMs ?? TIMEOUT_MS)])
    const answer = await this.#services.ask(role, system, prompt, signal)
    if (answer === undefined) throw new Error(`No model was configured for the ${role}.`)
    return answer
  }
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
