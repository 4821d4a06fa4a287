import type {
  AgentEvent,
  FinishReason,
  JsonObject,
  JsonValue,
  NativeRef,
  UsageMetadata,
  UsageTotals,
} from '@evener/protocol'
import type { ActivityDraft, MappedEvent } from './activity.ts'
import type { CallRecord, OpenCall } from './calls.ts'
import type { Account, Ledger } from './ledger.ts'
import type { ConsumedCall, ToolContext, ToolOutcome, ToolTable } from './tool-table.ts'
import type { UsageMeter } from './usage-meter.ts'

export interface MapperOptions {
  /** Gets every event, in order, while the line that made it is being read. */
  readonly emit: (event: MappedEvent) => void
  /** Where the program was started: relative paths are resolved against it until the program says otherwise. */
  readonly cwd?: string
  /** Given by the launcher for programs whose output does not tell their session. */
  readonly sessionId?: string
  /** Where the native session's usage counters stood before this run. */
  readonly usageBaseline?: UsageTotals | 'unknown'
  /**
   * When `finish` comes: once, when the program has ended (print mode), or at each turn's end that the program reports (a
   * live process that takes many turns).
   */
  readonly finish?: 'at-exit' | 'at-turn-end'
}

/** How a program ended. */
export interface RunEnd {
  readonly exitCode: number | null
  readonly signal?: string | null
  /** We stopped it: that it died is no failure of its own. */
  readonly aborted?: boolean
}

/** Makes events of one run of a program. Pure: no clock, no files, no processes. Never throws. */
export interface Mapper {
  readonly id: string
  /** Raised when the mapping changes, so that old activity can be told from new. */
  readonly version: number
  readonly ledger: Ledger
  readonly usage: UsageMeter
  readonly sessionId: string | undefined
  /** How many times the program has said that its turn is over. */
  readonly turnsTold: number
  /** One line of standard output, without its ending; `at` in milliseconds since the epoch. */
  line(text: string, at: number): Account
  /** Lines of standard output that came together. */
  lines(texts: readonly string[], at: number): void
  /** One line of standard error. */
  stderr(text: string, at: number): Account
  /** The program is gone and both streams are read. Closes what is open. The second call does nothing. */
  end(end: RunEnd, at: number): void
}

/** How one program's output is to be read. */
export interface Dialect {
  readonly id: string
  readonly version: number
  readonly tools: ToolTable
  /** A new run: whatever is remembered between lines belongs to the reader. */
  open(run: Run): DialectReader
}

/**
 * Every handler looks at its input and says through `run` what it is. A record of which nothing was said becomes
 * `unknown`, a line of standard error `warning`: silence loses nothing.
 */
export interface DialectReader {
  record(record: JsonObject): void
  /** A line of standard output that is not one record, as it is; true when it was dealt with. Else it is taken apart. */
  odd?(text: string): boolean
  /** Standard output that is not JSON. */
  text?(text: string): void
  /** An empty line of standard output; it says nothing, whatever is done with it. */
  blank?(): void
  stderr?(text: string): void
  /** Before open calls are closed: texts that were still being said, errors that were held back. */
  end?(end: RunEnd): void
}

/** Where a thing said stands. */
export interface Place {
  /** One text of one message: deltas with the same id are one text. */
  readonly partId?: string | undefined
  readonly messageId?: string | undefined
  /** Whose words: the call that started the subagent. Absent for the agent itself. */
  readonly parent?: string | undefined
  readonly native?: NativeRef | undefined
}

export interface PlacedText {
  readonly text: string
  readonly place: Place
}

