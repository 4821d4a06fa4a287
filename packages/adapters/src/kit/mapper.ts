import type {
  AgentEvent,
  FinishReason,
  JsonObject,
  JsonValue,
  NativeRef,
  UsageMetadata,
  UsageTotals,
} from '@inspan/protocol'
import type { ActivityDraft, MappedEvent } from './activity.ts'
import type { CallRecord, OpenCall } from './calls.ts'
import type { Account, Ledger } from './ledger.ts'
import type { ConsumedCall, MappingContext, ReportedOutcome, ToolTable } from './tool-table.ts'
import type { UsageMeter } from './usage-meter.ts'

export interface MapperOptions {
  /** Called with every event, in order, while the line that caused it is being read. */
  readonly emit: (event: MappedEvent) => void
  /** The directory the CLI was started in. Relative paths are resolved against it until the CLI reports another one. */
  readonly cwd?: string
  /** The native session's id, from the launcher, for CLIs that do not print it. */
  readonly sessionId?: string
  /** The usage counters of the native session before this run. */
  readonly usageBaseline?: UsageTotals | 'unknown'
  /**
   * When `finish` is emitted: once, when the CLI has exited (print mode), or at the end of each turn that the CLI
   * reports (a live process that takes many turns).
   */
  readonly finish?: 'at-exit' | 'at-turn-end'
}

/** How a CLI exited. */
export interface RunEnd {
  readonly exitCode: number | null
  readonly signal?: string | null
  /** We stopped the CLI, so its death is no failure of the run. */
  readonly aborted?: boolean
}

/** What `recordOf` has made of lines. */
export type ReadRecords = readonly (JsonObject | undefined)[]

/** Turns the output of one run of a CLI into events. Pure: no clock, no files, no processes. Never throws. */
export interface Mapper {
  readonly id: string
  /** Raised when the dialect changes, to tell old activity from new. */
  readonly version: number
  readonly ledger: Ledger
  readonly usage: UsageMeter
  readonly sessionId: string | undefined
  /** How often the CLI has reported the end of its turn. */
  readonly turnsTold: number
  /** Reads one line of standard output, without its newline. `at` is in milliseconds since the epoch. */
  line(text: string, at: number): Account
  /** Reads lines of standard output that arrived together. `records`: the lines as `recordOf` reads them, if that is done. */
  lines(texts: readonly string[], at: number, records?: ReadRecords): void
  /** Reads one line of standard error. */
  stderr(text: string, at: number): Account
  /**
   * Ends the run, after the CLI has exited and both streams are read: closes what is open. A second call does nothing.
   */
  end(end: RunEnd, at: number): void
}

/** How the output of one CLI is read. */
export interface Dialect {
  readonly id: string
  readonly version: number
  readonly tools: ToolTable
  /** Begins a run. State between lines belongs to the reader. */
  open(run: Run): DialectReader
}

/**
 * Each handler looks at its input and reports through `run` what it is. If it reports nothing, a record becomes
 * `unknown` and a line of standard error `warning`, so nothing is lost.
 */
export interface DialectReader {
  record(record: JsonObject): void
  /** Gets a line of standard output that is not one record. If it does not return true, the line is split. */
  odd?(text: string): boolean
  /** Gets standard output that is not JSON. */
  text?(text: string): void
  /** Gets an empty line of standard output, which is consumed in any case. */
  blank?(): void
  stderr?(text: string): void
  /** Called before open calls are closed, to end open texts and report errors that were held back. */
  end?(end: RunEnd): void
}

/** Where a text belongs. */
export interface TextPlace {
  /** Identifies one text of one message: deltas with the same id belong to one text. */
  readonly partId?: string | undefined
  readonly messageId?: string | undefined
  /** The speaker: the call that started the subagent. Absent for the agent itself. */
  readonly parent?: string | undefined
  readonly native?: NativeRef | undefined
}

export interface PlacedText {
  readonly text: string
  readonly place: TextPlace
}

