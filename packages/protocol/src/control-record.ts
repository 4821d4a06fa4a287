import type {
  EventMeta,
  FileEvent,
  NativeRef,
  ReasoningDeltaEvent,
  TextDeltaEvent,
  ToolCallDeltaEvent,
  ToolProgressEvent,
  ToolResultEvent,
} from './agent-event.ts'
import type { Binding } from './binding.ts'
import type { BlobRef } from './blob.ts'
import type { CallOutcome } from './call.ts'
import type { BudgetLimit, TurnDefaults } from './driver.ts'
import type { ErrorData } from './error-data.ts'
import type { JsonObject, JsonValue } from './json.ts'
import type { StoredLineage } from './lineage.ts'
import type { MessageRole, Part } from './message.ts'
import type { Grants, PermissionRules } from './permission.ts'
import type { Goal, TaskItem } from './task.ts'
import type { FinishReason, UsageIncrement, UsageMetadata } from './usage.ts'
import type { Answer, WaitCancelReason, WaitRequest } from './wait.ts'

/** The message and part a record belongs to. Optional in the public event, always set in a record. */
export interface PartAddress {
  readonly messageId: string
  readonly partId: string
}

export type BatchEvent = (TextDeltaEvent | ReasoningDeltaEvent | ToolCallDeltaEvent | ToolProgressEvent) & PartAddress

/** What accumulated of one open part since the last batch. Removed when the part is sealed. */
export interface BatchRecord {
  readonly type: 'batch'
  readonly event: BatchEvent
}

/** A whole message at once: the user's, added context, a signal. */
export interface MessageAddedRecord {
  readonly type: 'message.added'
  readonly messageId: string
  readonly role: MessageRole
  readonly parts: readonly Part[]
  /** The time given with the message; the record's time when absent. */
  readonly createdAt?: number
  readonly by?: string
  readonly native?: NativeRef
  readonly meta?: EventMeta
}

/** One assistant message per model step. */
export interface MessageStartedRecord {
  readonly type: 'message.started'
  readonly messageId: string
  readonly role: MessageRole
  readonly step?: number
  readonly by?: string
  readonly parentToolCallId?: string
  readonly native?: NativeRef
}

export interface MessageEndedRecord {
  readonly type: 'message.ended'
  readonly messageId: string
  readonly outcome: 'done' | 'interrupted'
  readonly finishReason?: FinishReason
  readonly usage?: UsageMetadata
  readonly error?: ErrorData
  readonly native?: NativeRef
}

export interface RunStartedRecord {
  readonly type: 'run.started'
  /** The caller chose the run's id. Stores look such runs up by id, so that no other run gets the same one. */
  readonly named?: true
  readonly runId: string
  readonly agentId: string
  /** Who started it: the id of a harness or of an SDK agent. Only that one goes on with it, also after a restart. */
  readonly door?: string
  readonly mode?: string
  readonly model?: string
  /** The rules in force at the start. A resumed run keeps at least their denies. */
  readonly rules: PermissionRules
  readonly requestContext?: JsonObject
  /** What the caller set for the turns of the run. */
  readonly turn?: TurnDefaults
}

export interface RunResumedRecord {
  readonly type: 'run.resumed'
  readonly runId: string
  readonly attempt: number
  readonly reason: 'crash' | 'answer' | 'takeover'
}

/** The run waits for answers and needs no process. */
export interface RunParkedRecord {
  readonly type: 'run.parked'
  readonly runId: string
  readonly waitIds: readonly string[]
}

export interface CancelReceipt {
  readonly how: 'clean' | 'killed' | 'gone'
  /** Calls that were open and were closed as aborted. */
  readonly calls: readonly string[]
  readonly orphansKilled: number
  /** Queue items that stay in the queue, held until the next user act. */
  readonly queued: readonly string[]
}

export interface RunCancelledRecord {
  readonly type: 'run.cancelled'
  readonly runId: string
  readonly receipt: CancelReceipt
}

/** `aborted`: somebody cancelled the run. `interrupted`: its process ended, and the run cannot be resumed. */
export type RunOutcome = 'complete' | 'aborted' | 'error' | 'interrupted'

