import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type {
  AgentDriver,
  AgentEvent,
  AgentSession,
  CancelReceipt,
  Capabilities,
  Host,
  JsonObject,
  Turn,
} from '@evener/protocol'
import type { Dynamic } from './agent-context.ts'
import type { LoopHooks } from './hooks.ts'
import { FlatTurn } from './flat-turn.ts'
import { nativeTurn } from './native-turn.ts'
import type { ModelInput, ResolveModel } from './resolve-model.ts'
import type { RetryOptions } from './retry.ts'
import type { OutputOptions } from './structured-output.ts'
import type { StopCondition } from './turn-step.ts'

/** How the model is to speak. Absent means what the provider thinks best. */
export type ModelSettings = Pick<
  LanguageModelV4CallOptions,
  | 'maxOutputTokens'
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'stopSequences'
  | 'seed'
  | 'reasoning'
  | 'headers'
>

export interface NativeDriverOptions {
  /** As threads remember it: keep it when the program changes. */
  readonly id: string
  /** A model of the AI SDK, or its name as `provider/model`. A function is called before every step. */
  readonly model: Dynamic<ModelInput>
  /** Makes a model of a name; without it the provider's package is loaded. */
  readonly resolveModel?: ResolveModel
  /** The system prompt. A function is called before every step. */
  readonly instructions?: Dynamic<string | undefined>
  /** How many answers of the model a turn may take; attempts that failed do not count. Default: 1024. */
  readonly maxSteps?: number
  /** Ends the turn after a step that called tools, when one of them holds. */
  readonly stopWhen?: StopCondition | readonly StopCondition[]
  readonly settings?: ModelSettings
  readonly toolChoice?: LanguageModelV4CallOptions['toolChoice']
  /** By provider. */
  readonly providerOptions?: JsonObject
  /** How often it is asked again when it could not answer. */
  readonly retry?: RetryOptions
  /**
   * After so many milliseconds in which nothing came from a model its answer counts as cut off, and it is asked again.
   * Default: 30 minutes; `Infinity` for as long as it takes.
   */
  readonly idleTimeoutMs?: number
  /** The answer is to be data of this kind. */
  readonly output?: OutputOptions
  /** Called before and after turns, steps and tools. */
  readonly hooks?: LoopHooks
  /** False: no marks for providers that want to be told what to keep of a request. */
  readonly cache?: boolean
}

const CAPABILITIES: Capabilities = {
  governs: 'all',
  steer: 'inject',
  resume: 'anchor',
  fork: 'anchor',
  handover: 'items',
  hostTools: 'inproc',
  interrupt: 'clean',
  usage: 'turn',
  redaction: 'all',
  images: true,
  mcp: false,
  subagents: false,
  systemPrompt: 'replace',
  models: null,
}

/** Our own model loop as a driver: the host holds history and tools, so nothing of a conversation lives in here. */
export function nativeDriver(options: NativeDriverOptions): AgentDriver {
  return {
    id: options.id,
    describe: async () => CAPABILITIES,
    open: async (_binding, host) => new NativeSession(options, host),
  }
}

class NativeSession implements AgentSession {
  readonly #options: NativeDriverOptions
  readonly #host: Host
  readonly #abort = new AbortController()
  // `AbortSignal.any` would do the same with weak references and their finalizers, at several times the price.
  readonly #follow = (): void => this.#abort.abort(this.#host.signal.reason)

  constructor(options: NativeDriverOptions, host: Host) {
    this.#options = options
    this.#host = host
    if (host.signal.aborted) this.#follow()
    else host.signal.addEventListener('abort', this.#follow, { once: true })
  }

  run(turn: Turn): AsyncIterable<AgentEvent> {
    return new FlatTurn(nativeTurn(this.#options, this.#host, turn, this.#abort.signal))
  }

  async cancel(): Promise<CancelReceipt> {
    this.#abort.abort()
    return { how: 'clean', calls: [], orphansKilled: 0, queued: [] }
  }

  async close(): Promise<void> {
    this.#host.signal.removeEventListener('abort', this.#follow)
    this.#abort.abort(CLOSED)
  }
}

/** Made once: an error of its own for every turn, with its stack, would be a twentieth of what a short turn costs. */
const CLOSED = new DOMException('The session was closed.', 'AbortError')
