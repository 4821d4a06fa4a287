import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import {
  addUsage,
  NO_USAGE,
  toErrorData,
  type AgentDriver,
  type AgentEvent,
  type AgentSession,
  type CancelReceipt,
  type Capabilities,
  type FinishReason,
  type Host,
  type HostTool,
  type StoredMessage,
  type ToolCallInfo,
  type ToolOutcome,
  type Turn,
  type UsageTotals,
} from '@evener/protocol'
import type { LanguageModel } from './language-model.ts'
import { modelStep } from './model-step.ts'
import { toPrompt } from './prompt.ts'

/** High enough not to matter for real work: context and cost end a turn before. */
export const DEFAULT_MAX_STEPS = 1024

export interface NativeDriverOptions {
  readonly id: string
  readonly model: LanguageModel
  readonly instructions?: string
}

const CAPABILITIES: Capabilities = {
  governs: 'all',
  steer: 'none',
  resume: 'anchor',
  fork: 'anchor',
  handover: 'items',
  hostTools: 'inproc',
  interrupt: 'clean',
  usage: 'turn',
  images: true,
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

  constructor(options: NativeDriverOptions, host: Host) {
    this.#options = options
    this.#host = host
  }

  async *run(turn: Turn): AsyncGenerator<AgentEvent> {
    const signal = AbortSignal.any([this.#host.signal, this.#abort.signal])
    let usage: UsageTotals = NO_USAGE
    let finishReason: FinishReason = 'other'
    yield { type: 'start' }
    const maxSteps = turn.maxSteps ?? DEFAULT_MAX_STEPS
    for (let stepIndex = 0; stepIndex < maxSteps; stepIndex++) {
      yield { type: 'step-start', stepIndex }
      const step = modelStep(this.#options.model, await this.#request(turn, signal))
      let calls: readonly ToolCallInfo[]
      try {
        const result = yield* step
        finishReason = result.finishReason
        usage = addUsage(usage, result.usage)
        calls = result.calls
        yield { type: 'step-finish', stepIndex, finishReason, usage: result.usage }
      } catch (error) {
        finishReason = 'error'
        yield { type: 'error', error: toErrorData(error) }
        yield { type: 'step-finish', stepIndex, finishReason }
        break
      }
      if (calls.length === 0 || finishReason === 'error' || signal.aborted) break
      yield* this.#carryOut(calls)
    }
    const { costUsd: _costUsd, ...tokens } = usage
    yield { type: 'finish', finishReason, usage: tokens }
  }

  async cancel(): Promise<CancelReceipt> {
    this.#abort.abort()
    return { how: 'clean', calls: [], orphansKilled: 0, queued: [] }
  }

  async close(): Promise<void> {
    this.#abort.abort()
  }

  /** All calls of a step at once; results come in the order in which they end. */
  async *#carryOut(calls: readonly ToolCallInfo[]): AsyncGenerator<AgentEvent> {
    const running = new Map(calls.map((call) => [call.toolCallId, this.#callTool(call)]))
    while (running.size > 0) {
      const { call, outcome } = await Promise.race(running.values())
      running.delete(call.toolCallId)
      yield { type: 'tool-result', toolCallId: call.toolCallId, toolName: call.toolName, ...outcome }
    }
  }

  async #callTool(call: ToolCallInfo): Promise<{ call: ToolCallInfo; outcome: ToolOutcome }> {
    try {
      if (this.#host.callTool === undefined) throw new Error('This agent was given no tools.')
      return { call, outcome: await this.#host.callTool(call) }
    } catch (error) {
      const data = toErrorData(error)
      return { call, outcome: { result: data.message, isError: true, error: data } }
    }
  }

  async #request(turn: Turn, signal: AbortSignal): Promise<LanguageModelV4CallOptions> {
    const messages: StoredMessage[] = []
    for await (const message of this.#host.history({ order: 'oldest' })) messages.push(message)
    const tools = this.#host.listTools?.() ?? []
    return {
      prompt: toPrompt(turn.instructions ?? this.#options.instructions, messages),
      abortSignal: signal,
      ...(tools.length === 0 ? {} : { tools: tools.map(functionTool) }),
    }
  }
}

function functionTool(tool: HostTool): NonNullable<LanguageModelV4CallOptions['tools']>[number] {
  return {
    type: 'function',
    name: tool.name,
    inputSchema: tool.inputSchema,
    ...(tool.description === undefined ? {} : { description: tool.description }),
  }
}
