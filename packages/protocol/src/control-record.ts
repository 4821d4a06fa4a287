import type {
  EventExtras,
  EventMeta,
  NativeRef,
  ReasoningDeltaEvent,
  TextDeltaEvent,
  ToolAnnotations,
  ToolCallDeltaEvent,
  ToolProgressEvent,
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
import type { CONTROL_RECORDS } from './records/control.ts'
import type { EVENT_RECORDS } from './records/events.ts'
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
  /** How many messages up to `coversTo` were dropped without being in the blob. */
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

/**
 * The words that name the type of a field in the definition of a record. `word[]` is a list, `word|null` may be `null`,
 * `{word}` is a map by any key, a list of texts is the choice of one of them, and a name that ends in `?` is an optional
 * field.
 */
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
  readonly CallOutcome: CallOutcome
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
  readonly ToolAnnotations: ToolAnnotations
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
          : Word extends string
            ? never
            : FieldsOf<Word>

type FieldsOf<Words> = Flat<
  { readonly [Name in keyof Words as Name extends `${string}?` ? never : Name]: FieldType<Words[Name]> } & {
    readonly [Name in keyof Words as Name extends `${infer Known}?` ? Known : never]?: FieldType<Words[Name]>
  }
>

type Flat<T> = { readonly [Key in keyof T]: T[Key] }

type EventRecords = typeof EVENT_RECORDS
type RecordDefinitions = EventRecords & typeof CONTROL_RECORDS

/** The types of records that hold an agent event. */
export type EventRecordType = keyof EventRecords

export type ControlType = keyof typeof CONTROL_RECORDS

export type RecordType = EventRecordType | ControlType

export type SealedType = {
  [Type in EventRecordType]: EventRecords[Type] extends { readonly sealed: true } ? Type : never
}[EventRecordType]

/** The agent event that records of a type hold. */
export type EventOf<Type extends EventRecordType> = Flat<
  { readonly type: Type } & EventExtras & FieldsOf<RecordDefinitions[Type]['event']>
>

/** The body of a type of record. */
export type BodyOf<Type extends RecordType> = Type extends EventRecordType
  ? Flat<EventOf<Type> & FieldsOf<RecordDefinitions[Type]['fields']>>
  : Flat<{ readonly type: Type } & FieldsOf<RecordDefinitions[Type]['fields']>>

/** The closed list of record bodies besides agent events. */
export type ControlRecord = BodyOf<ControlType>

/** A file as it is recorded. A large one is kept as a blob. */
export type RecordedFile = BodyOf<'file'>

/** A tool's result as it is recorded: with the address of its call and the call's outcome. */
export type RecordedToolResult = BodyOf<'tool-result'>

// Interfaces, because the functions of the definitions name them: an alias would be resolved too early.
export interface TextDeltaRecord extends BodyOf<'text-delta'> {}
export interface ReasoningDeltaRecord extends BodyOf<'reasoning-delta'> {}
export interface FileRecord extends BodyOf<'file'> {}
export interface ToolCallRecord extends BodyOf<'tool-call'> {}
export interface ToolResultRecord extends BodyOf<'tool-result'> {}
export interface ErrorRecord extends BodyOf<'error'> {}
export interface BatchRecord extends BodyOf<'batch'> {}
export interface MessageAddedRecord extends BodyOf<'message.added'> {}
export interface MessageEndedRecord extends BodyOf<'message.ended'> {}
export interface RunStartedRecord extends BodyOf<'run.started'> {}
export interface RunEndedRecord extends BodyOf<'run.ended'> {}
export interface StepStartedRecord extends BodyOf<'step.started'> {}
export interface StepEndedRecord extends BodyOf<'step.ended'> {}
export interface CallStartedRecord extends BodyOf<'call.started'> {}
export interface WaitOpenedRecord extends BodyOf<'wait.opened'> {}
export interface WaitAnsweredRecord extends BodyOf<'wait.answered'> {}
export interface QueueAddedRecord extends BodyOf<'queue.added'> {}
export interface ConfigChangedRecord extends BodyOf<'config.changed'> {}
export interface TasksChangedRecord extends BodyOf<'tasks.changed'> {}
export interface CheckpointMadeRecord extends BodyOf<'checkpoint.made'> {}
export interface CompactionRecord extends BodyOf<'compaction'> {}
export interface ForkRecord extends BodyOf<'fork'> {}
export interface RewindRecord extends BodyOf<'rewind'> {}
export interface NoteRecord extends BodyOf<'note'> {}

export type MessageStartedRecord = BodyOf<'message.started'>
export type RunResumedRecord = BodyOf<'run.resumed'>
export type RunParkedRecord = BodyOf<'run.parked'>
export type TurnEndedRecord = BodyOf<'turn.ended'>
export type ContextCutRecord = BodyOf<'context.cut'>
export type ChildEndedRecord = BodyOf<'child.ended'>
export type ErasedRecord = BodyOf<'erased'>
