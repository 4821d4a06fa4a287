import type { FinishReason, JsonObject, JsonValue, NativeRef, UsageIncrement } from '@inspan/protocol'
import type { CallRecord } from '../kit/calls.ts'
import type { Mutable } from '../kit/event-parts.ts'
import { asObject, asText, firstText, NO_FIELDS } from '../kit/fields.ts'
import type { Dialect, DialectReader, Run, RunEnd } from '../kit/mapper.ts'
import { HeldError, readError } from './error.ts'
import { nativeOf, parentOf, placeOf } from './part.ts'
import { readToolUse } from './tool-use.ts'
import { opencodeTools } from './tools.ts'

/** Reads `opencode run --format json`. */
export const opencodeDialect: Dialect = {
  id: 'opencode',
  version: 1,
  tools: opencodeTools,
  open: (run) => new OpencodeReader(run),
}

/** Reads the records that OpenCode and the programs built on it print. */
export class OpencodeReader implements DialectReader {
  readonly #run: Run
  #isInStep = false
  #lastReason: FinishReason | undefined
  #lastMessage: NativeRef | undefined
  #hasFailedCall = false
  /** The context was full, so the next step is a summary and no answer. */
  #isCompacting = false
  /** An error that may end the run (after a context overflow OpenCode compacts and goes on). What follows decides. */
  #heldError: HeldError | undefined

  constructor(run: Run) {
    this.#run = run
  }

  record(record: JsonObject): void {
    const { type } = record
    const session = asText(record['sessionID']) ?? firstText(record, 'sessionId', 'session_id')
    this.#run.session(session)
    if (this.#heldError !== undefined && type !== 'error') this.#settleError(type === 'step_start')
    // Explicit, because the session or the error may already have accounted for this line.
    if (!this.#read(record, asObject(record['part']) ?? record, session)) this.#run.unknown(record)
  }

  #read(record: JsonObject, part: JsonObject, session: string | undefined): boolean {
    switch (record['type']) {
      case 'step_start':
        return this.#stepStart(part)
      case 'text':
        return this.#text(part, session)
      case 'reasoning':
        return this.#reasoning(part, session)
      case 'tool_use':
        return this.#toolUse(record, part, session)
      case 'step_finish':
        return this.#stepFinish(part)
      case 'error':
        return this.#error(record['error'] ?? part['error'] ?? part)
      default:
        return false
    }
  }

  end(end: RunEnd): void {
    if (end.aborted === true) return
    this.#settleError(false)
    if (this.#isInStep || this.#lastReason === undefined) return
    this.#endUnanswered(end)
    this.#run.turnEnd({ finishReason: this.#lastReason, native: this.#lastMessage })
  }

  // Steps.

  #stepStart(part: JsonObject): boolean {
    if (this.#isInStep) {
      // A second start is the only sign of a retry.
      this.#run.warn('The model call was begun again before it had ended.', 'step-restarted')
    }
    this.#run.consume('step')
    this.#isInStep = true
    this.#hasFailedCall = false
    this.#run.stepStart(nativeOf(part))
    return true
  }

  #stepFinish(part: JsonObject): boolean {
    const usage = this.#usage(part)
    const native = nativeOf(part)
    const finishReason = this.#isCompacting ? 'other' : finishReasonOf(part['reason'])
    this.#isCompacting = false
    this.#isInStep = false
    this.#lastReason = finishReason
    this.#lastMessage = native
    this.#run.consume('step')
    this.#run.stepEnd({ finishReason, usage, native })
    return true
  }

  /** Each step reports its own usage. */
  #usage(part: JsonObject): UsageIncrement | undefined {
    const tokens = asObject(part['tokens']) ?? NO_FIELDS
    const cache = asObject(tokens['cache']) ?? NO_FIELDS
    return this.#run.usage.add({
      inputTokens: tokens['input'],
      outputTokens: tokens['output'],
      reasoningTokens: tokens['reasoning'],
      cachedInputTokens: cache['read'],
      cacheWriteInputTokens: cache['write'],
      totalTokens: tokens['total'],
      costUsd: part['cost'],
      outputExcludesReasoning: true,
    })
  }

  // Words and calls.

  #text(part: JsonObject, session: string | undefined): boolean {
    const text = part['text']
    if (typeof text !== 'string') return false
    if (part['synthetic'] === true || part['ignored'] === true) this.#run.consume('synthetic')
    // Text after the error is the part that was said before it.
    else this.#run.text(text, placeOf(part, session), this.#run.hasFailed)
    return true
  }

  #reasoning(part: JsonObject, session: string | undefined): boolean {
    const text = part['text']
    if (typeof text !== 'string') return false
    this.#run.reasoning(text, placeOf(part, session))
    return true
  }

  #toolUse(record: JsonObject, part: JsonObject, session: string | undefined): boolean {
    const use = readToolUse(record, part)
    if (use === undefined) return false
    const { outcome, phase } = use
    const call: Mutable<CallRecord> = use.call
    const parent = parentOf(part, session)
    const native = nativeOf(part)
    call.parent = parent
    call.native = native
    if (phase === 'announced') this.#run.consume('partial')
    else if (phase === 'over') {
      if (outcome.isSuccess === false) this.#hasFailedCall = true
      this.#run.resultOrCall(call, outcome)
    } else if (this.#run.isOpen(call.id, parent ?? null)) this.#run.consume('partial')
    else this.#run.call(call)
    return true
  }

  // Errors.

  #error(error: JsonValue | undefined): boolean {
    const reported = readError(error)
    if (reported === undefined) return false
    const held = this.#heldError
    // Of several errors the last one counts.
    if (this.#run.hasFailed) {
      this.#run.consume('repeats-error')
      return true
    }
    held?.wasRepeated()
    this.#heldError = new HeldError(this.#run, reported)
    return true
  }

  #settleError(goesOn: boolean): void {
    const held = this.#heldError
    this.#heldError = undefined
    if (!goesOn) {
      held?.endedTheRun()
      return
    }
    // Only the step has ended.
    this.#isInStep = false
    this.#isCompacting = held?.code === 'ContextOverflowError'
    held?.endedNothing()
  }

  /** Fails a run that a refused permission ended: OpenCode exits with 0 in the middle of the agent's work. */
  #endUnanswered(end: RunEnd): void {
    if (end.exitCode !== 0 || this.#lastReason !== 'tool-calls' || !this.#hasFailedCall) return
    this.#run.fail('The run ended after a failed tool call, without an answer of the agent.', 'no-answer')
  }
}

function finishReasonOf(reason: JsonValue | undefined): FinishReason {
  switch (reason) {
    case 'stop':
    case 'length':
    case 'tool-calls':
    case 'content-filter':
    case 'error':
      return reason
    default:
      return 'other'
  }
}