export interface CallAnswer {
  /** The CLI's id of the call; absent if the result has none. */
  readonly id: string | undefined
  /** The caller, as on the call. `null`: the agent itself. Absent: not reported. */
  readonly parent?: string | null | undefined
  /** The output that the result was read from, for `unknown` events. */
  readonly raw: JsonValue
  readonly outcome: ReportedOutcome
  readonly native?: NativeRef | undefined
  /** Returns the activity of a result whose call is not known. */
  readonly orphan?: (() => readonly ActivityDraft[]) | undefined
  /** The activity of the call, if more than the tool's rule decides it. */
  readonly activity?: readonly ActivityDraft[] | ConsumedCall | undefined
  /** The result repeats the call, so an `unknown` event needs only `raw`. */
  readonly isRestated?: boolean
}

export type ResultDetails = Pick<CallAnswer, 'activity' | 'isRestated'>

/** A record whose meaning later records decide. Its line waits; if undecided at the end of the run, it is kept. */
export interface HeldRecord {
  /** Emits the activity that the record was held for. */
  keep(): void
  /** Consumes the record for this reason. */
  drop(reason: string): void
}

export interface TurnEnd {
  readonly finishReason: FinishReason
  readonly native?: NativeRef | undefined
  /** The answer as data, if the CLI reports it apart from its text. */
  readonly output?: JsonValue | undefined
}

export interface StepEnd {
  /** Default: `tool-calls` if the step made calls, otherwise `stop`. */
  readonly finishReason?: FinishReason | undefined
  readonly usage?: UsageMetadata | undefined
  readonly native?: NativeRef | undefined
}

/** What a dialect can do with what it reads. */
export interface Run extends MappingContext {
  readonly at: number
  readonly sessionId: string | undefined
  readonly usage: UsageMeter
  /** Reports the session's id. The first one counts for the run. */
  session(id: string | undefined): void
  /** Reports the working directory. `null`: the CLI has left it for an unknown one. */
  directory(cwd: string | null | undefined): void

  /** Says why a record, or a part of it, carries no activity. Reasons are few and fixed, because they are counted. */
  consume(reason: string): void
  /** Emits an event without activity. The record still needs an account. */
  emit(event: AgentEvent): void
  /** Emits an event with activity. */
  emitWith(event: AgentEvent, drafts: readonly ActivityDraft[]): void
  /** Emits activity without a chat event. */
  note(drafts: readonly ActivityDraft[], native?: NativeRef): void
  warn(message: string, code?: string): void
  unknown(raw: JsonValue): void
  /** Holds a record back, with the activity it represents unless later records decide otherwise. */
  hold(drafts: readonly ActivityDraft[]): HeldRecord
  /** Fails the turn. Emits one `error` per turn, whatever else the CLI reports about the failure. */
  fail(message: string, code?: string): void
  /** Reports an error that does not end the turn. */
  complain(message: string, code?: string): void
  /** Whether this turn already has an `error`. */
  readonly hasFailed: boolean

  /** Emits a piece of a text; `text` and `reasoning` complete it. */
  textDelta(text: string, place: TextPlace & { readonly partId: string }): void
  reasoningDelta(text: string, place: TextPlace & { readonly partId: string }): void
  /** Ends a text that will not be completed. The part that arrived counts. */
  breakOff(partId: string): void
  /** Emits a complete text, without what deltas already said. Only the agent's own words are `agent` activity. */
  text(text: string, place: TextPlace, interrupted?: boolean): void
  /** Emits the texts of one message. */
  texts(texts: readonly PlacedText[], interrupted?: boolean): void
  reasoning(text: string, place: TextPlace): void

  call(call: CallRecord): OpenCall
  result(answer: CallAnswer): void
  /** Ends a call, from a record that also describes the call in case it is not known. */
  resultOrCall(call: CallRecord, outcome: ReportedOutcome, details?: ResultDetails): void
  /** Returns the one open call with this id. The caller may be omitted if the id alone is unique. */
  openCall(id: string, parent?: string | null): OpenCall | undefined
  /** Whether at least one call with this id is open. */
  isOpen(id: string, parent?: string | null): boolean

  /** Begins the agent's next step. Ends the agent's own texts that the step before left incomplete. */
  stepStart(native?: NativeRef): void
  /** Ends a step. Implied by the start of the next one and by the end of the turn. */
  stepEnd(end?: StepEnd): void
  /** Closes open calls as failed, because no results will follow. */
  closeCalls(): void
  turnStart(): void
  turnEnd(end: TurnEnd): void
}
