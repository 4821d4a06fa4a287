import type { JsonObject } from '@inspan/protocol'
import { asObject, asText, NO_FIELDS } from '../kit/fields.ts'
import type { HeldRecord, Run } from '../kit/mapper.ts'
import { remainderOf } from '../kit/texts.ts'
import { isKnownCall, toolNameOf, type AcpHabits } from './habits.ts'
import { callOutcome } from './outcome.ts'
import { Saying } from './saying.ts'
import { callActivity } from './tool-activity.ts'
import { AcpToolCall } from './tool-call.ts'

interface ReportedCall {
  readonly call: AcpToolCall
  /** Updates from before it was known what the call does. */
  readonly early: HeldRecord[]
  stage: 'announced' | 'open' | 'over'
  /** The caller when the call began: a subagent, or `undefined` for the agent itself. */
  parent: string | undefined
  /** The output that was already shown while the call runs. */
  shown: string
}

/** The agent, or a subagent that speaks in its place while the call that started it is open. */
interface AcpSpeaker {
  readonly parent: string | undefined
  readonly saying: Saying
  /** A subagent that has sent nothing yet: the call may be of a tool that the agent does not have. */
  isUnheard?: boolean
}

/** Updates that say nothing about the work itself. */
const SETTINGS: ReadonlySet<string | undefined> = new Set([
  'available_commands_update',
  'config_option_update',
  'current_mode_update',
  'session_info_update',
])

/** Reads what one session of an agent reports in one turn. */
export class SessionReader {
  readonly #run: Run
  readonly #habits: AcpHabits
  readonly #sessionId: string | undefined
  readonly #speakers: [AcpSpeaker, ...AcpSpeaker[]]
  readonly #calls = new Map<string, ReportedCall>()
  /** Id of the current message, if it is the program's. */
  #notTheAgent: string | undefined

  constructor(run: Run, habits: AcpHabits, sessionId: string | undefined, parent: string | undefined) {
    this.#run = run
    this.#habits = habits
    this.#sessionId = sessionId
    this.#speakers = [{ parent, saying: new Saying(run, sessionId, parent) }]
  }

