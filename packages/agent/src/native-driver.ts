import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { InspanError, type AgentEvent, type JsonObject } from '@inspan/protocol'
import type { AgentDriver, AgentSession, Capabilities, Host, Turn } from '@inspan/protocol/driver'
import type { CancelReceipt } from '@inspan/protocol/log'
import type { Dynamic } from './agent-context.ts'
import type { LoopHooks } from './hooks.ts'
import { FlatTurn } from './flat-turn.ts'
import { EFFORTS } from './request.ts'
import { nativeTurn } from './native-turn.ts'
import type { ModelInput, ResolveModel } from './resolve-model.ts'
import type { RetryOptions } from './retry.ts'
import type { OutputOptions } from './structured-output.ts'
import type { StopCondition } from './turn-step.ts'

/** Sampling and output settings. Default: those of the provider. */
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
  /** The agent's id in the threads; keep it when the program changes. */
  readonly id: string
  /** A model of the AI SDK, or its name as `provider/model`. A function is called before every step. */
  readonly model: Dynamic<ModelInput>
  /** Makes a model from its name. Default: loads the provider's package, such as `@ai-sdk/openai`, which you install. */
  readonly resolveModel?: ResolveModel
  /** The system prompt. A function is called before every step. */
  readonly instructions?: Dynamic<string | undefined>
  /** How many answers of the model a turn may take; failed attempts do not count. Default: 1,024. */
  readonly maxSteps?: number
  /** Ends the turn after a step with tool calls if one of the conditions holds. */
  readonly stopWhen?: StopCondition | readonly StopCondition[]
  /** Passed to the provider as they are, such as `temperature`. */
  readonly settings?: ModelSettings
  /** Passed to the provider as it is. */
  readonly toolChoice?: LanguageModelV4CallOptions['toolChoice']
  /** Options by provider name, passed on as they are. */
  readonly providerOptions?: JsonObject
  /** How often, and after which pauses, the model is asked again after a failure. Default: 4 times, from 1 second on. */
  readonly retry?: RetryOptions
  /**
   * Milliseconds without any output after which the model's answer counts as cut off and the model is asked again.
   * `Infinity`: no limit. Default: 30 minutes.
   */
  readonly idleTimeoutMs?: number
  /** Structured output: validated, and repaired up to `repairs` times (1); otherwise the run fails with `invalid-output`. */
  readonly output?: OutputOptions
  /** Called before and after turns, steps and tools. */
  readonly hooks?: LoopHooks
  /** `false`: no cache markers, and no key for OpenAI's cache. Default: true. */
  readonly cache?: boolean
}

const CAPABILITIES: Capabilities = {
  governs: 'all',
  continuity: 'log',
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
  maxSteps: true,
  effort: EFFORTS,
  output: true,
  limits: true,
  sessions: false,
}

/** Our own model loop as a driver. History and tools are the host's, so no conversation is kept here. */
export function nativeDriver(options: NativeDriverOptions): AgentDriver {
  return {
    port: 1,
    id: options.id,
    describe: async () => CAPABILITIES,
    open: async (_binding, host) => new NativeAgentSession(options, host),
  }
}

class NativeAgentSession implements AgentSession {
  readonly #options: NativeDriverOptions
  readonly #host: Host
  readonly #abort = new AbortController()
  readonly #turns: FlatTurn[] = []
  #isClosed = false
  // `AbortSignal.any` would do the same with weak references and finalizers, at several times the cost.
  readonly #follow = (): void => this.#abort.abort(this.#host.signal.reason)

  constructor(options: NativeDriverOptions, host: Host) {
    this.#options = options
    this.#host = host
    if (host.signal.aborted) this.#follow()
    else host.signal.addEventListener('abort', this.#follow, { once: true })
  }

  run(turn: Turn): AsyncIterable<AgentEvent> {
    if (this.#isClosed) throw new InspanError('closed', 'This session is closed.', { hint: 'Open another one.' })
    const events = new FlatTurn(nativeTurn(this.#options, this.#host, turn, this.#abort.signal))
    this.#turns.push(events)
    return events
  }

  async cancel(): Promise<CancelReceipt> {
    this.#abort.abort()
    return { how: 'clean', calls: [], orphansKilled: 0, queued: [] }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#host.signal.removeEventListener('abort', this.#follow)
    // To abort a turn that is over would be a twentieth of the cost of a short one.
    if (!this.#turns.every(({ isOver }) => isOver)) this.#abort.abort(CLOSED)
  }
}

/** Made once: a new error with a stack for every turn would be a twentieth of the cost of a short turn. */
const CLOSED = new DOMException('The session was closed.', 'AbortError')
