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

/** Where a part record belongs. The public event leaves these open, a record never does. */
export interface PartAddress {
  readonly messageId: string
  readonly partId: string
}

export type BatchEvent = (TextDeltaEvent | ReasoningDeltaEvent | ToolCallDeltaEvent | ToolProgressEvent) & PartAddress

/** What accumulated of one open part since the last batch. Gone when the part is sealed. */
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
  /** When the message says so itself; otherwise it is the record's time. */
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
  /** Its id was given by whoever started it: stores find it by that, so that no other run gets the same. */
  readonly named?: true
  readonly runId: string
  readonly agentId: string
  readonly mode?: string
  readonly model?: string
  /** What was in force: a resumed run has at least these denies. */
  readonly rules: PermissionRules
  readonly requestContext?: JsonObject
  /** What whoever started the run wanted for its turns. */
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
  /** Calls that were open and are closed as aborted. */
  readonly calls: readonly string[]
  readonly orphansKilled: number
  /** Queue items that stay, held until the next user act. */
  readonly queued: readonly string[]
}

export interface RunCancelledRecord {
  readonly type: 'run.cancelled'
  readonly runId: string
  readonly receipt: CancelReceipt
}

/** `aborted`: somebody cancelled it. `interrupted`: its process ended, and it cannot be gone on with. */
export type RunOutcome = 'complete' | 'aborted' | 'error' | 'interrupted'

export interface RunEndedRecord {
  readonly type: 'run.ended'
  readonly runId: string
  readonly outcome: RunOutcome
  readonly error?: ErrorData
  /** The answer as data, where that was asked for. */
  readonly output?: JsonValue
}

/** A process we started for a turn: enough to find and end it after we died. */
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

/** A process was started for the turn. Written before the agent is told its task, so that it can be found and ended. */
export interface TurnProcessRecord {
  readonly type: 'turn.process'
  readonly turnId: string
  readonly process: ProcessNote
}

/** Stands for the turn's one `finish`. */
export interface TurnEndedRecord {
  readonly type: 'turn.ended'
  readonly turnId: string
  readonly finishReason: FinishReason
  readonly outcome: RunOutcome
  /** Of the whole turn: the steps have been counted already. */
  readonly usage?: UsageMetadata
  /** What no step reported. */
  readonly increment?: UsageIncrement
  /** The limit that ended the turn. */
  readonly limit?: BudgetLimit
}

/** The request as it was really sent, so that its prefix is a function of the log. */
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
  /** The attempt failed: its text stays visible and leaves the model's context. */
  readonly error?: ErrorData
}

/** Committed before a tool runs: what is found without a result afterwards is in doubt. */
export interface CallStartedRecord extends PartAddress {
  readonly type: 'call.started'
  readonly toolCallId: string
  readonly attempt: number
  readonly idempotencyKey: string
  /** Hash of agent, tool, definition, arguments and directory. */
  readonly hash?: string
  /** Hashes of what else rules were asked about. */
  readonly judgedAs?: readonly string[]
  /** Hash of the tool's definition as it was when the call was allowed. */
  readonly definition?: string
  readonly procs?: readonly ProcessNote[]
}

export interface WaitOpenedRecord {
  readonly type: 'wait.opened'
  readonly wait: WaitRequest
  /** The tool call that waits, if it is one. */
  readonly call?: PartAddress
}

export interface WaitAnsweredRecord {
  readonly type: 'wait.answered'
  readonly waitId: string
  readonly answer: Answer
  /** Whoever asked is gone: the answer is kept for when the same is asked again, once. */
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
  /** `hand-off`: what the agent is told that takes the floor of the run next. One in a run, and none outside of one. */
  readonly lane: 'follow-up' | 'steer' | 'hand-off'
  readonly parts: readonly Part[]
  readonly by?: string
  /** The agent that is to hear it; the thread's own when absent. */
  readonly agentId?: string
  /** The id of the message it becomes. */
  readonly messageId?: string
  readonly requestContext?: JsonObject
  readonly turn?: TurnDefaults
}

export interface QueueAddedRecord {
  readonly type: 'queue.added'
  readonly item: QueueItem
  /** Put at the front: an item whose sending failed. */
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

/** Absent means unchanged; `null` clears. */
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
  /** Merged key by key. */
  readonly settings?: { readonly [key: string]: JsonValue }
  /** The user's own state, merged key by key. Kept apart from settings so that a schema can never strip a rule. */
  readonly state?: { readonly [key: string]: JsonValue }
}

export interface TasksChangedRecord {
  readonly type: 'tasks.changed'
  readonly tasks: readonly TaskItem[]
}

export interface CheckpointMadeRecord {
  readonly type: 'checkpoint.made'
  readonly checkpointId: string
  readonly messageId?: string
  readonly ref: JsonObject
}

export interface BindingChangedRecord {
  readonly type: 'binding.changed'
  readonly binding: Binding
}

export interface BindingRemovedRecord {
  readonly type: 'binding.removed'
  readonly agentId: string
}

/** The pointer to the newest observational memory this thread sees. */
export interface OmPointer {
  readonly generation: number
  /** The seq up to which messages are covered by observations. */
  readonly coversTo: number
  /** Hash of the blob that holds the observations. */
  readonly blob: string
}

/** The first record of a fork. It holds what is kept, so that the fork folds without reading its parent. */
export interface ForkRecord {
  readonly type: 'fork'
  readonly parent: string
  readonly at: number
  /** Up to and including `at`. */
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
    /** Only a forked subagent keeps the session's grants. */
    readonly grants: Grants
    /** Where a native fork may start from. */
    readonly origins: { readonly [agentId: string]: Binding }
  }
}

/** Moves the conversation to an earlier (or, as an un-rewind, a later) point of what the stream holds. */
export interface RewindRecord {
  readonly type: 'rewind'
  readonly to: number
  /**
   * The lineage that is in force from here on, without the record's own open range. Absent where it is what the thread
   * showed before, up to `to`: then the record is as small after a thousand rewinds as after one.
   */
  readonly lineage?: StoredLineage
  /** As they were at `to`: the fold itself keeps no history to look them up in. */
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

/** A file as it is recorded: a large one apart, as a blob. */
export type RecordedFile = FileEvent & PartAddress

/** A tool's result as it is recorded: with the call it answers and how that ended. */
export type RecordedToolResult = ToolResultEvent &
  PartAddress & {
    /** Set instead of `result` when the result is large. */
    readonly resultRef?: BlobRef
    readonly call?: PartAddress
    readonly outcome?: CallOutcome
  }

/** Something worth keeping that changes no state: warnings, hand-overs, violations, what people think of a run. */
export interface NoteRecord {
  readonly type: 'note'
  readonly kind: 'info' | 'warning' | 'handover' | 'policy-violation' | 'receipt' | 'budget' | 'score' | 'feedback'
  readonly text: string
  readonly data?: JsonObject
}

/** The closed list of what is recorded besides agent events. */
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
  | NoteRecord
