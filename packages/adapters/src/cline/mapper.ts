import type { FinishReason, JsonObject } from '@inspan/protocol'
import { asObject, asText } from '../kit/fields.ts'
import { parseRecord } from '../kit/json-line.ts'
import type { Dialect, DialectReader, HeldRecord, Run, RunEnd } from '../kit/mapper.ts'
import { AgentEvents } from './agent-events.ts'
import { LegacyMessages } from './legacy.ts'
import { ClineSubagents } from './subagents.ts'
import { Team } from './team.ts'
import { clineTools } from './tools.ts'
import { UsageReports } from './usage.ts'

/** Reads `cline --json` of version 3 and of earlier versions. */
export const clineDialect: Dialect = {
  id: 'cline',
  version: 1,
  tools: clineTools,
  open: (run) => new ClineReader(run),
}

/** A line of a stack trace, which says nothing without the line that it explains. */
const STACK_LINE = /^\s+at \S/

class ClineReader implements DialectReader {
  readonly #run: Run
  readonly #subagents: ClineSubagents
  readonly #team: Team
  readonly #usage: UsageReports
  readonly #agents: AgentEvents
  readonly #legacy: LegacyMessages
  #hasBegun = false
  #hasResult = false
  /** The result of a run that was aborted. Whether we aborted it is known at the end. */
  #aborted: HeldRecord | undefined
  #abortMessage = 'The run was aborted'
  /** The agent's last mistake. Too many mistakes make Cline stop. */
  #mistake: string | undefined
  /** The reason to give up that Cline wrote to standard error. */
  #lastWords: string | undefined

  constructor(run: Run) {
    this.#run = run
    this.#subagents = new ClineSubagents(run)
    this.#team = new Team(run)
    this.#usage = new UsageReports(run.usage)
    this.#legacy = new LegacyMessages(run)
    this.#agents = new AgentEvents(run, {
      subagents: this.#subagents,
      usage: this.#usage,
      hasTeam: () => !this.#team.isEmpty,
      fail: (message, code) => this.#fail(message, code),
      err: (message) => void (this.#mistake = message),
    })
  }

  record(record: JsonObject): void {
    this.#session(record)
    switch (record['type']) {
      case 'agent_event': {
        const event = asObject(record['event'])
        this.#hasBegun = true
        if (event !== undefined) this.#agents.read(event, record)
        return
      }
      case 'hook_event':
        this.#hasBegun = true
        this.#subagents.hook(record, this.#agents.openCall)
        return
      case 'team_event':
        this.#teamEvent(record)
        return
      case 'run_result':
        this.#result(record)
        return
      case 'run_aborted':
        this.#wasAborted(record)
        return
      case 'error':
        this.#giveUp(record)
        return
      case 'run_start':
      case 'run_abort_requested':
      case 'team_restored':
        this.#run.consume('lifecycle')
        return
      case 'say':
      case 'ask':
        this.#legacy.read(record)
    }
  }

  stderr(text: string): void {
    if (STACK_LINE.test(text)) {
      this.#run.consume('stack-trace')
      return
    }
    const record = text.startsWith('{') ? parseRecord(text) : undefined
    const message = record?.['type'] === 'error' ? messageOf(record) : undefined
    if (message === undefined) return
    this.#lastWords = message
    this.#run.warn(message)
  }

  end(end: RunEnd): void {
    this.#usage.settle()
    this.#subagents.end()
    this.#team.end()
    this.#legacy.end()
    if (end.aborted === true) {
      this.#aborted?.drop('aborted')
      return
    }
    this.#aborted?.drop('repeats-error')
    // Open texts come before the reason why the run ended.
    if (this.#hasBegun && !this.#hasResult) this.#run.turnEnd({ finishReason: 'other' })
    if (this.#aborted !== undefined) this.#fail(this.#abortReason(), 'aborted')
    else if (end.exitCode !== 0 && this.#lastWords !== undefined) this.#fail(this.#lastWords, undefined)
    else if (end.exitCode === 0 && this.#hasBegun && !this.#hasResult)
      this.#fail('The run ended without a result.', 'no-result')
  }

  /** Task ids name the conversation in memory, never the session. */
  #session(record: JsonObject): void {
    const reported = record['sessionId'] ?? record['session_id']
    if (reported !== undefined) this.#run.session(asText(reported))
    else if (this.#run.sessionId === undefined) this.#run.session(asText(record['id']))
  }

  #teamEvent(record: JsonObject): void {
    const event = asObject(record['event'])
    if (event === undefined) return
    const teammate = asText(event['agentId'])
    const inner = asObject(event['event'])
    if (event['type'] !== 'agent_event') this.#team.read(event)
    else if (teammate !== undefined && inner !== undefined) this.#agents.read(inner, record, teammate)
  }

  #result(record: JsonObject): void {
    this.#hasResult = true
    const reason = asText(record['finishReason'])
    const usage = asObject(record['aggregateUsage']) ?? asObject(record['usage'])
    if (usage !== undefined) this.#usage.sum(usage)
    if (reason === 'aborted') this.#aborted = this.#run.hold([])
    else if (reason === 'completed' || reason === undefined) this.#run.consume('lifecycle')
    else this.#fail(asText(record['text']) ?? 'The run failed without saying why.', codeOf(reason))
    const { sessionId } = this.#run
    const native = sessionId === undefined ? undefined : { sessionId }
    this.#run.turnEnd({ finishReason: finishReasonOf(reason), native })
  }

  /** Comes after the result, which says whether anything was cut short. */
  #wasAborted(record: JsonObject): void {
    const message = asText(record['message'])
    if (this.#aborted === undefined) {
      this.#run.warn(message ?? 'The run was asked to stop.', asText(record['reason']))
      return
    }
    this.#abortMessage = message ?? this.#abortMessage
    this.#run.consume('repeats-error')
  }

  #abortReason(): string {
    return this.#mistake === undefined ? this.#abortMessage : `${this.#abortMessage}: ${this.#mistake}`
  }

  #giveUp(record: JsonObject): void {
    const message = messageOf(record)
    if (message === undefined) return
    this.#lastWords = message
    if (this.#run.hasFailed) this.#run.consume('repeats-error')
    else this.#run.warn(message)
  }

  #fail(message: string, code: string | undefined): void {
    this.#run.closeCalls()
    this.#run.fail(message, code)
  }
}

function messageOf(record: JsonObject): string | undefined {
  return asText(record['message']) ?? asText(asObject(record['error'])?.['message'])
}

function codeOf(reason: string): string | undefined {
  return reason === 'error' ? undefined : reason
}

function finishReasonOf(reason: string | undefined): FinishReason {
  switch (reason) {
    case 'completed':
    case undefined:
      return 'stop'
    case 'error':
      return 'error'
    default:
      return 'other'
  }
}
