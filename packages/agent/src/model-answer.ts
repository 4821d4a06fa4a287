import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { AgentEvent, EventMeta, FinishReason, JsonObject, ToolCallInfo, UsageMetadata } from '@inspan/protocol'
import type { CallIds } from './call-ids.ts'
import { finishReasonOf, usageOf } from './language-model.ts'
import { fileEvent } from './made-files.ts'
import { failureOf, type ModelFailure } from './model-failure.ts'
import { PartProofs } from './part-proofs.ts'
import { RepeatedCalls } from './repeated-calls.ts'
import { Sources } from './sources.ts'
import { toJson } from './to-json.ts'

/** How one model call ended. */
export interface StepResult {
  readonly finishReason: FinishReason
  readonly usage: UsageMetadata
  /** The calls that we carry out, not the provider. */
  readonly calls: readonly OrderedCall[]
  /** Whether something was shown, so that the attempt cannot be repeated without a trace. */
  readonly hasContent: boolean
  readonly text: string
  /** Types of received parts that no record can hold. */
  readonly unkept: readonly string[]
  /** Set if the answer is incomplete. */
  readonly failure: ModelFailure | undefined
}

export interface OrderedCall extends ToolCallInfo {
  /** Set if the input is not a JSON object: the call is not carried out, and the model gets the reason. */
  readonly isBroken?: boolean
}

/** Turns the parts of one model call into agent events and collects the result. */
export class ModelAnswer {
  readonly #ids: CallIds
  readonly #now: () => number
  /** The next event, apart from `#more`: nearly every part is one event, and would need a new list each. */
  #next: AgentEvent | undefined
  readonly #more: AgentEvent[] = []
  readonly #toolNames = new Map<string, string>()
  readonly #calls: OrderedCall[] = []
  readonly #repeated = new RepeatedCalls()
  readonly #proofs = new PartProofs()
  readonly #sources = new Sources()
  readonly #unkept = new Set<string>()
  #finishReason: FinishReason | undefined
  #failure: ModelFailure | undefined
  #usage: UsageMetadata = {}
  #hasContent = false
  #text = ''

  constructor(ids: CallIds, now: () => number) {
    this.#ids = ids
    this.#now = now
  }

  /** Returns the next pending event. */
  nextEvent(): AgentEvent | undefined {
    const event = this.#next
    if (event !== undefined) this.#next = this.#more.length === 0 ? undefined : this.#more.shift()
    return event
  }

