import type { CallToolResult, ElicitResult, InputRequiredResult } from '@modelcontextprotocol/client'
import { InspanError, type Answer } from '@inspan/protocol'
import { elicitResult, type ServerQuestion } from './server-question.ts'

export type CallReply = CallToolResult | InputRequiredResult

/** What a call came to: its reply, or a question that its server asks in the middle of it. */
export type LiveEvent = { readonly reply: CallReply } | { readonly question: ServerQuestion }

interface Asked {
  readonly question: ServerQuestion
  readonly answer: PromiseWithResolvers<ElicitResult>
}

/**
 * A call that a server works on. Older servers ask their questions meanwhile and keep the connection waiting, so the
 * call lives on in this process until the answer comes.
 */
export class LiveCall {
  readonly #timeoutMs: number
  readonly #abort = new AbortController()
  readonly #reply: Promise<LiveEvent>
  #asked: Asked | undefined
  #next = Promise.withResolvers<LiveEvent>()
  #timer: NodeJS.Timeout | undefined

  constructor(timeoutMs: number, signal: AbortSignal, send: (call: LiveCall) => Promise<CallReply>) {
    this.#timeoutMs = timeoutMs
    const stop = (): void => this.#abort.abort(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    this.touch()
    this.#reply = send(this)
      .then((reply) => ({ reply }))
      .finally(() => {
        clearTimeout(this.#timer)
        signal.removeEventListener('abort', stop)
        this.#asked?.answer.reject(new InspanError('closed', 'The call is over.'))
      })
    this.#reply.catch(() => undefined)
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Resolves with the reply or the next question. */
  next(): Promise<LiveEvent> {
    return Promise.race([this.#reply, this.#next.promise])
  }

  /** The server has shown that it works: the time it has begins anew. */
  touch(): void {
    clearTimeout(this.#timer)
    if (this.#asked !== undefined) return
    this.#timer = setTimeout(() => {
      this.#abort.abort(new InspanError('expired', `The server did not answer within ${this.#timeoutMs} ms.`))
    }, this.#timeoutMs)
  }

  /** Called when the server asks. People may take as long as they like. */
  async ask(question: ServerQuestion): Promise<ElicitResult> {
    if (this.#asked !== undefined) throw new InspanError('conflict', 'The call has asked something already.')
    const answer = Promise.withResolvers<ElicitResult>()
    answer.promise.catch(() => undefined)
    this.#asked = { question, answer }
    clearTimeout(this.#timer)
    this.#next.resolve({ question })
    return answer.promise
  }

  answer(answer: Answer): void {
    const asked = this.#asked
    this.#asked = undefined
    this.#next = Promise.withResolvers<LiveEvent>()
    this.touch()
    asked?.answer.resolve(elicitResult(answer))
  }
}
