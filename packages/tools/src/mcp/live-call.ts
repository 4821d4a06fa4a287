import type { CallToolResult, ElicitResult, InputRequiredResult } from '@modelcontextprotocol/client'
import { InspanError, type Answer } from '@inspan/protocol'
import type { CallSignals } from './call-signals.ts'
import { elicitResult, type ServerQuestion } from './server-question.ts'

export type CallReply = CallToolResult | InputRequiredResult

/** What a call came to: its reply, or a question that its server asks in the middle of it. */
export type LiveEvent = { readonly reply: CallReply } | { readonly question: ServerQuestion }

interface AskedByServer {
  readonly question: ServerQuestion
  readonly answer: PromiseWithResolvers<ElicitResult>
}

/**
 * A call that a server works on. Older servers ask their questions meanwhile and keep the connection waiting, so the
 * call lives on in this process until the answer comes.
 */
export class LiveCall {
  readonly #turn: AbortSignal
  readonly #signals: CallSignals
  readonly #abort: AbortController
  #asked: AskedByServer | undefined
  #next = Promise.withResolvers<LiveEvent>()
  /** Settles `#next` with how the call ended, once it has. */
  #end: (() => void) | undefined
  /** When the server last showed that it works. */
  #lastSign = performance.now()

  /** `turn`: its signal. The call is aborted with it. */
  constructor(turn: AbortSignal, signals: CallSignals) {
    this.#turn = turn
    this.#signals = signals
    this.#abort = signals.take(turn)
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Resolves with the reply or the next question. */
  next(): Promise<LiveEvent> {
    return this.#next.promise
  }

  /** The server has shown that it works: the time it has begins anew. */
  touch(): void {
    this.#lastSign = performance.now()
  }

  /** Aborts the call if its server has been silent for so long. Returns how many milliseconds it has left otherwise. */
  expire(timeoutMs: number): number {
    // People may take as long as they like.
    if (this.#asked !== undefined) return timeoutMs
    const left = timeoutMs - (performance.now() - this.#lastSign)
    if (left > 0) return left
    this.#abort.abort(new InspanError('expired', `The server did not answer within ${timeoutMs} ms.`))
    return timeoutMs
  }

  /** Called when the server asks. */
  async ask(question: ServerQuestion): Promise<ElicitResult> {
    if (this.#asked !== undefined) throw new InspanError('conflict', 'The call has asked something already.')
    const answer = Promise.withResolvers<ElicitResult>()
    answer.promise.catch(() => undefined)
    this.#asked = { question, answer }
    this.#next.resolve({ question })
    return answer.promise
  }

  answer(answer: Answer): void {
    const asked = this.#asked
    this.#asked = undefined
    this.#next = Promise.withResolvers<LiveEvent>()
    if (this.#end !== undefined) return this.#end()
    this.touch()
    asked?.answer.resolve(elicitResult(answer))
  }

  /** The server has replied. */
  succeed(reply: CallReply): void {
    this.#over(() => this.#next.resolve({ reply }))
  }

  fail(error: unknown): void {
    this.#over(() => this.#next.reject(error))
  }

  #over(end: () => void): void {
    this.#end = end
    this.#signals.release(this.#turn, this.#abort)
    this.#asked?.answer.reject(new InspanError('closed', 'The call is over.'))
    end()
  }
}
