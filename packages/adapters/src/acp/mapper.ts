import type { JsonObject, JsonValue } from '@inspan/protocol'
import { asObject, asText, NO_FIELDS } from '../kit/fields.ts'
import type { Dialect, DialectReader, HeldRecord, Run, RunEnd } from '../kit/mapper.ts'
import { extendTable } from '../kit/tool-table.ts'
import type { AcpHabits } from './habits.ts'
import { failureOf, finishReasonOf, loginsOf, type RpcFailure } from './outcome.ts'
import { SdkNoise } from './sdk-noise.ts'
import { SessionReader } from './session-reader.ts'
import { kindTools } from './tool-activity.ts'

/** Requests of the agent that we refuse as unknown, because we do not offer them. */
const REFUSED = /^(?:fs|terminal|elicitation)\//

/** Makes the dialect for an agent of the Agent Client Protocol, version 1. One run is one turn. */
export function acpDialectOf(id: string, habits: AcpHabits): Dialect {
  const tools = habits.tools === undefined ? kindTools : extendTable(kindTools, habits.tools)
  return { id, version: 1, tools, open: (run) => new AcpReader(run, habits) }
}

export const acpDialect: Dialect = acpDialectOf('acp', {})

class AcpReader implements DialectReader {
  readonly #run: Run
  readonly #habits: AcpHabits
  readonly #noise = new SdkNoise()
  readonly #sessions = new Map<string, SessionReader>()
  /** The session of the turn. All others belong to subagents. */
  #main: string | undefined
  #logins: readonly string[] = []
  /** True from the greeting until the session is open. Updates in between replay the session's past. */
  #isOpening = false
  /** Why a session could not be opened. Dropped if another way works. */
  #refusal: { readonly failure: RpcFailure; readonly record: HeldRecord } | undefined
  #isOver = false

  constructor(run: Run, habits: AcpHabits) {
    this.#run = run
    this.#habits = habits
  }

  record(record: JsonObject): void {
    const method = asText(record['method'])
    const params = asObject(record['params']) ?? NO_FIELDS
    if (method === 'session/update') this.#update(record, params)
    else if (method === 'session/request_permission') this.#permission(params)
    else if (method === '$/cancel_request' || (method !== undefined && REFUSED.test(method))) {
      this.#run.consume('control')
    } else if (method?.startsWith('_') === true) {
      // Names that begin so are a vendor's own. They come by the hundred and mean nothing to anybody else.
      this.#run.consume('vendor')
    } else if (method === undefined && 'id' in record) this.#response(record)
  }

  stderr(text: string): void {
    const reason = this.#noise.isNoise(text) ? 'repeats-error' : this.#habits.noise?.(text)
    if (reason !== undefined) this.#run.consume(reason)
  }

  end(end: RunEnd): void {
    if (this.#isOver) return
    this.#endSessions(true)
    const refusal = this.#takeRefusal('repeats-error')
    if (end.aborted === true) return
    this.#run.closeCalls()
    if (refusal !== undefined) this.#run.fail(refusal.message, refusal.code)
    else if (end.exitCode === 0) this.#run.fail('The agent ended before it had answered.', 'no-answer')
  }

  #update(record: JsonObject, params: JsonObject): void {
    const update = asObject(params['update'])
    if (update !== undefined) this.#session(params).update(update, record, this.#isOpening)
  }

  #permission(params: JsonObject): void {
    this.#run.consume('control')
    const toolCall = asObject(params['toolCall'])
    if (toolCall !== undefined) this.#session(params).permission(toolCall)
  }

  #session(params: JsonObject): SessionReader {
    const id = asText(params['sessionId'])
    this.#useSession(id)
    const key = id ?? ''
    let session = this.#sessions.get(key)
    if (session === undefined) {
      const parent = id === this.#main ? undefined : id
      session = new SessionReader(this.#run, this.#habits, id, parent)
      this.#sessions.set(key, session)
    }
    return session
  }

  #useSession(id: string | undefined): void {
    if (this.#main !== undefined || id === undefined) return
    this.#main = id
    this.#run.session(id)
  }

  #response(record: JsonObject): void {
    const error = asObject(record['error'])
    if (error !== undefined) {
      if (this.#isOpening) this.#refuse(error)
      else this.#fail(error)
      return
    }
    if (!('result' in record)) return
    const result = asObject(record['result']) ?? NO_FIELDS
    if ('stopReason' in result) this.#answer(result)
    else if ('protocolVersion' in result) {
      this.#logins = loginsOf(result)
      this.#isOpening = true
    } else {
      this.#useSession(asText(result['sessionId']))
      this.#takeRefusal('control')
      this.#isOpening = false
    }
    this.#run.consume('control')
  }

  #refuse(error: JsonObject): void {
    this.#takeRefusal('control')
    const failure = failureOf(error, this.#logins)
    this.#refusal = { failure, record: this.#run.hold([]) }
  }

  #takeRefusal(reason: string): RpcFailure | undefined {
    const refusal = this.#refusal
    this.#refusal = undefined
    refusal?.record.drop(reason)
    return refusal?.failure
  }

  #fail(error: JsonObject): void {
    this.#endSessions(true)
    const { message, code } = failureOf(error, this.#logins)
    this.#run.closeCalls()
    this.#run.fail(message, code)
    this.#endTurn('error')
  }

  #answer(result: JsonObject): void {
    const { stopReason } = result
    this.#endSessions(stopReason === 'cancelled')
    if (stopReason === 'max_turn_requests') {
      this.#run.warn('The agent stopped at the number of model calls it may make.', 'max-turn-requests')
    }
    if (this.#habits.hasPartialUsage !== true) this.#count(asObject(result['usage']))
    this.#endTurn(stopReason)
  }

  #endTurn(stopReason: JsonValue | undefined): void {
    this.#isOver = true
    const sessionId = this.#main
    this.#run.turnEnd({
      finishReason: stopReason === 'error' ? 'error' : finishReasonOf(stopReason),
      ...(sessionId === undefined ? {} : { native: { sessionId } }),
    })
  }

  #endSessions(isInterrupted: boolean): void {
    for (const session of this.#sessions.values()) session.end(isInterrupted)
  }

  #count(usage: JsonObject | undefined): void {
    if (usage === undefined) return
    this.#run.usage.add({
      inputTokens: usage['inputTokens'],
      outputTokens: usage['outputTokens'],
      totalTokens: usage['totalTokens'],
      reasoningTokens: usage['thoughtTokens'],
      cachedInputTokens: usage['cachedReadTokens'],
      cacheWriteInputTokens: usage['cachedWriteTokens'],
    })
  }
}