  take(part: LanguageModelV4StreamPart): void {
    if (part.type !== 'source') this.#releaseText()
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        this.#proofs.begin(part.type === 'text-start' ? 'text' : 'reasoning', part.id, part.providerMetadata)
        break
      case 'text-delta':
        if (part.providerMetadata !== undefined) this.#proofs.add('text', part.id, part.providerMetadata)
        // Some models begin with an empty delta, which shows nothing.
        if (part.delta !== '') this.#hasContent = true
        this.#text += part.delta
        this.#say({ type: 'text-delta', partId: part.id, text: part.delta })
        break
      case 'reasoning-delta':
        if (part.providerMetadata !== undefined) this.#proofs.add('reasoning', part.id, part.providerMetadata)
        if (part.delta !== '') this.#hasContent = true
        this.#say({ type: 'reasoning-delta', partId: part.id, text: part.delta })
        break
      case 'text-end':
        this.#sources.hold({
          type: 'text-delta',
          partId: part.id,
          text: '',
          meta: this.#proofs.end('text', part.id, part.providerMetadata),
        })
        break
      case 'reasoning-end':
        // Hidden reasoning may have to be sent back: its proof is all there is of it.
        this.#show({
          type: 'reasoning-delta',
          partId: part.id,
          text: '',
          meta: this.#proofs.end('reasoning', part.id, part.providerMetadata),
        })
        break
      case 'tool-input-start':
        this.#toolNames.set(part.id, part.toolName)
        break
      case 'tool-input-delta':
        this.#hasContent = true
        if (!this.#repeated.holdBack(part.id, part.delta))
          this.#show(inputDelta(this.#ids.open(part.id), this.#toolNames.get(part.id), part.delta))
        break
      case 'tool-call':
        this.#takeCall(part)
        break
      case 'tool-result':
        // Preliminary results are replaced later: a call has one result.
        if (part.preliminary !== true) this.#say(providerResult(part, this.#ids.taken(part.toolCallId)))
        break
      case 'file':
      case 'reasoning-file': {
        const file = fileEvent(part)
        if (file === undefined) this.#unkept.add(part.type)
        else this.#show(file)
        break
      }
      case 'source':
        this.#sources.name(part)
        break
      case 'tool-approval-request':
        this.#unkept.add(part.type)
        break
      case 'error':
        this.#failure ??= failureOf(part.error, this.#now())
        break
      case 'finish':
        if (this.#finishReason !== undefined) break
        this.#finishReason = finishReasonOf(part.finishReason)
        this.#usage = usageOf(part.usage, part.providerMetadata)
        break
    }
  }

  /** Called at the end of the stream. Without a finish the stream was cut: what came is kept, but is no answer. */
  end(cut: ModelFailure): void {
    if (this.#finishReason === undefined || this.#finishReason === 'error') this.#failure ??= cut
    this.#releaseText()
    if (!this.#sources.isEmpty) this.#unkept.add('source')
  }

  /** Called when the stream fails. */
  fail(failure: ModelFailure): void {
    this.#failure = failure
    this.end(failure)
  }

  get result(): StepResult {
    const failure = this.#failure
    return {
      finishReason: failure === undefined ? (this.#finishReason ?? 'other') : 'error',
      usage: this.#usage,
      calls: failure === undefined ? this.#calls : [],
      hasContent: this.#hasContent,
      text: this.#text,
      unkept: [...this.#unkept],
      failure,
    }
  }

  #show(event: AgentEvent): void {
    this.#hasContent = true
    this.#say(event)
  }

  #say(event: AgentEvent): void {
    if (this.#next === undefined) this.#next = event
    else this.#more.push(event)
  }

  #releaseText(): void {
    const ended = this.#sources.release()
    if (ended !== undefined) this.#say(ended)
  }

  #takeCall(part: ModelToolCall): void {
    this.#hasContent = true
    const heldBack = this.#repeated.release(part.toolCallId)
    if (this.#repeated.isRepeated(part)) return
    if (heldBack !== undefined) this.#show(inputDelta(this.#ids.open(part.toolCallId), part.toolName, heldBack))
    const call = callEvent(part, this.#ids.take(part.toolCallId))
    if (part.providerExecuted !== true) this.#calls.push({ ...call, isBroken: call.meta?.invalidInput !== undefined })
    this.#show(call)
  }
}

type ModelToolCall = Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>

function providerResult(
  part: Extract<LanguageModelV4StreamPart, { type: 'tool-result' }>,
  toolCallId: string,
): AgentEvent {
  return {
    type: 'tool-result',
    toolCallId,
    toolName: part.toolName,
    result: toJson(part.result).value,
    ...(part.isError === undefined ? {} : { isError: part.isError }),
    meta: {
      providerExecuted: true,
      ...(part.providerMetadata === undefined ? {} : { provider: part.providerMetadata as JsonObject }),
    },
  }
}

function inputDelta(toolCallId: string, toolName: string | undefined, argsTextDelta: string): AgentEvent {
  return { type: 'tool-call-delta', toolCallId, argsTextDelta, ...(toolName === undefined ? {} : { toolName }) }
}

/** Returns the event of a call. If the input is not a JSON object, its text is kept for the model to see. */
function callEvent(part: ModelToolCall, toolCallId: string): Extract<AgentEvent, { type: 'tool-call' }> {
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
  // Models send an empty input for a tool without parameters.
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}