export interface RunEndedRecord {
  readonly type: 'run.ended'
  readonly runId: string
  readonly outcome: RunOutcome
  readonly error?: ErrorData
  /** The answer as data, if the turn asked for one. */
  readonly output?: JsonValue
}

/** A process we started for a turn: what we need to find and end it after our own process died. */
export interface ProcessNote {
  readonly runTag: string
  readonly pid: number
  readonly startTime: string
  readonly bootId: string
}

/** One agent takes the floor. */
export interface TurnStartedRecord {
  readonly type: 'turn.started'
  readonly turnId: string
  readonly agentId: string
  readonly anchor?: string
}

/** A process was started for the turn. Written before the agent gets its task, so that recovery can find and end it. */
export interface TurnProcessRecord {
  readonly type: 'turn.process'
  readonly turnId: string
  readonly process: ProcessNote
}

/** Stands for the turn's single `finish`. */
export interface TurnEndedRecord {
  readonly type: 'turn.ended'
  readonly turnId: string
  readonly finishReason: FinishReason
  readonly outcome: RunOutcome
  /** Usage of the whole turn. The steps' usage is already counted. */
  readonly usage?: UsageMetadata
  /** The share of the usage that no step reported. */
  readonly increment?: UsageIncrement
  /** The limit that ended the turn. */
  readonly limit?: BudgetLimit
}

/** The request exactly as it was sent, so that its prefix is a function of the log. */
export interface RequestRef {
  readonly system?: BlobRef
  readonly tools?: BlobRef
  readonly model?: string
}

export interface StepStartedRecord {
  readonly type: 'step.started'
  readonly stepIndex: number
  readonly attempt?: number
  readonly request?: RequestRef
}

export interface StepEndedRecord {
  readonly type: 'step.ended'
  readonly stepIndex: number
  readonly finishReason: FinishReason
  readonly usage?: UsageIncrement
  /** Set when the attempt failed. Its text stays visible and leaves the model's context. */
  readonly error?: ErrorData
}

/** Committed before a tool runs. A call without a result after a crash is in doubt. */
export interface CallStartedRecord extends PartAddress {
  readonly type: 'call.started'
  readonly toolCallId: string
  readonly attempt: number
  readonly idempotencyKey: string
  /** Hash of agent, tool, definition, arguments and directory. */
  readonly hash?: string
  /** Hashes under which rules judged parts or other names of the call. */
  readonly judgedAs?: readonly string[]
  /** Hash of the tool's definition as it was when the call was allowed. */
  readonly definition?: string
  readonly procs?: readonly ProcessNote[]
}

export interface WaitOpenedRecord {
  readonly type: 'wait.opened'
  readonly wait: WaitRequest
  /** The tool call that waits, if one does. */
  readonly call?: PartAddress
  /** What the asking tool needs to go on. Apart from the wait, so that nobody who sees the wait gets it. */
  readonly state?: string
  /** Answered in the same transaction, with an answer given before: nobody is asked. */
  readonly answered?: true
}

export interface WaitAnsweredRecord {
  readonly type: 'wait.answered'
  readonly waitId: string
  readonly answer: Answer
  /** The asker is gone. The answer is kept, and used once when the same question is asked again. */
  readonly detached?: true
}

export interface WaitCancelledRecord {
  readonly type: 'wait.cancelled'
  readonly waitId: string
  readonly reason: WaitCancelReason
}

export interface WaitSupersededRecord {
  readonly type: 'wait.superseded'
  readonly waitId: string
  readonly byWaitId?: string
}

export interface QueueItem {
  readonly id: string
  /** `hand-off`: the message for the agent that gets the floor next. One per run, none outside a run. */
  readonly lane: 'follow-up' | 'steer' | 'hand-off'
  readonly parts: readonly Part[]
  readonly by?: string
  /** The agent that gets the item. Default: the thread's own. */
  readonly agentId?: string
  /** Who queued it, as in `run.started`. */
  readonly door?: string
  /** The id of the message it becomes. */
  readonly messageId?: string
  readonly requestContext?: JsonObject
  readonly turn?: TurnDefaults
}

