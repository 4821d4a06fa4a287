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
import type { CONTROL_FIELDS } from './record-fields.ts'
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

export interface CancelReceipt {
  readonly how: 'clean' | 'killed' | 'gone'
  /** Calls that were open and were closed as aborted. */
  readonly calls: readonly string[]
  readonly orphansKilled: number
  /** Queue items that stay in the queue, held until the next user act. */
  readonly queued: readonly string[]
}

/** `aborted`: somebody cancelled the run. `interrupted`: its process ended, and the run cannot be resumed. */
export type RunOutcome = 'complete' | 'aborted' | 'error' | 'interrupted'

/** A process we started for a turn: what we need to find and end it after our own process died. */
export interface ProcessNote {
  readonly runTag: string
  readonly pid: number
  readonly startTime: string
  readonly bootId: string
}

/** The request exactly as it was sent, so that its prefix is a function of the log. */
export interface RequestRef {
  readonly system?: BlobRef
  readonly tools?: BlobRef
  readonly model?: string
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

/** A file that a turn changed, relative to the root. */
export interface CheckpointFile {
  readonly path: string
  readonly change: 'added' | 'changed' | 'removed'
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

/** The words of `CONTROL_FIELDS`. */
export interface FieldTypes {
  readonly text: string
  readonly number: number
  /** A place in a stream. */
  readonly seq: number
  readonly flag: boolean
  readonly true: true
  readonly json: JsonValue
  readonly object: JsonObject
  readonly Answer: Answer
  readonly BatchEvent: BatchEvent
  readonly Binding: Binding
  readonly BlobRef: BlobRef
  readonly BudgetLimit: BudgetLimit
  readonly CancelReceipt: CancelReceipt
  readonly CheckpointFile: CheckpointFile
  readonly ChildLink: ChildLink
  readonly ErrorData: ErrorData
  readonly EventMeta: EventMeta
  readonly FinishReason: FinishReason
  readonly Goal: Goal
  readonly Grants: Grants
  readonly MessageRole: MessageRole
  readonly NativeRef: NativeRef
  readonly OmPointer: OmPointer
  readonly Part: Part
  readonly PartAddress: PartAddress
  readonly PermissionRules: PermissionRules
  readonly ProcessNote: ProcessNote
  readonly QueueItem: QueueItem
  readonly RequestRef: RequestRef
  readonly RunOutcome: RunOutcome
  readonly StoredLineage: StoredLineage
  readonly TaskItem: TaskItem
  readonly TurnDefaults: TurnDefaults
  readonly UsageIncrement: UsageIncrement
  readonly UsageMetadata: UsageMetadata
  readonly WaitCancelReason: WaitCancelReason
  readonly WaitRequest: WaitRequest
}

type FieldType<Word> = Word extends readonly (infer Choice)[]
  ? Choice
  : Word extends `${infer Item}[]`
    ? readonly FieldType<Item>[]
    : Word extends `${infer Value}|null`
      ? FieldType<Value> | null
      : Word extends `{${infer Value}}`
        ? { readonly [key: string]: FieldType<Value> }
        : Word extends keyof FieldTypes
          ? FieldTypes[Word]
          : Fields<Word>

type Fields<Words> = Flat<
  { readonly [Name in keyof Words as Name extends `${string}?` ? never : Name]: FieldType<Words[Name]> } & {
    readonly [Name in keyof Words as Name extends `${infer Known}?` ? Known : never]?: FieldType<Words[Name]>
  }
>

type Flat<T> = { readonly [Key in keyof T]: T[Key] }

export type ControlType = keyof typeof CONTROL_FIELDS

export type ControlBody<Type extends ControlType> = Flat<
  { readonly type: Type } & Fields<(typeof CONTROL_FIELDS)[Type]>
>

/** The closed list of record bodies besides agent events. */
export type ControlRecord = { readonly [Type in ControlType]: ControlBody<Type> }[ControlType]

export type MessageAddedRecord = ControlBody<'message.added'>
export type MessageStartedRecord = ControlBody<'message.started'>
export type MessageEndedRecord = ControlBody<'message.ended'>
export type RunStartedRecord = ControlBody<'run.started'>
export type RunResumedRecord = ControlBody<'run.resumed'>
export type RunParkedRecord = ControlBody<'run.parked'>
export type RunEndedRecord = ControlBody<'run.ended'>
export type TurnEndedRecord = ControlBody<'turn.ended'>
export type StepEndedRecord = ControlBody<'step.ended'>
export type CallStartedRecord = ControlBody<'call.started'>
export type WaitOpenedRecord = ControlBody<'wait.opened'>
export type WaitAnsweredRecord = ControlBody<'wait.answered'>
export type QueueAddedRecord = ControlBody<'queue.added'>
export type ConfigChangedRecord = ControlBody<'config.changed'>
export type ContextCutRecord = ControlBody<'context.cut'>
export type ChildEndedRecord = ControlBody<'child.ended'>
export type ForkRecord = ControlBody<'fork'>
export type RewindRecord = ControlBody<'rewind'>
export type ErasedRecord = ControlBody<'erased'>
export type NoteRecord = ControlBody<'note'>
export type CheckpointMadeRecord = ControlBody<'checkpoint.made'>
