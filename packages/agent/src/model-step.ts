import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import {
  unlessAborted,
  type AgentEvent,
  type EventMeta,
  type FinishReason,
  type JsonObject,
  type ToolCallInfo,
  type UsageMetadata,
} from '@evener/protocol'
import { finishReasonOf, usageOf, type LanguageModel } from './language-model.ts'
import { fileEvent } from './made-files.ts'
import { failureOf, silentFor, STREAM_CUT, type ModelFailure } from './model-failure.ts'
import { Patience } from './patience.ts'
import { Sources } from './sources.ts'
import { toJson } from './to-json.ts'

/** How one model call ended. */
export interface StepResult {
  readonly finishReason: FinishReason
  readonly usage: UsageMetadata
  /** Calls that are ours to carry out. */
  readonly calls: readonly OrderedCall[]
  /** Something was shown: the attempt cannot be made as if it had never been. */
  readonly hasContent: boolean
  readonly text: string
  /** Parts that there is no place for on record: of which type, and where they are. */
  readonly unkept: readonly string[]
  /** The answer is not whole. */
  readonly failure: ModelFailure | undefined
}

export interface OrderedCall extends ToolCallInfo {
  /** The input was no JSON object: the call cannot be carried out, and the model is told so. */
  readonly isBroken?: boolean
}

export interface StepPorts {
  readonly ids: CallIds
  readonly now: () => number
  /** Of the turn. */
  readonly signal: AbortSignal
  /** How long nothing may come of the model. */
  readonly silentMs: number
}

/** One model call as agent events, without the step's start and finish. Never throws: a failure is a result. */
export async function* modelStep(
  model: LanguageModel,
  options: LanguageModelV4CallOptions,
  { ids, now, signal, silentMs }: StepPorts,
): AsyncGenerator<AgentEvent, StepResult> {
  const toolNames = new Map<string, string>()
  const calls: OrderedCall[] = []
  const repeats = new Repeats()
  let finishReason: FinishReason | undefined
  let failure: ModelFailure | undefined
  let usage: UsageMetadata = {}
  let hasContent = false
  let text = ''
  const unkept = new Set<string>()
  const proofs = new Proofs()
  const sources = new Sources()
  ids.nextStep()
  const patience = new Patience(signal, silentMs)
  let letGo: (() => void) | undefined
  try {
    // The specifications differ in what they leave out, not in what is read here.
    const reader = (await streamOf(model as LanguageModelV4, options, patience.signal)).getReader()
    // A model that does not listen to its signal goes on by itself: for us its stream ends here.
    letGo = (): void => void reader.cancel(patience.signal.reason).catch(() => undefined)
    if (patience.signal.aborted) letGo()
    else patience.signal.addEventListener('abort', letGo, { once: true })
    for (;;) {
      patience.begin()
      const read = await reader.read()
      patience.pause()
      if (read.done) break
      const part = read.value
      const ended = part.type === 'source' ? undefined : sources.release()
      if (ended !== undefined) yield ended
      switch (part.type) {
        case 'text-start':
        case 'reasoning-start':
          proofs.begin(part.type === 'text-start' ? 'text' : 'reasoning', part.id, part.providerMetadata)
          break
        case 'text-delta':
          if (part.providerMetadata !== undefined) proofs.add('text', part.id, part.providerMetadata)
          // Some begin with an empty piece: nobody has seen anything of that.
          if (part.delta !== '') hasContent = true
          text += part.delta
          yield { type: 'text-delta', partId: part.id, text: part.delta }
          break
        case 'reasoning-delta':
          if (part.providerMetadata !== undefined) proofs.add('reasoning', part.id, part.providerMetadata)
          if (part.delta !== '') hasContent = true
          yield { type: 'reasoning-delta', partId: part.id, text: part.delta }
          break
        case 'text-end':
          sources.hold({
            type: 'text-delta',
            partId: part.id,
            text: '',
            meta: proofs.end('text', part.id, part.providerMetadata),
          })
          break
        case 'reasoning-end':
          // Reasoning that is not shown may still have to go back: its proof is all there is of it.
          hasContent = true
          yield {
            type: 'reasoning-delta',
            partId: part.id,
            text: '',
            meta: proofs.end('reasoning', part.id, part.providerMetadata),
          }
          break
        case 'tool-input-start':
          toolNames.set(part.id, part.toolName)
          break
        case 'tool-input-delta':
          hasContent = true
          if (!repeats.holdBack(part.id, part.delta))
            yield inputDelta(ids.open(part.id), toolNames.get(part.id), part.delta)
          break
        case 'tool-call': {
          hasContent = true
          const heldBack = repeats.release(part.toolCallId)
          if (repeats.isRepeated(part)) break
          if (heldBack !== undefined) yield inputDelta(ids.open(part.toolCallId), part.toolName, heldBack)
          const call = callEvent(part, ids.take(part.toolCallId))
          if (part.providerExecuted !== true) calls.push({ ...call, isBroken: call.meta?.invalidInput !== undefined })
          yield call
          break
        }
        case 'tool-result':
          // What another one is going to replace: a call has one result.
          if (part.preliminary === true) break
          yield providerResult(part, ids.taken(part.toolCallId))
          break
        case 'file':
        case 'reasoning-file': {
          const file = fileEvent(part)
          if (file === undefined) {
            unkept.add(part.type)
            break
          }
          hasContent = true
          yield file
          break
        }
        case 'source':
          sources.name(part)
          break
        case 'tool-approval-request':
          unkept.add(part.type)
          break
        case 'error':
          failure ??= failureOf(part.error, now())
          break
        case 'finish':
          if (finishReason !== undefined) break
          finishReason = finishReasonOf(part.finishReason)
          usage = usageOf(part.usage, part.providerMetadata)
          break
      }
    }
    // No finish: the connection was cut. What came is kept, but it is not an answer.
    if (finishReason === undefined || finishReason === 'error')
      failure ??= patience.isOver ? silentFor(silentMs) : STREAM_CUT
  } catch (error) {
    failure = patience.isOver ? silentFor(silentMs) : failureOf(error, now())
  } finally {
    patience.end()
    letGo?.()
  }
  const ended = sources.release()
  if (ended !== undefined) yield ended
  if (!sources.isEmpty) unkept.add('source')
  return {
    finishReason: failure === undefined ? (finishReason ?? 'other') : 'error',
    usage,
    calls: failure === undefined ? calls : [],
    hasContent,
    text,
    unkept: [...unkept],
    failure,
  }
}