  /** The current speaker: the latest subagent that has not ended, otherwise the agent. */
  get #speaker(): AcpSpeaker {
    return this.#speakers.at(-1) ?? this.#speakers[0]
  }

  /** `isPast`: the session's past is being replayed. */
  update(update: JsonObject, record: JsonObject, isPast: boolean): void {
    const kind = asText(update['sessionUpdate'])
    if (SETTINGS.has(kind)) {
      this.#run.consume('settings')
      return
    }
    switch (kind) {
      case 'user_message_chunk':
        this.#run.consume(isPast ? 'replayed' : 'not-the-agent')
        return
      case 'agent_message_chunk':
      case 'agent_thought_chunk':
        if (isPast) this.#run.consume('replayed')
        else this.#words(update, kind === 'agent_thought_chunk', record)
        return
      case 'tool_call':
      case 'tool_call_update':
        if (isPast) this.#run.consume('replayed')
        else this.#toolCall(update, record)
        return
      case 'plan':
        this.#run.consume('plan')
        return
      case 'usage_update':
        this.#usage(update)
        return
      case 'notice':
        this.#notice(update)
        return
      case 'compaction_update':
        this.#compaction(update)
        return
      case 'compaction_summary_chunk':
        this.#run.consume('synthetic')
        return
      default:
        this.#run.unknown(record)
    }
  }

  /** Reads a request for permission, which may come before the call is announced. */
  permission(toolCall: JsonObject): void {
    const id = asText(toolCall['toolCallId'])
    if (id === undefined) return
    const tracked = this.#tracked(id)
    tracked.call.mergeAsked(toolCall)
    if (tracked.stage === 'announced' && isKnownCall(tracked.call, this.#habits)) this.#begin(tracked, toolCall)
  }

  end(isInterrupted: boolean): void {
    for (const { saying } of this.#speakers) saying.end(isInterrupted)
    for (const tracked of this.#calls.values()) {
      if (tracked.stage === 'announced') this.#begin(tracked, { toolCallId: tracked.call.id })
    }
  }

  // Words.

  #words(update: JsonObject, isThought: boolean, record: JsonObject): void {
    const content = asObject(update['content']) ?? NO_FIELDS
    const { type, text } = content
    if (type !== 'text' || typeof text !== 'string') {
      this.#run.unknown(record)
      return
    }
    const messageId = asText(update['messageId'])
    if (this.#isNotTheAgent(update, text, isThought, messageId)) return
    this.#run.consume(isThought ? 'reasoning' : 'partial')
    this.#heard(this.#speaker)
    this.#speaker.saying.add(text, isThought, messageId)
  }

  /** Handles a message that is the program's and not the agent's. Returns whether it was one. */
  #isNotTheAgent(update: JsonObject, text: string, isThought: boolean, messageId: string | undefined): boolean {
    if (isThought) return false
    if (messageId !== undefined && messageId === this.#notTheAgent) {
      this.#run.consume('synthetic')
      return true
    }
    const speaker = this.#habits.speaker?.(text, update)
    if (speaker === undefined) return false
    if ('synthetic' in speaker) this.#run.consume('synthetic')
    else {
      this.#speaker.saying.end(true)
      this.#run.fail(speaker.failure)
      this.#notTheAgent = messageId
    }
    return true
  }

  // Calls.

  #toolCall(update: JsonObject, record: JsonObject): void {
    const id = asText(update['toolCallId'])
    if (id === undefined) {
      this.#run.unknown(record)
      return
    }
    const tracked = this.#tracked(id)
    if (tracked.stage === 'over') {
      this.#run.consume('repeats-result')
      return
    }
    const { call } = tracked
    call.merge(update)
    const isEnd = isEndOf(update) && this.#habits.isProvisional?.(update) !== true
    if (tracked.stage === 'announced') {
      if (!isEnd && !isKnownCall(call, this.#habits)) {
        tracked.early.push(this.#run.hold([{ type: 'unknown', raw: record }]))
        return
      }
      this.#begin(tracked, update)
    }
    if (isEnd) this.#finish(tracked, update)
    else this.#progress(tracked, update)
  }

  #tracked(id: string): ReportedCall {
    let tracked = this.#calls.get(id)
    if (tracked === undefined) {
      tracked = { call: new AcpToolCall(id), early: [], stage: 'announced', parent: undefined, shown: '' }
      this.#calls.set(id, tracked)
    }
    return tracked
  }

  #begin(tracked: ReportedCall, raw: JsonObject): void {
    const { call, early } = tracked
    const { parent, saying } = this.#speaker
    this.#heard(this.#speaker)
    tracked.stage = 'open'
    tracked.parent = parent
    saying.end()
    const name = toolNameOf(call, this.#habits)
    const serverName = this.#habits.serverName?.(call)
    this.#run.call({
      id: call.id,
      name,
      input: call.input,
      raw,
      ...(parent === undefined ? {} : { parent }),
      ...(this.#sessionId === undefined ? {} : { native: { sessionId: this.#sessionId } }),
      ...(serverName === undefined ? {} : { serverName }),
      ...(call.invalidInput === undefined ? {} : { invalidInput: call.invalidInput }),
    })
    for (const held of early) held.drop('announces-call')
    early.length = 0
    if (name !== this.#habits.subagentTool) return
    this.#speakers.push({
      parent: call.id,
      saying: new Saying(this.#run, this.#sessionId, call.id),
      isUnheard: true,
    })
  }

  #heard(speaker: AcpSpeaker): void {
    if (speaker.isUnheard !== true) return
    speaker.isUnheard = false
    this.#run.note([{ type: 'orchestration', action: 'subagent_started' }])
  }

  #progress(tracked: ReportedCall, update: JsonObject): void {
    this.#run.consume('partial')
    const { call } = tracked
    const output = this.#habits.progress?.(update) ?? this.#newText(tracked)
    if (output === undefined || output === '') return
    const toolName = toolNameOf(call, this.#habits)
    const parent = tracked.parent === undefined ? {} : { parentToolCallId: tracked.parent }
    this.#run.emit({ type: 'tool-progress', toolCallId: call.id, toolName, output, ...parent })
  }

  #newText(tracked: ReportedCall): string | undefined {
    const { text } = tracked.call
    if (text === undefined || text === tracked.shown) return undefined
    const output = remainderOf(text, tracked.shown) ?? text
    tracked.shown = text
    return output
  }

  #finish(tracked: ReportedCall, update: JsonObject): void {
    const { call } = tracked
    tracked.stage = 'over'
    const outcome = callOutcome(call, this.#habits)
    this.#endSubagent(call.id, outcome.isSuccess !== false)
    this.#run.result({
      id: call.id,
      parent: tracked.parent ?? null,
      raw: update,
      outcome,
      activity: callActivity(call, toolNameOf(call, this.#habits), outcome, this.#run, this.#habits.tools),
      ...(this.#sessionId === undefined ? {} : { native: { sessionId: this.#sessionId } }),
    })
  }

  /** Ends the subagent that this call started, if it did. */
  #endSubagent(callId: string, hasWorked: boolean): void {
    const at = this.#speakers.findIndex(({ parent }, index) => index > 0 && parent === callId)
    if (at === -1) return
    for (const speaker of this.#speakers.splice(at, 1)) {
      if (hasWorked) this.#heard(speaker)
      speaker.saying.end()
    }
  }

  // Everything else.

  /** Books the cumulative cost. How full the context is does not count as usage. */
  #usage(update: JsonObject): void {
    this.#run.consume('usage')
    const cost = asObject(update['cost'])
    if (asText(cost?.['currency'])?.toUpperCase() === 'USD') this.#run.usage.total({ costUsd: cost?.['amount'] })
  }

  #notice(update: JsonObject): void {
    const title = asText(update['title']) ?? 'The agent gave notice of something without saying what.'
    const description = asText(update['description'])
    const message = description === undefined ? title : `${title}: ${description}`
    switch (update['severity']) {
      case 'info':
        this.#run.consume('notice')
        return
      case 'error':
        this.#run.complain(message, 'notice')
        return
      default:
        this.#run.warn(message, 'notice')
    }
  }

  #compaction(update: JsonObject): void {
    const error = asText(update['error'])
    if (update['status'] === 'failed') {
      this.#run.warn(error ?? 'The conversation could not be made shorter.', 'compaction')
    } else this.#run.consume('compaction')
  }
}

function isEndOf(update: JsonObject): boolean {
  return update['status'] === 'completed' || update['status'] === 'failed'
}
