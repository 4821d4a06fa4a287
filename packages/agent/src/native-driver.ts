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
  type Part,
  type StoredMessage,
  type ToolOutcome,
  type Turn,
  type UsageTotals,
} from '@evener/protocol'
import { agentContext, resolveDynamic, type Dynamic } from './agent-context.ts'
import type { LanguageModel } from './language-model.ts'
import { modelStep, type OrderedCall } from './model-step.ts'
import { toPrompt } from './prompt.ts'
import { resolveModel, type ModelInput, type ResolveModel } from './resolve-model.ts'

/** High enough not to matter for real work: context and cost end a turn before. */
export const DEFAULT_MAX_STEPS = 1024

export interface NativeDriverOptions {
  readonly id: string
  readonly model: Dynamic<ModelInput>
  /** Makes a model of a name; without it the provider's package is loaded. */
  readonly resolveModel?: ResolveModel
  readonly instructions?: Dynamic<string | undefined>
  /** How many model calls a turn may take; `DEFAULT_MAX_STEPS` when absent. */
  readonly maxSteps?: number
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

interface ResumePoint {
  readonly nextStep: number
  readonly calls: readonly OrderedCall[]
  /** Set when the agent had said all it had to say. */
  readonly finishReason: FinishReason | undefined
}

const FRESH: ResumePoint = { nextStep: 0, calls: [], finishReason: undefined }

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
    const resumed = turn.resumed === undefined ? FRESH : await this.#whereItStood(turn)
    let usage: UsageTotals = NO_USAGE
    let finishReason: FinishReason = resumed.finishReason ?? 'other'
    yield { type: 'start' }
    yield* this.#carryOut(resumed.calls)
    const maxSteps = turn.maxSteps ?? this.#options.maxSteps ?? DEFAULT_MAX_STEPS
    let isDone = resumed.finishReason !== undefined && !(await this.#listen())
    for (let stepIndex = resumed.nextStep; stepIndex < maxSteps && !isDone && !signal.aborted; stepIndex++) {
      await this.#listen()
      yield { type: 'step-start', stepIndex }
      let calls: readonly OrderedCall[]
      try {
        const result = yield* modelStep(await this.#model(turn), await this.#request(turn, signal))
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
      if (finishReason === 'error') break
      yield* this.#carryOut(calls)
      // Who was steered while giving the last answer has not heard it yet, and goes on.
      isDone = calls.length === 0 && (signal.aborted || !(await this.#listen()))
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
  async *#carryOut(calls: readonly OrderedCall[]): AsyncGenerator<AgentEvent> {
    const running = new Map(calls.map((call) => [call.toolCallId, this.#callTool(call)]))
    while (running.size > 0) {
      const { call, outcome } = await Promise.race(running.values())
      running.delete(call.toolCallId)
      yield resultEvent(call, outcome)
    }
  }

  async #listen(): Promise<boolean> {
    return (await this.#host.listen?.()) ?? false
  }

  /** What an earlier process left of this turn: calls without a result, or an answer that only lacks its finish. */
  async #whereItStood(turn: Turn): Promise<ResumePoint> {
    const messages: StoredMessage[] = []
    for await (const message of this.#host.history({ order: 'oldest' })) {
      if (message.turn === turn.turnId && message.role === 'assistant') messages.push(message)
    }
    const nextStep = Math.max(-1, ...messages.map((message) => message.step ?? -1)) + 1
    const calls = messages.flatMap(unansweredCalls)
    const last = messages.at(-1)
    const isAnswered = last?.error === undefined && last?.state === 'done' && !last.parts.some(isCall)
    return { nextStep, calls, finishReason: calls.length === 0 && isAnswered ? last?.finishReason : undefined }
  }

  async #callTool(call: OrderedCall): Promise<{ call: OrderedCall; outcome: ToolOutcome }> {
    if (call.isBroken === true) return { call, outcome: BROKEN_INPUT }
    try {
      if (this.#host.callTool === undefined) throw new Error('This agent was given no tools.')
      return { call, outcome: await this.#host.callTool(call) }
    } catch (error) {
      const data = toErrorData(error)
      return { call, outcome: { result: data.message, isError: true, error: data } }
    }
  }

  async #model(turn: Turn): Promise<LanguageModel> {
    const { model, resolveModel: resolve } = this.#options
    return resolveModel(turn.model ?? (await resolveDynamic(model, agentContext(turn))), resolve)
  }

  async #instructions(turn: Turn): Promise<string | undefined> {
    return turn.instructions ?? resolveDynamic(this.#options.instructions, agentContext(turn))
  }

  async #request(turn: Turn, signal: AbortSignal): Promise<LanguageModelV4CallOptions> {
    const messages: StoredMessage[] = []
    for await (const message of this.#host.history({ order: 'oldest' })) messages.push(message)
    const tools = this.#host.listTools?.() ?? []
    return {
      prompt: toPrompt(await this.#instructions(turn), messages),
      abortSignal: signal,
      ...(tools.length === 0 ? {} : { tools: tools.map(functionTool) }),
    }
  }
}

const BROKEN_INPUT: ToolOutcome = {
  result: 'The input was not a JSON object, so the tool was not run. Send the call again with valid input.',
  isError: true,
}

/** What the model is to see instead of the result is kept with it: the next request is made from the log. */
function resultEvent(call: OrderedCall, { modelOutput, ...outcome }: ToolOutcome): AgentEvent {
  return {
    type: 'tool-result',
    toolCallId: call.toolCallId,
    toolName: call.toolName,
    ...outcome,
    ...(modelOutput === undefined ? {} : { meta: { modelOutput } }),
  }
}

function isCall(part: Part): boolean {
  return part.type === 'tool-call'
}

function unansweredCalls(message: StoredMessage): OrderedCall[] {
  // A failed attempt was not an order: its calls were never to be carried out.
  if (message.error !== undefined) return []
  const answered = new Set(
    message.parts.flatMap((part) => (part.type === 'tool-result' && part.state !== 'open' ? [part.toolCallId] : [])),
  )
  return message.parts.flatMap((part) =>
    part.type === 'tool-call' && !answered.has(part.toolCallId)
      ? [
          {
            toolCallId: part.toolCallId,
            toolName: part.toolName,
            args: part.args,
            isBroken: part.meta?.invalidInput !== undefined,
          },
        ]
      : [],
  )
}

function functionTool(tool: HostTool): NonNullable<LanguageModelV4CallOptions['tools']>[number] {
  return {
    type: 'function',
    name: tool.name,
    inputSchema: tool.inputSchema,
    ...(tool.description === undefined ? {} : { description: tool.description }),
  }
}