export interface CallAnswer {
  /** The program's id for the call; absent when the result has none. */
  readonly id: string | undefined
  /** As on the call; `null` says "the agent itself", absent "not reported". */
  readonly parent?: string | null | undefined
  /** The output the result was read from, for `unknown` events. */
  readonly raw: JsonValue
  readonly outcome: ToolOutcome
  readonly native?: NativeRef | undefined
  /** What the result tells by itself when its call is not known. */
  readonly orphan?: (() => readonly ActivityDraft[]) | undefined
  /** What the call was, where more than the tool's rule decides it. */
  readonly activity?: readonly ActivityDraft[] | ConsumedCall | undefined
  /** The result repeats the call, so an `unknown` needs only `raw`. */
  readonly isRestated?: boolean
}

export type ResultDetails = Pick<CallAnswer, 'activity' | 'isRestated'>

/** A record whose meaning the next ones decide. Its line waits; at the end of the run it is kept. */
export interface HeldRecord {
  /** It means what it was held for. */
  keep(): void
  /** It means nothing of its own, for this reason. */
  drop(reason: string): void
}

export interface TurnEnd {
  readonly finishReason: FinishReason
  readonly native?: NativeRef | undefined
}

export interface StepEnd {
  /** Left out: it ended for its calls if it made any. */
  readonly finishReason?: FinishReason | undefined
  readonly usage?: UsageMetadata | undefined
  readonly native?: NativeRef | undefined
}

/** What a dialect may do with what it reads. */
export interface Run extends ToolContext {
  readonly at: number
  readonly sessionId: string | undefined
  readonly usage: UsageMeter
  /** The first session id that the program tells is the run's. */
  session(id: string | undefined): void
  /** The directory the program says it works in; `null`: it has left it, and nobody knows where to. */
  directory(cwd: string | null | undefined): void

  /** Says why a record, or a part of it, carries no activity. Reasons are few and fixed: they are counted. */
  consume(reason: string): void
  /** An event without activity. The record still needs an account of its own. */
  emit(event: AgentEvent): void
  /** An event with activity. */
  emitWith(event: AgentEvent, drafts: readonly ActivityDraft[]): void
  /** Activity for which there is no chat event. */
  note(drafts: readonly ActivityDraft[], native?: NativeRef): void
  warn(message: string, code?: string): void
  unknown(raw: JsonValue): void
  /** Keeps a record back, with the activity it stands for unless the next ones say otherwise. */
  hold(drafts: readonly ActivityDraft[]): HeldRecord
  /** The turn has failed: one `error` for one failure, whatever else the program says about it. */
  fail(message: string, code?: string): void
  /** An error that ends nothing. */
  complain(message: string, code?: string): void
  /** This turn has an `error` already. */
  readonly hasFailed: boolean

  /** Words as they are said; `text` and `reasoning` say when they are whole. */
  textDelta(text: string, place: Place & { readonly partId: string }): void
  reasoningDelta(text: string, place: Place & { readonly partId: string }): void
  /** A text that was begun will not become whole: what was said of it counts. */
  breakOff(partId: string): void
  /** The whole text. What was said as deltas is not said again. Only the agent's own words are `agent` activity. */
  text(text: string, place: Place, interrupted?: boolean): void
  /** The texts of one message. */
  texts(texts: readonly PlacedText[], interrupted?: boolean): void
  reasoning(text: string, place: Place): void

  call(call: CallRecord): OpenCall
  result(answer: CallAnswer): void
  /** The end of a call, in a record that also tells what was called, should that not be known. */
  resultOrCall(call: CallRecord, outcome: ToolOutcome, details?: ResultDetails): void
  /** The one open call with this id; the caller can be left out where the id alone is unique. */
  openCall(id: string, parent?: string | null): OpenCall | undefined
  /** A call with this id is open, or several are. */
  isOpen(id: string, parent?: string | null): boolean

  /** The agent's next model call begins. Texts of its own that the one before left half-said are over. */
  stepStart(native?: NativeRef): void
  /** A model call has ended. Implied by the next beginning and by the turn's end. */
  stepEnd(end?: StepEnd): void
  /** No result will come any more: what is open is closed as failed. */
  closeCalls(): void
  turnStart(): void
  turnEnd(end: TurnEnd): void
}
