import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider'
import type { JsonObject } from '@inspan/protocol'
import { abortable, abortErrorOf, forever, pause } from './abort.ts'
import { newToolCallId } from './ids.ts'
import { apiError, connectionLost } from './model-errors.ts'
import { contentOf, finishReasonOf, streamPartsOf, usageOf } from './model-parts.ts'
import { playParts } from './model-stream.ts'
import { Playbook } from './playbook.ts'
import { factsOfModelCall } from './request-facts.ts'
import { streamErrorAsCallError } from './scripted-error.ts'
import type { Script, ModelTurn } from './script.ts'
import { planTurn } from './timeline.ts'
import { countRequestTokens, overflowError, withCountedUsage } from './window.ts'
import type { Plan } from './timeline.ts'

/** The call options of one model call as JSON: frozen, without the abort signal, binary data as base64. */
export type ModelRequest = JsonObject

export interface ScriptedModelOptions {
  /** Default: `scripted`. */
  readonly provider?: string
  /** Default: `scripted-model`. */
  readonly modelId?: string
  /**
   * The context window in tokens, a token being four bytes of the request. Longer requests are refused and use up no
   * turn; answers without a usage of their own report the count. Default: no limit.
   */
  readonly contextWindow?: number
}

export interface ScriptedModel extends LanguageModelV4 {
  /** The requests, one per call. */
  readonly requests: readonly ModelRequest[]
  /** The requests as JSON text, to compare them byte for byte. */
  readonly requestBodies: readonly string[]
  /** The number of calls so far. */
  readonly calls: number
  /** How many calls were refused because they did not fit the window. */
  readonly refused: number
  /** The number of turns that no call has reached yet. */
  readonly turnsLeft: number
}

/** Creates a model of the AI SDK that plays a script, one turn per call. Throws `InvalidScript` for a bad one. */
export function scriptedModel(script: Script<ModelRequest>, options: ScriptedModelOptions = {}): ScriptedModel {
  const provider = options.provider ?? 'scripted'
  const modelId = options.modelId ?? 'scripted-model'
  const playbook = new Playbook(script, { sideByDefault: false })
  const requests: ModelRequest[] = []
  const requestBodies: string[] = []
  const { contextWindow = Infinity } = options
  let refused = 0

  async function begin(
    call: LanguageModelV4CallOptions,
  ): Promise<{ turn: ModelTurn; plan: Plan; request: ModelRequest }> {
    const text = JSON.stringify({ ...call, abortSignal: undefined }, binaryAsBase64)
    const request = freezeDeep(JSON.parse(text) as ModelRequest)
    requestBodies.push(text)
    requests.push(request)
    if (call.abortSignal?.aborted === true) throw abortErrorOf(call.abortSignal)
    const tokens = countRequestTokens(text)
    if (tokens > contextWindow) {
      refused++
      throw apiError(overflowError('responses', tokens, contextWindow), request)
    }
    const chosen = playbook.take({ request, facts: factsOfModelCall(call, modelId), text, userAgent: '' })
    const made = await abortable(chosen.make(), call.abortSignal)
    const turn = contextWindow === Infinity ? made : withCountedUsage(made, tokens)
    if (turn.delayMs !== undefined) await pause(turn.delayMs, call.abortSignal)
    if (turn.error !== undefined) throw apiError(turn.error, request)
    const plan = planTurn(turn, newToolCallId)
    // With nothing to send before it hangs, the answer does not even begin.
    if (plan.ending.kind === 'hang' && plan.parts.length === 0) await forever(call.abortSignal)
    return { turn, plan, request }
  }

  return {
    specificationVersion: 'v4',
    provider,
    modelId,
    supportedUrls: {},
    requests,
    requestBodies,
    get calls() {
      return requests.length
    },
    get refused() {
      return refused
    },
    get turnsLeft() {
      return playbook.turnsLeft
    },
    async doStream(call): Promise<LanguageModelV4StreamResult> {
      const { turn, plan, request } = await begin(call)
      const stream = playParts(streamPartsOf(plan, provider), {
        signal: call.abortSignal,
        delayPerDeltaMs: turn.delayPerDeltaMs ?? 0,
        ending: plan.ending,
        request,
      })
      return { stream, ...(turn.headers !== undefined && { response: { headers: { ...turn.headers } } }) }
    },
    async doGenerate(call): Promise<LanguageModelV4GenerateResult> {
      const { turn, plan, request } = await begin(call)
      const deltas = plan.parts.reduce((sum, part) => sum + part.deltas.length, 0)
      if (turn.delayPerDeltaMs !== undefined) await pause(turn.delayPerDeltaMs * deltas, call.abortSignal)
      const { ending } = plan
      if (ending.kind === 'hang') await forever(call.abortSignal)
      if (ending.kind === 'error') throw apiError(streamErrorAsCallError(ending.error), request)
      if (ending.kind === 'cut') throw connectionLost(request)
      return {
        content: contentOf(plan, provider),
        finishReason: finishReasonOf(plan),
        usage: usageOf(plan),
        warnings: [],
        ...(turn.headers !== undefined && { response: { headers: { ...turn.headers } } }),
      }
    },
  }
}

function binaryAsBase64(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value
}

function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const item of Object.values(value)) freezeDeep(item)
  return Object.freeze(value)
}
