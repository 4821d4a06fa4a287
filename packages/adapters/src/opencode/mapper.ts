import type { FinishReason, JsonObject, JsonValue, NativeRef, UsageIncrement } from '@evener/protocol'
import { asObject, asText, firstText, NO_FIELDS } from '../kit/fields.ts'
import type { Dialect, DialectReader, HeldRecord, Place, Run, RunEnd } from '../kit/mapper.ts'
import { readError, type ReportedError } from './error.ts'
import { readToolUse } from './tool-use.ts'
import { opencodeTools } from './tools.ts'

/** `opencode run --format json`. */
export const opencodeDialect: Dialect = {
  id: 'opencode',
  version: 1,
  tools: opencodeTools,
  open: (run) => new OpencodeReader(run),
}

/** The one error after which the program goes on by itself: it compacts the conversation and asks the model again. */
const OVERFLOW = 'ContextOverflowError'

/** Reads the records that OpenCode and the programs built on it print. */
export class OpencodeReader implements DialectReader {
  readonly #run: Run
  #isInStep = false
  #lastReason: FinishReason | undefined
  #lastMessage: NativeRef | undefined
  #hasFailedCall = false
  /** An error that ends the run, or nothing: what follows tells. */
  #heldError: (ReportedError & { readonly record: HeldRecord }) | undefined

  constructor(run: Run) {
    this.#run = run
  }

  record(record: JsonObject): void {
    const session = firstText(record, 'sessionID', 'sessionId', 'session_id')
    this.#run.session(session)
    const part = asObject(record['part']) ?? record
    switch (record['type']) {
      case 'step_start':
        this.#stepStart(part)
        return
      case 'text':
        this.#text(part, session)
        return
      case 'reasoning':
        if (typeof part['text'] === 'string') this.#run.reasoning(part['text'], placeOf(part, session))
        return
      case 'tool_use':
        this.#toolUse(record, part, session)
        return
      case 'step_finish':
        this.#stepFinish(part)
        return
      case 'error':
        this.#error(record['error'] ?? part['error'])
    }
  }

  end(end: RunEnd): void {
    if (end.aborted === true) return
    this.#endWithError()
    if (this.#isInStep || this.#lastReason === undefined) return
    this.#endUnanswered(end)
    this.#run.turnEnd({ finishReason: this.#lastReason, ...nativeField(this.#lastMessage) })
  }

  // Steps.

  #stepStart(part: JsonObject): void {
    this.#goOn()
    if (this.#isInStep) {
      // All that is to be seen of a retry: a second beginning.
      this.#run.warn('The model call was begun again before it had ended.', 'step-restarted')
    }
    this.#run.consume('step')
    this.#isInStep = true
    this.#hasFailedCall = false
    this.#run.stepStart(nativeOf(part))
  }

  #stepFinish(part: JsonObject): void {
    const usage = this.#usage(part)
    const native = nativeOf(part)
    const finishReason = finishReasonOf(part['reason'])
    this.#isInStep = false
    this.#lastReason = finishReason
    this.#lastMessage = native
    this.#run.consume('step')
    this.#run.stepEnd({ finishReason, ...(usage === undefined ? {} : { usage }), ...nativeField(native) })
  }

  /** Each step counts for itself. */
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

  #text(part: JsonObject, session: string | undefined): void {
    const text = part['text']
    if (typeof text !== 'string') return
    if (part['synthetic'] === true || part['ignored'] === true) this.#run.consume('synthetic')
    // What comes after the error is the half that had been said before it.
    else this.#run.text(text, placeOf(part, session), this.#run.hasFailed)
  }

  #toolUse(record: JsonObject, part: JsonObject, session: string | undefined): void {
    const use = readToolUse(record, part)
    if (use === undefined) return
    const { call, outcome, phase } = use
    const native = nativeOf(part)
    const parent = parentOf(part, session)
    const isKnown = this.#run.openCall(call.id, parent ?? null) !== undefined
    if (phase === 'announced' || (phase === 'running' && isKnown)) {
      this.#run.consume('partial')
      return
    }
    const whole = { ...call, ...(parent === undefined ? {} : { parent }), ...nativeField(native) }
    if (phase === 'running') {
      this.#run.call(whole)
      return
    }
    if (outcome.isSuccess === false) this.#hasFailedCall = true
    if (isKnown) {
      this.#run.result({
        id: call.id,
        parent: parent ?? null,
        raw: record,
        outcome,
        isRestated: true,
        ...nativeField(native),
      })
    } else this.#run.callWithResult(whole, outcome)
  }

  // Errors.

  #error(error: JsonValue | undefined): void {
    const reported = readError(error)
    if (reported === undefined) return
    this.#goOn()
    const { message, code } = reported
    if (code !== OVERFLOW) {
      this.#run.fail(message, code)
      return
    }
    this.#heldError = { ...reported, record: this.#run.hold([{ type: 'error', message, code }]) }
  }

  /** The program has not stopped at the error it told of last. */
  #goOn(): void {
    this.#heldError?.record.keep()
    this.#heldError = undefined
  }

  #endWithError(): void {
    const held = this.#heldError
    if (held === undefined) return
    this.#heldError = undefined
    held.record.drop('repeats-error')
    this.#run.fail(held.message, held.code)
  }

  /** A refused permission ends the run with exit code 0, in the middle of the agent's work. */
  #endUnanswered(end: RunEnd): void {
    if (end.exitCode !== 0 || this.#lastReason !== 'tool-calls' || !this.#hasFailedCall) return
    this.#run.fail('The run ended after a failed tool call, without an answer of the agent.', 'no-answer')
  }
}

function placeOf(part: JsonObject, session: string | undefined): Place {
  const partId = asText(part['id'])
  const parent = parentOf(part, session)
  return {
    ...(partId === undefined ? {} : { partId }),
    ...(parent === undefined ? {} : { parent }),
    ...nativeField(nativeOf(part)),
  }
}

/** Whose part it is, where that is another session than the record's: a subagent's. */
function parentOf(part: JsonObject, session: string | undefined): string | undefined {
  const owner = asText(part['sessionID'])
  return session === undefined || owner === session ? undefined : owner
}

function nativeOf(part: JsonObject): NativeRef | undefined {
  const sessionId = asText(part['sessionID'])
  const messageId = asText(part['messageID'])
  const itemId = asText(part['id'])
  if (sessionId === undefined && messageId === undefined) return undefined
  return {
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(messageId === undefined ? {} : { messageId }),
    ...(itemId === undefined ? {} : { itemId }),
  }
}

function nativeField(native: NativeRef | undefined): { readonly native?: NativeRef } {
  return native === undefined ? {} : { native }
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
