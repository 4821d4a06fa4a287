import type { JsonObject } from '@inspan/protocol'
import type {
  Deltas,
  ScriptedFinishReason,
  ScriptedMetadata,
  ScriptedPart,
  ScriptedStreamError,
  ScriptedToolCall,
  ModelTurn,
} from './script.ts'

/** A part of the answer, independent of the format. */
export type PlannedPart = PlannedText | PlannedReasoning | PlannedToolCall | PlannedRaw

interface Planned {
  /** Its position in the answer, from 0. */
  readonly index: number
  readonly deltas: readonly string[]
  /** All deltas joined. */
  readonly whole: string
  readonly providerMetadata: ScriptedMetadata | undefined
}

interface PlannedText extends Planned {
  readonly kind: 'text'
  readonly phase: string | undefined
}

interface PlannedReasoning extends Planned {
  readonly kind: 'reasoning'
  readonly signature: string | undefined
}

export interface PlannedToolCall extends Planned {
  readonly kind: 'tool'
  readonly id: string
  readonly call: ScriptedToolCall
}

interface PlannedRaw extends Planned {
  readonly kind: 'raw'
  readonly raw: JsonObject & { readonly type?: string }
}

export interface Step {
  readonly at: 'open' | 'delta' | 'close'
  readonly part: PlannedPart
  readonly delta: string
}

export interface PlannedUsage {
  readonly input: number
  readonly cached: number
  readonly cacheWrite: number
  readonly output: number
  readonly reasoning: number
}

export type Ending =
  | { readonly kind: 'finish' }
  | { readonly kind: 'hang' }
  | { readonly kind: 'cut'; readonly how: 'default' | 'end' | 'reset' }
  | { readonly kind: 'error'; readonly error: ScriptedStreamError }

export interface Plan {
  readonly parts: readonly PlannedPart[]
  readonly usage: PlannedUsage
  readonly finishReason: ScriptedFinishReason
  readonly stopReason: string | undefined
  readonly ending: Ending
  readonly interleave: boolean
  /** How many deltas are sent before the ending; undefined: all, and every part is closed. */
  readonly stopAfter: number | undefined
}

/** The parts of a turn in the order in which they are sent. */
export function partsOf(turn: ModelTurn): readonly ScriptedPart[] {
  if (turn.parts !== undefined) return turn.parts
  const parts: ScriptedPart[] = []
  if (turn.reasoning !== undefined) {
    parts.push({
      reasoning: turn.reasoning,
      ...(turn.signature !== undefined && { signature: turn.signature }),
    })
  }
  if (turn.text !== undefined) parts.push({ text: turn.text })
  for (const toolCall of turn.toolCalls ?? []) parts.push({ toolCall })
  return parts
}

export function partDeltas(part: ScriptedPart): readonly string[] {
  if ('text' in part) return list(part.text)
  if ('reasoning' in part) return list(part.reasoning)
  if ('raw' in part) return []
  const { input, inputDeltas } = part.toolCall
  if (typeof inputDeltas === 'object') return inputDeltas
  if (typeof input === 'string') return pieces(input, inputDeltas ?? 1)
  if (input === undefined && part.toolCall.custom === true) return []
  return pieces(JSON.stringify(input ?? {}), inputDeltas ?? 1)
}

export function planTurn(turn: ModelTurn, newToolCallId: () => string): Plan {
  const parts = partsOf(turn).map((part, index) => planPart(part, index, newToolCallId))
  const clientRuns = parts.some((part) => part.kind === 'tool' && part.call.providerExecuted !== true)
  const ending = endingOf(turn)
  const deltas = parts.reduce((sum, part) => sum + part.deltas.length, 0)
  return {
    parts,
    usage: {
      input: turn.usage?.inputTokens ?? 0,
      cached: turn.usage?.cachedInputTokens ?? 0,
      cacheWrite: turn.usage?.cacheWriteInputTokens ?? 0,
      output: turn.usage?.outputTokens ?? 0,
      reasoning: turn.usage?.reasoningTokens ?? 0,
    },
    finishReason: turn.finishReason ?? (clientRuns ? 'tool-calls' : 'stop'),
    stopReason: turn.stopReason,
    ending,
    interleave: turn.interleave === true,
    stopAfter: ending.kind === 'finish' ? undefined : (turn.cutAfter ?? deltas),
  }
}

/** Yields the steps of an answer in order. An answer that does not finish stops right after its last delta. */
export function* stepsOf(plan: Plan): Generator<Step, void, undefined> {
  let left = plan.stopAfter ?? Number.POSITIVE_INFINITY
  for (const step of plan.interleave ? interleaved(plan.parts) : inOrder(plan.parts)) {
    if (step.at === 'delta') {
      if (left === 0) return
      left -= 1
    } else if (left === 0 && step.at === 'close') return
    yield step
  }
}

function* inOrder(parts: readonly PlannedPart[]): Generator<Step, void, undefined> {
  for (const part of parts) {
    yield { at: 'open', part, delta: '' }
    for (const delta of part.deltas) yield { at: 'delta', part, delta }
    yield { at: 'close', part, delta: '' }
  }
}

function* interleaved(parts: readonly PlannedPart[]): Generator<Step, void, undefined> {
  for (const part of parts) yield { at: 'open', part, delta: '' }
  const rounds = Math.max(0, ...parts.map((part) => part.deltas.length))
  for (let round = 0; round < rounds; round += 1) {
    for (const part of parts) {
      const delta = part.deltas[round]
      if (delta !== undefined) yield { at: 'delta', part, delta }
    }
  }
  for (const part of parts) yield { at: 'close', part, delta: '' }
}

function planPart(part: ScriptedPart, index: number, newToolCallId: () => string): PlannedPart {
  const deltas = partDeltas(part)
  const planned = { index, deltas, whole: deltas.join('') }
  if ('text' in part) return { kind: 'text', ...planned, phase: part.phase, providerMetadata: part.providerMetadata }
  if ('reasoning' in part) {
    return { kind: 'reasoning', ...planned, signature: part.signature, providerMetadata: part.providerMetadata }
  }
  if ('raw' in part) return { kind: 'raw', ...planned, raw: part.raw, providerMetadata: undefined }
  const call = part.toolCall
  return { kind: 'tool', ...planned, id: call.id ?? newToolCallId(), call, providerMetadata: call.providerMetadata }
}

function endingOf(turn: ModelTurn): Ending {
  if (turn.hang === true) return { kind: 'hang' }
  if (turn.streamError !== undefined) return { kind: 'error', error: turn.streamError }
  if (turn.cut === undefined && turn.cutAfter === undefined) return { kind: 'finish' }
  return { kind: 'cut', how: turn.cut === 'end' || turn.cut === 'reset' ? turn.cut : 'default' }
}

function list(deltas: Deltas): readonly string[] {
  if (typeof deltas !== 'string') return deltas
  return deltas === '' ? [] : [deltas]
}

/** Splits a text into so many pieces of nearly equal length, or fewer when the text has fewer characters. */
function pieces(text: string, count: number): readonly string[] {
  const number = Math.min(count, text.length)
  const edge = (index: number): number => Math.floor((index * text.length) / number)
  return Array.from({ length: number }, (_, index) => text.slice(edge(index), edge(index + 1)))
}
