import type { JsonObject, JsonValue } from '@evener/protocol'

/** A text, or the same text cut into the deltas in which it is to be streamed. */
export type Deltas = string | readonly string[]

/** What one model call answers. Without `parts` the order is reasoning, text, tool calls. */
export interface Turn {
  readonly text?: Deltas
  readonly reasoning?: Deltas
  /** The opaque proof that belongs to `reasoning`: Anthropic's `signature`, the `encrypted_content` of Responses. */
  readonly signature?: string
  readonly toolCalls?: readonly ScriptedToolCall[]
  /** The answer part by part, in any order and number. Excludes `text`, `reasoning` and `toolCalls`. */
  readonly parts?: readonly ScriptedPart[]
  /** Open all parts first and send their deltas in turn: one of each, round and round. */
  readonly interleave?: boolean
  readonly usage?: ScriptedUsage
  /** Default: `tool-calls` when the client has a tool to run, else `stop`. */
  readonly finishReason?: ScriptedFinishReason
  /** The provider's own word for it (`refusal`, `pause_turn` …), sent as it is. */
  readonly stopReason?: string
  /** Extra response headers. */
  readonly headers?: Readonly<Record<string, string>>
  /** The call fails instead of answering. */
  readonly error?: ScriptedError
  /** The answer begins, its deltas are sent, then the stream reports an error. */
  readonly streamError?: ScriptedStreamError
  /**
   * The answer stops after its last delta (or after `cutAfter`): nothing is closed, nothing is finished.
   * `end`: the stream ends as if it were complete. `reset`: the connection breaks.
   * `true`: `end` in process, `reset` over HTTP.
   */
  readonly cut?: true | 'end' | 'reset'
  /** Cut after this many deltas, counted over all parts. */
  readonly cutAfter?: number
  /** Send what there is and then nothing more, until the caller gives up. */
  readonly hang?: true
  /** Wait before the answer begins. */
  readonly delayMs?: number
  /** Wait before every delta. */
  readonly delayPerDeltaMs?: number
  /** Play this turn so many times; `true`: for every further call. */
  readonly repeat?: number | true
}

export type ScriptedPart = ScriptedText | ScriptedReasoning | { readonly toolCall: ScriptedToolCall } | ScriptedRaw

export interface ScriptedText {
  readonly text: Deltas
  /** Responses only: `commentary` or `final_answer`. */
  readonly phase?: string
  readonly providerMetadata?: ScriptedMetadata
}

export interface ScriptedReasoning {
  readonly reasoning: Deltas
  readonly signature?: string
  readonly providerMetadata?: ScriptedMetadata
}

/**
 * A part in the words of the format it is played in, passed on untouched: a stream part of the AI SDK, a content block
 * of Anthropic, an output item of Responses, the `delta` of a chat chunk.
 */
export interface ScriptedRaw {
  readonly raw: JsonObject & { readonly type?: string }
}

export interface ScriptedToolCall {
  /** Default: a fresh id for every call. */
  readonly id?: string
  readonly name: string
  /** An object, or the argument text as it is: also text that is no JSON. Default: `{}`. */
  readonly input?: JsonObject | string
  /** Stream the input in so many pieces, or in exactly these. */
  readonly inputDeltas?: number | readonly string[]
  /** A free-form tool: the input is text, not JSON (`custom_tool_call` of Responses). */
  readonly custom?: boolean
  /** Responses only: the namespace the tool was offered in. */
  readonly namespace?: string
  /** In process only: the provider ran the tool itself, with this `result`. */
  readonly providerExecuted?: boolean
  readonly result?: JsonValue
  readonly isError?: boolean
  readonly providerMetadata?: ScriptedMetadata
}

/** Totals as the AI SDK counts them: `inputTokens` includes what was cached, `outputTokens` includes the reasoning. */
export interface ScriptedUsage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly cachedInputTokens?: number
  readonly cacheWriteInputTokens?: number
  readonly reasoningTokens?: number
}

export type ScriptedFinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other'

export interface ScriptedError {
  /** Default: 500. */
  readonly status?: number
  readonly message?: string
  /** The `type` and `code` of the error object of the format; the default follows from the status. */
  readonly type?: string
  readonly code?: string
  /** The whole response body instead of one made from the fields above. */
  readonly body?: JsonValue
  readonly headers?: Readonly<Record<string, string>>
  readonly retryAfterMs?: number
  /** Default: what the status says (408, 409, 429 and 5xx are). */
  readonly retryable?: boolean
}

export interface ScriptedStreamError {
  readonly message?: string
  readonly type?: string
  readonly code?: string | number
  /** In process, what the provider package makes of the type; over HTTP there is no such field. Default: 500. */
  readonly status?: number
  /** Likewise. Default: what the status says. */
  readonly retryable?: boolean
}

export type ScriptedMetadata = Readonly<Record<string, JsonObject>>

/** A turn, or a function that makes it from the request it answers. */
export type ScriptedTurn<Request> = Turn | ((request: Request) => Turn | Promise<Turn>)

/** Requests of their own (subagents, a second model): they have their own turns and their own place in them. */
export interface ScriptedRoute<Request> {
  readonly match: string | RegExp | ((request: Request) => boolean)
  /**
   * Where a string or RegExp is looked for. Default: in the system prompt, the opening user messages and the model id.
   * `anywhere` is the whole request, also what the parent of a subagent repeats of it.
   */
  readonly where?: 'system' | 'opening' | 'model' | 'anywhere'
  readonly turns: readonly ScriptedTurn<Request>[]
  /** How requests and errors call it. Default: `routes[0]` … */
  readonly name?: string
}

export interface ScriptObject<Request> {
  readonly turns?: readonly ScriptedTurn<Request>[]
  readonly routes?: readonly ScriptedRoute<Request>[]
  /** The answer to requests beside the conversation: titles, names, summaries, probes. They use up no turn. */
  readonly side?: ScriptedTurn<Request>
  /** Which requests these are; `false`: none. Default: those that look like it, see docs/testing.md. */
  readonly isSide?: false | ((request: Request) => boolean)
}

export type Script<Request> = readonly ScriptedTurn<Request>[] | ScriptObject<Request>
