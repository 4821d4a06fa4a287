import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { InspanError, type AgentEvent } from '@inspan/protocol'
import type { CallIds } from './call-ids.ts'
import type { LanguageModel } from './language-model.ts'
import { ModelAnswer, type StepResult } from './model-answer.ts'
import { failureOf, silentFor, STREAM_CUT, type ModelFailure } from './model-failure.ts'
import { Patience } from './patience.ts'

export interface StepPorts {
  readonly ids: CallIds
  readonly now: () => number
  /** The signal of the turn. */
  readonly signal: AbortSignal
  /** How long the model may send nothing, in milliseconds. */
  readonly silentMs: number
}

type ModelReader = ReadableStreamDefaultReader<LanguageModelV4StreamPart>
type Read = Awaited<ReturnType<ModelReader['read']>>
type Heard = IteratorResult<AgentEvent, StepResult>

/**
 * One model call as agent events, without the start and finish of the step. Never throws: a failure is a result.
 *
 * An async generator would be shorter, but makes several more promises for every delta.
 */
export class ModelStep implements AsyncIterator<AgentEvent, StepResult> {
  readonly #model: LanguageModel
  readonly #options: LanguageModelV4CallOptions
  readonly #ports: StepPorts
  readonly #answer: ModelAnswer
  readonly #patience: Patience
  #reader: ModelReader | undefined
  #isOver = false

  constructor(model: LanguageModel, options: LanguageModelV4CallOptions, ports: StepPorts) {
    this.#model = model
    this.#options = options
    this.#ports = ports
    this.#answer = new ModelAnswer(ports.ids, ports.now)
    this.#patience = new Patience(ports.signal, ports.silentMs)
  }

  next(): Promise<Heard> {
    const event = this.#answer.nextEvent()
    if (event !== undefined) return Promise.resolve({ done: false, value: event })
    if (this.#reader === undefined || this.#isOver) return this.#hearOn()
    this.#patience.begin()
    return this.#reader.read().then(this.#hear, this.#break)
  }

  /** Called when the consumer stops early. */
  async return(): Promise<Heard> {
    this.#end()
    return { done: true, value: this.#answer.result }
  }

  readonly #hear = (read: Read): Heard | Promise<Heard> => {
    this.#take(read)
    const event = this.#answer.nextEvent()
    return event === undefined ? this.#hearOn() : { done: false, value: event }
  }

  readonly #break = (error: unknown): Promise<Heard> => {
    this.#fail(error)
    return this.#hearOn()
  }

  /** Reads until there is an event, because not every part is one. */
  async #hearOn(): Promise<Heard> {
    for (;;) {
      const event = this.#answer.nextEvent()
      if (event !== undefined) return { done: false, value: event }
      if (this.#isOver) return { done: true, value: this.#answer.result }
      try {
        this.#reader ??= await this.#open()
        this.#patience.begin()
        this.#take(await this.#reader.read())
      } catch (error) {
        this.#fail(error)
      }
    }
  }

  /** Asks the model. Rejects as soon as nobody waits for it any more, whether or not the model listens to its signal. */
  #open(): Promise<ModelReader> {
    const patience = this.#patience
    const { signal } = patience
    this.#ports.ids.nextStep()
    return new Promise((resolve, reject) => {
      const leave = (): void => reject(new InspanError('closed', 'The run was cancelled.'))
      if (signal.aborted) return leave()
      patience.onEnd = leave
      // The specifications differ in what they leave out, not in what is read here.
      Promise.resolve((this.#model as LanguageModelV4).doStream({ ...this.#options, abortSignal: signal }))
        .then(({ stream }) => {
          const reader = stream.getReader()
          const letGo = (): void => letGoOf(reader, signal.reason)
          if (signal.aborted) return letGo()
          // A model that ignores its signal would send on: its stream is cancelled.
          patience.onEnd = letGo
          resolve(reader)
        })
        .catch(reject)
    })
  }

  #take(read: Read): void {
    this.#patience.pause()
    try {
      if (read.done) this.#end()
      else this.#answer.take(read.value)
    } catch (error) {
      this.#fail(error)
    }
  }

  #end(): void {
    if (this.#isOver) return
    this.#answer.end(this.#cut ?? STREAM_CUT)
    this.#leave()
  }

  #fail(error: unknown): void {
    if (this.#isOver) return
    this.#answer.fail(this.#cut ?? failureOf(error, this.#ports.now()))
    this.#leave()
  }

  /** The failure if we gave up on a silent model. */
  get #cut(): ModelFailure | undefined {
    return this.#patience.isOver ? silentFor(this.#ports.silentMs) : undefined
  }

  #leave(): void {
    this.#isOver = true
    this.#patience.end()
    if (this.#reader !== undefined) letGoOf(this.#reader, this.#patience.signal.reason)
  }
}

function letGoOf(reader: ModelReader, reason: unknown): void {
  reader.cancel(reason).catch(ignore)
}

function ignore(): void {}