export interface QueueAddedRecord {
  readonly type: 'queue.added'
  readonly item: QueueItem
  /** Puts the item at the front of the queue, e.g. when sending it failed. */
  readonly front?: true
}

export interface QueueRemovedRecord {
  readonly type: 'queue.removed'
  readonly itemId: string
  readonly reason: 'heard' | 'sent' | 'dropped'
}

/** After a cancel the queue is held until the next user act. */
export interface QueueHeldRecord {
  readonly type: 'queue.held'
  readonly held: boolean
}

/** An absent field means unchanged; `null` clears it. */
export interface ConfigChangedRecord {
  readonly type: 'config.changed'
  readonly mode?: string | null
  readonly model?: string | null
  readonly agentId?: string | null
  readonly title?: string | null
  readonly rules?: PermissionRules
  readonly grants?: Grants
  readonly yolo?: boolean
  readonly goal?: Goal | null
  /** Merged key by key into the thread's settings. */
  readonly settings?: { readonly [key: string]: JsonValue }
  /** The user's own state, merged key by key. Kept apart from settings so that a schema can never strip a rule. */
  readonly state?: { readonly [key: string]: JsonValue }
}

export interface TasksChangedRecord {
  readonly type: 'tasks.changed'
  readonly tasks: readonly TaskItem[]
}

/** A file that a turn changed, relative to the root. */
export interface CheckpointFile {
  readonly path: string
  readonly change: 'added' | 'changed' | 'removed'
}

/** The files that a turn changed in a folder. What puts them back is kept on this machine, by the id of the turn. */
export interface CheckpointMadeRecord {
  readonly type: 'checkpoint.made'
  readonly checkpointId: string
  readonly root: string
  readonly files: readonly CheckpointFile[]
}

export interface BindingChangedRecord {
  readonly type: 'binding.changed'
  readonly binding: Binding
}

export interface BindingRemovedRecord {
  readonly type: 'binding.removed'
  readonly agentId: string
}

/** What stands in for the older part of the conversation when a model is asked. */
export interface OmPointer {
  readonly generation: number
  /** The seq up to which messages are left out of the model's context. */
  readonly coversTo: number
  /** Hash of the blob with the observations or the summary; absent when turns were only dropped. */
  readonly blob?: string
  /** What the blob holds. Default: observations. */
  readonly holds?: 'summary'
  /** The seq up to which the blob holds content, if that is not `coversTo`. */
  readonly contentTo?: number
  /** How many messages were dropped since the blob was made. */
  readonly omitted?: number
  /** Messages up to `coversTo` that the model sees nevertheless, such as the task of the open run. */
  readonly keeps?: readonly string[]
  /** Messages that the model sees shortened: how many characters of each text, half of them from its end. */
  readonly shortened?: { readonly [messageId: string]: number }
}

/** Drops the messages up to `coversTo` from what the model sees. What stood in for older ones stays. */
export interface ContextCutRecord {
  readonly type: 'context.cut'
  readonly coversTo: number
  /** How many messages the cut drops. */
  readonly omitted: number
  /** The generation this makes. Ignored unless it follows the present one. */
  readonly generation: number
  /** See `OmPointer`; so is `shortened`. */
  readonly keeps?: readonly string[]
  readonly shortened?: { readonly [messageId: string]: number }
}

/** A summary takes the place of the messages up to `coversTo`. */
export interface CompactionRecord {
  readonly type: 'compaction'
  readonly summary: BlobRef
  readonly coversTo: number
  /** The generation this makes. Ignored unless it follows the present one. */
  readonly generation: number
  readonly tokensBefore?: number
  readonly tokensAfter?: number
}

/** A subagent works in a thread of its own. */
export interface ChildLink {
  /** The child's thread. */
  readonly thread: string
  readonly runId: string
  readonly agentId: string
  /** The call of this thread that started it. */
  readonly toolCallId?: string
  /** This thread does not wait for it. */
  readonly background?: true
}

