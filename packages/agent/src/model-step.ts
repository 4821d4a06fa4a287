import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import {
  toErrorData,
  type AgentEvent,
  type EventMeta,
  type FinishReason,
  type JsonObject,
  type ToolCallInfo,
  type UsageMetadata,
} from '@evener/protocol'
import { finishReasonOf, usageOf, type LanguageModel } from './language-model.ts'

/** How one model call ended. */
export interface StepResult {
  readonly finishReason: FinishReason
  readonly usage: UsageMetadata
  /** Calls that are ours to carry out. */
  readonly calls: readonly OrderedCall[]
}

export interface OrderedCall extends ToolCallInfo {
  /** The input was no JSON object: the call cannot be carried out, and the model is told so. */
  readonly isBroken?: boolean
}

/** One model call as agent events, without the step's start and finish. */
export async function* modelStep(
  model: LanguageModel,
  options: LanguageModelV4CallOptions,
): AsyncGenerator<AgentEvent, StepResult> {
  // The specifications differ in what they leave out, not in what is read here.
  const { stream } = await (model as LanguageModelV4).doStream(options)
  const toolNames = new Map<string, string>()
  const ids = new CallIds()
  const calls: OrderedCall[] = []
  let finishReason: FinishReason | undefined
  let usage: UsageMetadata = {}
  for await (const part of stream) {
    switch (part.type) {
      case 'text-delta':
        yield { type: 'text-delta', partId: part.id, text: part.delta }
        break
      case 'reasoning-delta':
        yield { type: 'reasoning-delta', partId: part.id, text: part.delta }
        break
      case 'text-end':
        yield { type: 'text-delta', partId: part.id, text: '', meta: endOf(part.providerMetadata) }
        break
      case 'reasoning-end':
        yield { type: 'reasoning-delta', partId: part.id, text: '', meta: endOf(part.providerMetadata) }
        break
      case 'tool-input-start':
        toolNames.set(part.id, part.toolName)
        break
      case 'tool-input-delta':
        yield inputDelta(ids.open(part.id), toolNames.get(part.id), part.delta)
        break
      case 'tool-call': {
        const call = callEvent(part, ids.take(part.toolCallId))
        if (part.providerExecuted !== true) calls.push({ ...call, isBroken: call.meta?.invalidInput !== undefined })
        yield call
        break
      }
      case 'tool-result':
        yield {
          type: 'tool-result',
          toolCallId: part.toolCallId,
          toolName: part.toolName,
          result: part.result as JsonObject,
          ...(part.isError === undefined ? {} : { isError: part.isError }),
        }
        break
      case 'error':
        yield { type: 'error', error: toErrorData(part.error) }
        finishReason = 'error'
        break
      case 'finish':
        finishReason ??= finishReasonOf(part.finishReason)
        usage = usageOf(part.usage)
        break
    }
  }
  if (finishReason === undefined) {
    // No finish: the connection was cut. What came is kept, but it is not an answer.
    yield {
      type: 'error',
      code: 'stream-cut',
      error: { name: 'StreamCut', message: 'The model stopped in mid-answer.' },
    }
  }
  return { finishReason: finishReason ?? 'error', usage, calls }
}

/** Ids are the model's to give; one that is empty or was given before gets another, so that results find their call. */
class CallIds {
  readonly #open = new Map<string, string>()
  readonly #taken = new Set<string>()

  /** The id of a call whose input is coming in. */
  open(given: string): string {
    const id = this.#open.get(given) ?? (given === '' || this.#taken.has(given) ? `call_${crypto.randomUUID()}` : given)
    this.#open.set(given, id)
    return id
  }

  take(given: string): string {
    const id = this.open(given)
    this.#open.delete(given)
    this.#taken.add(given)
    return id
  }
}

function inputDelta(toolCallId: string, toolName: string | undefined, argsTextDelta: string): AgentEvent {
  return { type: 'tool-call-delta', toolCallId, argsTextDelta, ...(toolName === undefined ? {} : { toolName }) }
}

/** Arguments that are no JSON object cannot be carried out, but what the model wrote is kept for it to see. */
function callEvent(
  part: Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>,
  toolCallId: string,
): Extract<AgentEvent, { type: 'tool-call' }> {
  const args = parseObject(part.input)
  const meta: EventMeta = {
    ...(args === undefined ? { invalidInput: part.input } : {}),
    ...(part.providerMetadata === undefined ? {} : { provider: part.providerMetadata as JsonObject }),
    ...(part.providerExecuted === true ? { providerExecuted: true } : {}),
  }
  return {
    type: 'tool-call',
    toolCallId,
    toolName: part.toolName,
    args: args ?? {},
    ...(Object.keys(meta).length === 0 ? {} : { meta }),
  }
}

function parseObject(text: string): JsonObject | undefined {
  // Models leave the input empty for a tool without parameters.
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}

function endOf(provider: unknown): EventMeta {
  return provider === undefined ? { end: true } : { end: true, provider: provider as JsonObject }
}
