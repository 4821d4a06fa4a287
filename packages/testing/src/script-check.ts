import {
  aBoolean,
  aCount,
  aDuration,
  aFunction,
  anObject,
  aString,
  either,
  fail,
  isRecord,
  jsonValue,
  listOf,
  oneOf,
  recordOf,
  shape,
} from './checks.ts'
import type { Check } from './checks.ts'
import type { Script, ScriptObject, ScriptedToolCall, ModelTurn } from './script.ts'
import { partsOf, partDeltas } from './timeline.ts'

const deltas = either([aString, listOf(aString)], 'a string or an array of strings')
const metadata = recordOf(anObject)

const toolCallShape = shape(
  {
    id: aString,
    name: aString,
    input: (value, path) => {
      if (typeof value === 'string') return
      if (isRecord(value)) jsonValue(value, path)
      else fail(path, 'must be an object or a string')
    },
    inputDeltas: either([aCount, listOf(aString)], 'a number of pieces or an array of strings'),
    custom: aBoolean,
    namespace: aString,
    providerExecuted: aBoolean,
    result: jsonValue,
    isError: aBoolean,
    providerMetadata: metadata,
  },
  ['name'],
)

const toolCall: Check = (value, path) => {
  toolCallShape(value, path)
  const call = value as ScriptedToolCall
  if (call.custom === true && isRecord(call.input)) fail(`${path}.input`, 'of a custom tool must be a string')
  if (call.inputDeltas === 0) fail(`${path}.inputDeltas`, 'must be at least 1')
  if (Array.isArray(call.inputDeltas) && call.input !== undefined) {
    const whole = typeof call.input === 'string' ? call.input : JSON.stringify(call.input)
    if (call.inputDeltas.join('') !== whole) {
      fail(`${path}.inputDeltas`, `joined must give the input, ${whole}. Leave "input" out to send just these pieces`)
    }
  }
  if (call.result !== undefined && call.providerExecuted !== true) {
    fail(`${path}.result`, 'belongs to a tool that the provider runs: set "providerExecuted": true')
  }
}

const part: Check = (value, path) => {
  if (!isRecord(value)) return fail(path, 'must be an object')
  if ('text' in value) return shape({ text: deltas, phase: aString, providerMetadata: metadata })(value, path)
  if ('reasoning' in value) {
    return shape({ reasoning: deltas, signature: aString, providerMetadata: metadata })(value, path)
  }
  if ('toolCall' in value) return shape({ toolCall })(value, path)
  if ('raw' in value) return shape({ raw: anObject })(value, path)
  fail(path, 'must have "text", "reasoning", "toolCall" or "raw"')
}

const usageShape = shape({
  inputTokens: aCount,
  outputTokens: aCount,
  cachedInputTokens: aCount,
  cacheWriteInputTokens: aCount,
  reasoningTokens: aCount,
})

const usage: Check = (value, path) => {
  usageShape(value, path)
  const given = value as NonNullable<ModelTurn['usage']>
  if ((given.cachedInputTokens ?? 0) + (given.cacheWriteInputTokens ?? 0) > (given.inputTokens ?? 0)) {
    fail(`${path}.inputTokens`, 'is the total: it must include cachedInputTokens and cacheWriteInputTokens')
  }
  if ((given.reasoningTokens ?? 0) > (given.outputTokens ?? 0)) {
    fail(`${path}.outputTokens`, 'is the total: it must include reasoningTokens')
  }
}

const status: Check = (value, path) => {
  if (!Number.isInteger(value) || Number(value) < 400 || Number(value) > 599) {
    fail(path, 'must be an HTTP error status, 400 to 599')
  }
}

const turnShape = shape({
  text: deltas,
  reasoning: deltas,
  signature: aString,
  toolCalls: listOf(toolCall),
  parts: listOf(part),
  interleave: aBoolean,
  usage,
  finishReason: oneOf('stop', 'length', 'content-filter', 'tool-calls', 'error', 'other'),
  stopReason: aString,
  headers: recordOf(aString),
  error: shape({
    status,
    message: aString,
    type: aString,
    code: aString,
    body: jsonValue,
    headers: recordOf(aString),
    retryAfterMs: aDuration,
    retryable: aBoolean,
  }),
  streamError: shape({
    message: aString,
    type: aString,
    code: either([aString, aCount], 'a string or a number'),
    status,
    retryable: aBoolean,
  }),
  cut: oneOf(true, 'end', 'reset'),
  cutAfter: aCount,
  hang: oneOf(true),
  delayMs: aDuration,
  delayPerDeltaMs: aDuration,
  repeat: either([oneOf(true), aCount], 'true or a number'),
})

/** Throws `InvalidScript` unless the value is a turn that can be played. */
export function checkTurn(value: unknown, path: string): asserts value is ModelTurn {
  turnShape(value, path)
  const turn = value as ModelTurn
  excludes(turn, path, 'parts', ['text', 'reasoning', 'signature', 'toolCalls'])
  excludes(turn, path, 'error', ['text', 'reasoning', 'toolCalls', 'parts', 'streamError', 'cut', 'cutAfter', 'hang'])
  excludes(turn, path, 'streamError', ['cut', 'cutAfter', 'hang'])
  excludes(turn, path, 'hang', ['cut', 'cutAfter'])
  if (turn.signature !== undefined && turn.reasoning === undefined) fail(`${path}.signature`, 'needs "reasoning"')
  if (turn.repeat === 0) fail(`${path}.repeat`, 'must be at least 1')
  if (turn.cutAfter !== undefined) {
    const count = partsOf(turn).reduce((sum, part) => sum + partDeltas(part).length, 0)
    if (turn.cutAfter > count) fail(`${path}.cutAfter`, `is ${turn.cutAfter}, but the turn has ${count} deltas`)
  }
}

const turnOrFunction: Check = (value, path) => {
  if (typeof value !== 'function') checkTurn(value, path)
}

const turnList = listOf(turnOrFunction)

const matcher: Check = (value, path) => {
  if (typeof value === 'string' && value !== '') return
  if (!(value instanceof RegExp) && typeof value !== 'function') fail(path, 'must be a text, a RegExp or a function')
}

const scriptShape = shape({
  turns: turnList,
  routes: listOf(
    shape(
      {
        match: matcher,
        where: oneOf('system', 'opening', 'model', 'anywhere'),
        turns: turnList,
        name: aString,
      },
      ['match', 'turns'],
    ),
  ),
  side: turnOrFunction,
  isSide: either([oneOf(false), aFunction], 'false or a function'),
})

/** Throws `InvalidScript` unless the script can be played; returns it in its long form. */
export function checkScript<Request>(script: Script<Request>): ScriptObject<Request> {
  if (isTurnList(script)) {
    turnList(script, 'turns')
    return { turns: script }
  }
  scriptShape(script, 'script')
  return script
}

function isTurnList<Request>(script: Script<Request>): script is Exclude<Script<Request>, ScriptObject<Request>> {
  return Array.isArray(script)
}

function excludes(turn: ModelTurn, path: string, key: keyof ModelTurn, others: readonly (keyof ModelTurn)[]): void {
  if (turn[key] === undefined) return
  for (const other of others) {
    if (turn[other] !== undefined) {
      const hint = key === 'error' ? '. For an error after some of the answer, use "streamError"' : ''
      fail(`${path}.${other}`, `cannot be combined with "${key}"${hint}`)
    }
  }
}