/** A model that begins to speak when nobody waits for it any more is let go of. */
async function streamOf(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  abortSignal: AbortSignal,
): Promise<ReadableStream<LanguageModelV4StreamPart>> {
  const asked = model.doStream({ ...options, abortSignal })
  try {
    return (await unlessAborted(abortSignal, asked)).stream
  } catch (error) {
    if (abortSignal.aborted)
      Promise.resolve(asked)
        .then(({ stream }) => stream.cancel(), ignore)
        .catch(ignore)
    throw error
  }
}

function ignore(): void {}

/**
 * Ids are the model's to give; one that is empty or was given before in the turn gets another, so that results find
 * their call.
 */
export class CallIds {
  readonly #open = new Map<string, string>()
  readonly #used: Set<string>
  readonly #ofStep = new Map<string, string>()

  constructor(used: Iterable<string> = []) {
    this.#used = new Set(used)
  }

  nextStep(): void {
    this.#open.clear()
    this.#ofStep.clear()
  }

  /** The id of a call whose input is coming in. */
  open(given: string): string {
    const known = this.#open.get(given)
    if (known !== undefined) return known
    const id = given === '' || this.#used.has(given) ? `call_${crypto.randomUUID()}` : given
    this.#used.add(id)
    this.#open.set(given, id)
    return id
  }

  take(given: string): string {
    const id = this.open(given)
    this.#open.delete(given)
    this.#ofStep.set(given, id)
    return id
  }

  /** The id under which a call of this step goes. */
  taken(given: string): string {
    return this.#ofStep.get(given) ?? given
  }
}

/** Some models send a call twice. Input under an id that was called with is shown when it is known to be another call. */
class Repeats {
  readonly #ids = new Set<string>()
  readonly #orders = new Set<string>()
  readonly #heldBack = new Map<string, string>()

  holdBack(id: string, delta: string): boolean {
    if (!this.#ids.has(id)) return false
    this.#heldBack.set(id, (this.#heldBack.get(id) ?? '') + delta)
    return true
  }

  release(id: string): string | undefined {
    const text = this.#heldBack.get(id)
    this.#heldBack.delete(id)
    return text
  }

  isRepeated(part: Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>): boolean {
    const { input, providerExecuted = false, toolCallId, toolName } = part
    const order = JSON.stringify([toolCallId, toolName, input, providerExecuted])
    // Without an id nothing says that two calls are one.
    if (toolCallId === '') return false
    if (this.#orders.has(order)) return true
    this.#ids.add(toolCallId)
    this.#orders.add(order)
    return false
  }
}

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

type Spoken = 'text' | 'reasoning'

/**
 * What a provider wants to have back with a part: a signature, an id. It may come with its start, its end or anything in
 * between, and the last that came counts.
 */
class Proofs {
  readonly #given = new Map<string, unknown>()

  begin(kind: Spoken, id: string, provider: unknown): void {
    this.#given.delete(`${kind} ${id}`)
    this.add(kind, id, provider)
  }

  add(kind: Spoken, id: string, provider: unknown): void {
    if (provider !== undefined) this.#given.set(`${kind} ${id}`, provider)
  }

  end(kind: Spoken, id: string, provider: unknown): EventMeta {
    const last = provider ?? this.#given.get(`${kind} ${id}`)
    this.#given.delete(`${kind} ${id}`)
    return last === undefined ? { end: true } : { end: true, provider: last as JsonObject }
  }
}
