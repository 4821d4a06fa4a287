import type { FinishReason, JsonObject, JsonValue, NativeRef } from '@inspan/protocol'
import { asObject, asText, firstText, NO_FIELDS, textList } from '../kit/fields.ts'
import type { Run } from '../kit/mapper.ts'
import type { UsageNumbers } from '../kit/usage-meter.ts'

/**
 * Reads the record that ends a turn. A process that takes several messages, or is woken by a background task, prints
 * one for each turn.
 */
export function readResult(record: JsonObject, run: Run, turn: ResultContext): void {
  readUsage(record, run, turn.hadSubagents)
  if (hasFailed(record)) {
    run.closeCalls()
    run.fail(failureMessage(record), failureCode(record))
  } else run.consume('result')
  const { native } = turn
  const output = record['structured_output']
  // With a schema the answer is the input of a tool, so the model stops for a call.
  const reason = output === undefined ? finishReason(record['stop_reason']) : 'stop'
  run.turnEnd({ finishReason: reason, native, output })
}

/** An API failure has subtype `success` and the flag. Versions without the flag for limits name them in the subtype. */
export function hasFailed(record: JsonObject): boolean {
  return record['is_error'] === true || asText(record['subtype'])?.startsWith('error') === true
}

export interface ResultContext {
  /** The agent's last message, at which the session can be resumed. */
  readonly native: NativeRef | undefined
  readonly hadSubagents: boolean
}

/** Fails a run that was interrupted and printed nothing more. */
export function failInterrupted(run: Run, code: string): void {
  run.fail(WAS_INTERRUPTED, code)
}

const WAS_INTERRUPTED = 'The run was interrupted.'

function failureMessage(record: JsonObject): string {
  if (wasAborted(record)) return WAS_INTERRUPTED
  const errors = textList(record['errors'])
  if (errors.length > 0) return errors.join('\n')
  return firstText(record, 'result', 'error', 'terminal_reason', 'subtype') ?? 'The run failed without saying why.'
}

function failureCode(record: JsonObject): string | undefined {
  const subtype = asText(record['subtype'])
  const reason = asText(record['terminal_reason'])
  if (wasAborted(record)) return reason
  return firstText(record, 'api_error_type', 'api_error') ?? (subtype === 'success' ? reason : (subtype ?? reason))
}

function wasAborted(record: JsonObject): boolean {
  return asText(record['terminal_reason'])?.startsWith('aborted') === true
}

function finishReason(reason: JsonValue | undefined): FinishReason {
  switch (reason) {
    case 'end_turn':
    case 'stop_sequence':
      return 'stop'
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length'
    case 'tool_use':
      return 'tool-calls'
    case 'refusal':
      return 'content-filter'
    default:
      return 'other'
  }
}

/**
 * `model_usage_since_last_result` is the whole usage of this turn. `usage` is the agent's own share, but stays zero in
 * some turns that end early. `modelUsage` and `total_cost_usd` accumulate since the session began, across processes.
 */
function readUsage(record: JsonObject, run: Run, hadSubagents: boolean): void {
  const own = asObject(record['usage'])
  const since = asObject(record['model_usage_since_last_result'])
  if (since === undefined) {
    if (own !== undefined) run.usage.count(turnUsage(own))
    run.usage.countTotal({ costUsd: record['total_cost_usd'] })
  } else if (own === undefined || (!hadSubagents && Object.keys(since).length > 0)) run.usage.count(sumModels(since))
  else {
    const all = sumModels(since)
    const ours = turnUsage(own)
    run.usage.count({ ...ours, costUsd: all.costUsd })
    const others = beyond(all, ours)
    if (others !== undefined) run.usage.count(others, 'subagents')
  }
  const ever = sumModels(asObject(record['modelUsage']) ?? NO_FIELDS)
  run.usage.mark({ ...ever, costUsd: record['total_cost_usd'] })
}

function turnUsage(usage: JsonObject): UsageNumbers {
  return {
    inputTokens: usage['input_tokens'],
    outputTokens: usage['output_tokens'],
    cachedInputTokens: usage['cache_read_input_tokens'],
    cacheWriteInputTokens: usage['cache_creation_input_tokens'],
    reasoningTokens: (asObject(usage['output_tokens_details']) ?? NO_FIELDS)['thinking_tokens'],
  }
}

interface ModelSums {
  readonly inputTokens: number | undefined
  readonly outputTokens: number | undefined
  readonly cachedInputTokens: number | undefined
  readonly cacheWriteInputTokens: number | undefined
  readonly reasoningTokens: number | undefined
  readonly costUsd: number | undefined
}

/** A field that no model reports is absent. Fields are read by constant names: a variable name is many times slower. */
function sumModels(models: JsonObject): ModelSums {
  let inputTokens: number | undefined
  let outputTokens: number | undefined
  let cachedInputTokens: number | undefined
  let cacheWriteInputTokens: number | undefined
  let reasoningTokens: number | undefined
  let costUsd: number | undefined
  for (const each of Object.values(models)) {
    const model = asObject(each) ?? NO_FIELDS
    inputTokens = added(inputTokens, model['inputTokens'])
    outputTokens = added(outputTokens, model['outputTokens'])
    cachedInputTokens = added(cachedInputTokens, model['cacheReadInputTokens'])
    cacheWriteInputTokens = added(cacheWriteInputTokens, model['cacheCreationInputTokens'])
    reasoningTokens = added(reasoningTokens, model['thinkingTokens'])
    costUsd = added(costUsd, model['costUSD'])
  }
  return { inputTokens, outputTokens, cachedInputTokens, cacheWriteInputTokens, reasoningTokens, costUsd }
}

function added(sum: number | undefined, count: JsonValue | undefined): number | undefined {
  return typeof count === 'number' ? (sum ?? 0) + count : sum
}

/** Returns what all models used beyond the agent's own calls: the usage of its subagents. */
function beyond(all: ModelSums, own: UsageNumbers): UsageNumbers | undefined {
  const inputTokens = excess(all.inputTokens, own.inputTokens)
  const outputTokens = excess(all.outputTokens, own.outputTokens)
  const cachedInputTokens = excess(all.cachedInputTokens, own.cachedInputTokens)
  const cacheWriteInputTokens = excess(all.cacheWriteInputTokens, own.cacheWriteInputTokens)
  const hasMore = (inputTokens ?? outputTokens ?? cachedInputTokens ?? cacheWriteInputTokens) !== undefined
  return hasMore ? { inputTokens, outputTokens, cachedInputTokens, cacheWriteInputTokens } : undefined
}

function excess(all: number | undefined, own: unknown): number | undefined {
  const more = (all ?? 0) - (typeof own === 'number' ? own : 0)
  return more > 0 ? more : undefined
}
