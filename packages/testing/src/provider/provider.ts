import type { IncomingHttpHeaders } from 'node:http'
import type { JsonObject } from '@inspan/protocol'
import type { WireFormat } from './wire.ts'

export interface HttpRequest {
  readonly method: string
  /** Includes the query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The body byte for byte, after decompression. */
  readonly text: string
  /** The time of arrival in milliseconds since 1970. */
  readonly at: number
}

/** A model call. */
export interface ProviderRequest extends HttpRequest {
  readonly api: WireFormat['api']
  readonly body: JsonObject
  /** What answers: `main`, `side`, or the name of a route. */
  readonly route: string
  /** The index of the turn in its route's list. Absent for a side answer and for a request after the script's end. */
  readonly turn: number | undefined
  readonly outcome: RequestOutcome
}

/** `open`: not answered yet. `refused`: longer than the window. `client-gone`: the client closed the connection before the end of the answer. */
export type RequestOutcome = 'open' | 'answered' | 'refused' | 'cut' | 'client-gone'

export interface ProviderOptions {
  /** Default: a free port. */
  readonly port?: number
  /** What `GET /v1/models` lists. Default: `scripted-model`. */
  readonly models?: readonly string[]
  /** Larger bodies are answered with 413. Default: 100 MB. */
  readonly maxBodyBytes?: number
  /**
   * The context window in tokens, a token being four bytes of the body. Longer requests are refused in the words of the
   * vendor and use up no turn; answers without a usage of their own report the count. Default: no limit.
   */
  readonly contextWindow?: number
}

export interface Provider {
  /** `http://127.0.0.1:PORT`. The base address for Anthropic clients; OpenAI clients need `/v1` appended. */
  readonly url: string
  readonly port: number
  /** Every model call, in order of arrival. */
  readonly requests: readonly ProviderRequest[]
  /** Model lists, token counts, probes (`HEAD`) and WebSocket upgrades. */
  readonly otherRequests: readonly HttpRequest[]
  /** Requests that no provider answers or that could not be read: a sign that the client is misconfigured. */
  readonly unexpected: readonly HttpRequest[]
  /** Why requests were refused: the script had ended, a quote found nothing, a turn function threw. */
  readonly problems: readonly Error[]
  /** The number of turns that no request has reached yet, including those of routes. */
  readonly turnsLeft: number
  /** Resolves when this many model calls have arrived. Default deadline: 30 s. */
  waitForRequests(count: number, timeoutMs?: number): Promise<readonly ProviderRequest[]>
  /** Resolves when the request with this index is no longer open. Default deadline: 30 s. */
  waitForOutcome(index: number, timeoutMs?: number): Promise<RequestOutcome>
  /** Breaks off all ongoing answers, as `cut` does in a script. Later requests are answered. */
  cut(): void
  /** Breaks all connections and stops the server. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