export interface ChildStartedRecord {
  readonly type: 'child.started'
  readonly child: ChildLink
}

export interface ChildEndedRecord {
  readonly type: 'child.ended'
  readonly thread: string
  readonly runId: string
  readonly outcome: RunOutcome
  readonly usage?: UsageIncrement
}

/** The first record of a fork. It holds everything the fork keeps, so that folding it does not need the parent. */
export interface ForkRecord {
  readonly type: 'fork'
  readonly parent: string
  readonly at: number
  /** The parent's lineage up to and including `at`. */
  readonly lineage: StoredLineage
  readonly keep: {
    readonly mode: string | null
    readonly model: string | null
    readonly agentId: string | null
    readonly rules: PermissionRules
    readonly yolo: boolean
    readonly settings: JsonObject
    readonly tasks: readonly TaskItem[]
    readonly om: OmPointer | null
    /** Empty except for a forked subagent, which keeps the session's grants. */
    readonly grants: Grants
    /** The parent's bindings, as places to start a native fork from. */
    readonly origins: { readonly [agentId: string]: Binding }
  }
}

/** Moves the conversation to an earlier point of the stream or, as an un-rewind, to a later one. */
export interface RewindRecord {
  readonly type: 'rewind'
  readonly to: number
  /**
   * The lineage in force from here on, without the record's own open range. Absent when it equals the current lineage
   * up to `to`, so that the record stays small after a thousand rewinds.
   */
  readonly lineage?: StoredLineage
  /** As they were at `to`. The fold keeps no history to look them up in. */
  readonly tasks: readonly TaskItem[]
  readonly om: OmPointer | null
  readonly files?: { readonly checkpointId: string }
}

/** The content of `from`–`to` was overwritten everywhere it was kept. */
export interface ErasedRecord {
  readonly type: 'erased'
  readonly from: number
  readonly to: number
  readonly reason?: string
}

export interface OmCommittedRecord {
  readonly type: 'om.committed'
  readonly om: OmPointer
  /** Compare-and-swap: the generation this one replaces. */
  readonly replaces: number
}

/** A file as it is recorded. A large one is kept as a blob. */
export type RecordedFile = FileEvent & PartAddress

/** A tool's result as it is recorded: with the address of its call and the call's outcome. */
export type RecordedToolResult = ToolResultEvent &
  PartAddress & {
    /** Set instead of `result` when the result is large. */
    readonly resultRef?: BlobRef
    readonly call?: PartAddress
    readonly outcome?: CallOutcome
  }

/** Something worth keeping that changes no state: warnings, hand-overs, violations, scores of a run. */
export interface NoteRecord {
  readonly type: 'note'
  readonly kind:
    | 'info'
    | 'warning'
    | 'handover'
    | 'policy-violation'
    | 'receipt'
    | 'budget'
    | 'limit'
    | 'score'
    | 'feedback'
  readonly text: string
  readonly data?: JsonObject
}

/** The closed list of record bodies besides agent events. */
export type ControlRecord =
  | BatchRecord
  | MessageAddedRecord
  | MessageStartedRecord
  | MessageEndedRecord
  | RunStartedRecord
  | RunResumedRecord
  | RunParkedRecord
  | RunCancelledRecord
  | RunEndedRecord
  | TurnStartedRecord
  | TurnProcessRecord
  | TurnEndedRecord
  | StepStartedRecord
  | StepEndedRecord
  | CallStartedRecord
  | WaitOpenedRecord
  | WaitAnsweredRecord
  | WaitCancelledRecord
  | WaitSupersededRecord
  | QueueAddedRecord
  | QueueRemovedRecord
  | QueueHeldRecord
  | ConfigChangedRecord
  | TasksChangedRecord
  | CheckpointMadeRecord
  | BindingChangedRecord
  | BindingRemovedRecord
  | ForkRecord
  | RewindRecord
  | ErasedRecord
  | OmCommittedRecord
  | ContextCutRecord
  | CompactionRecord
  | ChildStartedRecord
  | ChildEndedRecord
  | NoteRecord
