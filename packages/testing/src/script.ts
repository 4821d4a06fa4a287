import type { JsonObject, JsonValue } from '@inspan/protocol'

/** A text, or the same text split into the deltas in which it is streamed. */
export type Deltas = string | readonly string[]

/** The answer to one model call. Without `parts` the order is reasoning, text, tool calls. */
export interface ModelTurn {
  /** A string is one delta, an array has one delta each. */
  readonly text?: Deltas
  /** The same for reasoning. */
  readonly reasoning?: Deltas
  /** The signature of `reasoning`: Anthropic's `signature`, the `encrypted_content` of Responses, provider metadata in process. */
  readonly signature?: string
  /** Calls of tools, in order. */
  readonly toolCalls?: readonly ScriptedToolCall[]
  /**
   * The answer part by part instead of the three above, in any order: `{ text, phase? }`, `{ reasoning, signature? }`,
   * `{ toolCall }` or `{ raw }`, which passes on a part in the format's own shape.
   */
  readonly parts?: readonly ScriptedPart[]
  /** Opens all parts first and sends their deltas in turn. */
  readonly interleave?: boolean
  /**
   * `inputTokens` and `outputTokens` are totals; `cachedInputTokens`, `cacheWriteInputTokens` and `reasoningTokens` are
   * shares of them. Missing numbers are 0.
   */
  readonly usage?: ScriptedUsage
  /** Why the answer ends. Default: `tool-calls` when the client has a tool to run, else `stop`. */
  readonly finishReason?: ScriptedFinishReason
  /** The provider's own stop reason (`refusal`, `pause_turn` …), sent unchanged. */
  readonly stopReason?: string
  /** Extra response headers. */
  readonly headers?: Readonly<Record<string, string>>
  /** The call fails: `{ status?, message?, type?, code?, body?, headers?, retryAfterMs?, retryable? }`. */
  readonly error?: ScriptedError
  /** The answer begins, its deltas are sent, then the stream reports an error. */
  readonly streamError?: ScriptedStreamError
  /**
   * The answer stops after its last delta, or after `cutAfter`. `end`: the stream ends as if it were complete. `reset`:
   * the connection breaks. `true`: `end` in process, `reset` over HTTP. Without any content, the connection breaks before
   * the answer.
   */
  readonly cut?: true | 'end' | 'reset'
  /** Cuts after this many deltas, counted over all parts. */
  readonly cutAfter?: number
  /** Sends what there is, then nothing more until the caller gives up. Without any content, not even the answer begins. */
  readonly hang?: true
  /** Milliseconds to wait before the answer begins. */
  readonly delayMs?: number
  /** Milliseconds to wait before every delta. */
  readonly delayPerDeltaMs?: number
  /** Plays the turn this many times; `true`: for every further call. */
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
 * A part in the format it is played in, passed on unchanged: a stream part of the AI SDK, a content block of Anthropic,
 * an output item of Responses, the `delta` of a chat chunk.
 */
export interface ScriptedRaw {
  readonly raw: JsonObject & { readonly type?: string }
}

export interface ScriptedToolCall {
  /** The id of the call. Default: a fresh, random one. */
  readonly id?: string
  /** The name of the tool. */
  readonly name: string
  /** An object, or a text that is sent as it is, even if it is not JSON. Default: `{}`. */
  readonly input?: JsonObject | string
  /** Streams the input in this many pieces, or in exactly these. */
  readonly inputDeltas?: number | readonly string[]
  /** A free-form tool: the input is text, not JSON (`custom_tool_call` of Responses). */
  readonly custom?: boolean
  /** Responses only: the namespace the tool was offered in. */
  readonly namespace?: string
  /** In process only: the provider ran the tool itself, with this `result`. */
  readonly providerExecuted?: boolean
  /** The result of a tool that the provider ran. */
  readonly result?: JsonValue
  /** Whether that result is an error. */
  readonly isError?: boolean
  /** Metadata by provider name, in process only. */
  readonly providerMetadata?: ScriptedMetadata
}

/** Totals as the AI SDK counts them: `inputTokens` includes cached tokens, `outputTokens` includes reasoning. */
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
  /** The `type` and `code` of the format's error object. The default follows from the status. */
  readonly type?: string
  readonly code?: string
  /** The whole response body instead of one made from the fields above. */
  readonly body?: JsonValue
  readonly headers?: Readonly<Record<string, string>>
  readonly retryAfterMs?: number
  /** Default: depends on the status (408, 409, 429 and 5xx are retryable). */
  readonly retryable?: boolean
}

export interface ScriptedStreamError {
  readonly message?: string
  readonly type?: string
  readonly code?: string | number
  /** In process, the status that the provider package derives from the type; not sent over HTTP. Default: 500. */
  readonly status?: number
  /** Only in process, like `status`. Default: depends on the status. */
  readonly retryable?: boolean
}

export type ScriptedMetadata = Readonly<Record<string, JsonObject>>

/** A turn, or a function that makes it from the request it answers. */
export type ScriptedTurn<Request> = ModelTurn | ((request: Request) => ModelTurn | Promise<ModelTurn>)

/** A separate list of turns for certain requests (subagents, a second model), with its own position. */
export interface ScriptedRoute<Request> {
  readonly match: string | RegExp | ((request: Request) => boolean)
  /**
   * Where a string or RegExp is searched for. Default: in the system prompt, the opening user messages and the model
   * id. `anywhere` is the whole request, including what the parent of a subagent repeats of it.
   */
  readonly where?: 'system' | 'opening' | 'model' | 'anywhere'
  readonly turns: readonly ScriptedTurn<Request>[]
  /** The name in requests and errors. Default: `routes[0]` … */
  readonly name?: string
}

export interface ScriptObject<Request> {
  readonly turns?: readonly ScriptedTurn<Request>[]
  readonly routes?: readonly ScriptedRoute<Request>[]
  /** The answer to side requests: titles, names, summaries, probes. They use up no turn. */
  readonly side?: ScriptedTurn<Request>
  /** Decides which requests are side requests; `false`: none. Default: those that look like it, see docs/guide/testing.md. */
  readonly isSide?: false | ((request: Request) => boolean)
}

export type Script<Request> = readonly ScriptedTurn<Request>[] | ScriptObject<Request>
