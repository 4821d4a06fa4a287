import type { IncomingHttpHeaders } from 'node:http'
import type { JsonObject } from '@evener/protocol'
import type { WireFormat } from './wire.ts'

export interface HttpRequest {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The body byte for byte, after unpacking. */
  readonly text: string
  /** When it arrived, in milliseconds since 1970. */
  readonly at: number
}

/** A call of a model. */
export interface ProviderRequest extends HttpRequest {
  readonly api: WireFormat['api']
  readonly body: JsonObject
  /** Who answers: `main`, `side`, or the name of a route. */
  readonly route: string
  /** The index of the turn in the list of its route; a side answer has none, nor has a request after the end. */
  readonly turn: number | undefined
  readonly outcome: RequestOutcome
}

/** `open`: not answered yet. `client-gone`: the client closed the connection before the end of the answer. */
export type RequestOutcome = 'open' | 'answered' | 'cut' | 'client-gone'

export interface ProviderOptions {
  /** Default: a free one. */
  readonly port?: number
  /** What `GET /v1/models` lists. Default: `scripted-model`. */
  readonly models?: readonly string[]
  /** Larger bodies are answered with 413. Default: 100 MB. */
  readonly maxBodyBytes?: number
}

export interface Provider {
  /** `http://127.0.0.1:PORT`. The base address for Anthropic clients; those of OpenAI get `/v1` behind it. */
  readonly url: string
  readonly port: number
  /** Every model call, in the order in which they came. */
  readonly requests: readonly ProviderRequest[]
  /** Model lists, token counts, probes (`HEAD`) and WebSocket upgrades. */
  readonly otherRequests: readonly HttpRequest[]
  /** What no provider answers, or what could not be read: a sign that the client was set up wrongly. */
  readonly unexpected: readonly HttpRequest[]
  /** Why requests were refused: the script was over, a quote found nothing, a turn function threw. */
  readonly problems: readonly Error[]
  /** Turns that no request has reached yet, routes included. */
  readonly turnsLeft: number
  /** Resolves when so many model calls have come. Default deadline: 30 s. */
  waitForRequests(count: number, timeoutMs?: number): Promise<readonly ProviderRequest[]>
  /** Resolves when the request with this index is no longer open. Default deadline: 30 s. */
  waitForOutcome(index: number, timeoutMs?: number): Promise<RequestOutcome>
  /** Breaks off all answers that are under way, as `cut` does in a script. What is asked then is answered. */
  cut(): void
  /** Breaks all connections and stops. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
