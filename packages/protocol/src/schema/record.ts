import { z } from 'zod'
import type {
  AgentEvent,
  ErrorEvent,
  FileEvent,
  ReasoningDeltaEvent,
  TextDeltaEvent,
  ToolCallEvent,
  ToolResultEvent,
} from '../agent-event.ts'
import type {
  BatchEvent,
  BodyOf,
  ControlRecord,
  ControlType,
  EventOf,
  EventRecordType,
  FieldTypes,
  RecordedFile,
  RecordedToolResult,
  RecordType,
} from '../control-record.ts'
import type { BudgetLimit } from '../driver.ts'
import type { LogRecord, RecordBody, SealedPart } from '../record.ts'
import { RECORDS, type FieldWord, type FieldWords } from '../record-definition.ts'
import { CONTROL_RECORDS } from '../records/control.ts'
import {
  eventMetaSchema,
  extras,
  finishEventSchema,
  nativeRefSchema,
  startEventSchema,
  stepFinishEventSchema,
  stepStartEventSchema,
  toolAnnotationsSchema,
  toolApprovalRequestEventSchema,
  toolCallDeltaEventSchema,
  toolProgressEventSchema,
} from './agent-event.ts'
import {
  blobRefSchema,
  errorDataSchema,
  finishReasonSchema,
  usageIncrementSchema,
  usageMetadataSchema,
} from './basics.ts'
import {
  answerSchema,
  bindingSchema,
  goalSchema,
  grantsSchema,
  permissionRulesSchema,
  storedLineageSchema,
  taskItemSchema,
  waitCancelReasonSchema,
  waitRequestSchema,
} from './control.ts'
import { turnDefaultsSchema } from './driver.ts'
import { exact, type Schema } from './exact.ts'
import { object, optional, seq, taggedUnion } from './fields.ts'
import { jsonObjectSchema, jsonValueSchema } from './json.ts'
import { callOutcomeSchema, messageRoleSchema, partSchema } from './message.ts'
import { partAddressSchema, processNoteSchema, recordedCallDelta, recordedProgress } from './part-record.ts'
import {
  cancelReceiptSchema,
  checkpointFileSchema,
  childLinkSchema,
  omPointerSchema,
  queueItemSchema,
  requestRefSchema,
  runOutcomeSchema,
} from './record-parts.ts'

/** What the words of definitions accept. */
const WORDS: { readonly [Word in keyof FieldTypes]: Schema<FieldTypes[Word]> } = {
  text: z.string(),
  number: z.number(),
  seq,
  flag: z.boolean(),
  true: z.literal(true),
  json: jsonValueSchema,
  object: jsonObjectSchema,
  Answer: answerSchema,
  // A part of it follows from the table itself.
  get BatchEvent() {
    return batchEventSchema
  },
  Binding: bindingSchema,
  BlobRef: blobRefSchema,
  BudgetLimit: exact<BudgetLimit>()(z.enum(['tokens', 'usd', 'ms'])),
  CallOutcome: callOutcomeSchema,
  CancelReceipt: cancelReceiptSchema,
  CheckpointFile: checkpointFileSchema,
  ChildLink: childLinkSchema,
  ErrorData: errorDataSchema,
  EventMeta: eventMetaSchema,
  FinishReason: finishReasonSchema,
  Goal: goalSchema,
  Grants: grantsSchema,
  MessageRole: messageRoleSchema,
  NativeRef: nativeRefSchema,
  OmPointer: omPointerSchema,
  Part: partSchema,
  PartAddress: partAddressSchema,
  PermissionRules: permissionRulesSchema,
  ProcessNote: processNoteSchema,
  QueueItem: queueItemSchema,
  RequestRef: requestRefSchema,
  RunOutcome: runOutcomeSchema,
  StoredLineage: storedLineageSchema,
  TaskItem: taskItemSchema,
  ToolAnnotations: toolAnnotationsSchema,
  TurnDefaults: turnDefaultsSchema,
  UsageIncrement: usageIncrementSchema,
  UsageMetadata: usageMetadataSchema,
  WaitCancelReason: waitCancelReasonSchema,
  WaitRequest: waitRequestSchema,
}

/** Reads a word as `FieldType` does. */
function fieldOf(word: FieldWord): z.ZodType {
  if (typeof word === 'string') return wordOf(word)
  return Array.isArray(word) ? z.enum(word as string[]) : object(fieldsOf(word as FieldWords))
}

function wordOf(word: string): z.ZodType {
  if (word.endsWith('[]')) return z.array(wordOf(word.slice(0, -'[]'.length)))
  if (word.endsWith('|null')) return z.nullable(wordOf(word.slice(0, -'|null'.length)))
  if (word.startsWith('{')) return z.record(z.string(), wordOf(word.slice(1, -1)))
  return WORDS[word as keyof FieldTypes]
}

function fieldsOf(words: FieldWords): { [name: string]: z.ZodType } {
  const fields = Object.entries(words).map(([name, word]) =>
    name.endsWith('?') ? [name.slice(0, -1), optional(fieldOf(word))] : [name, fieldOf(word)],
  )
  return Object.fromEntries(fields) as { [name: string]: z.ZodType }
}

/** Returns the schema of the agent event that records of a type hold. */
function eventSchema<Type extends EventRecordType>(type: Type): Schema<EventOf<Type>> {
  return object({ ...extras, type: z.literal(type), ...fieldsOf(RECORDS[type].event ?? {}) }) as unknown as Schema<
    EventOf<Type>
  >
}

function bodySchema<Type extends RecordType>(type: Type): Schema<BodyOf<Type>> {
  const { event, fields } = RECORDS[type]
  const held = event === undefined ? {} : { ...extras, ...fieldsOf(event) }
  return object({ type: z.literal(type), ...held, ...fieldsOf(fields) }) as unknown as Schema<BodyOf<Type>>
}

export const textDeltaEventSchema: Schema<TextDeltaEvent> = eventSchema('text-delta')
export const reasoningDeltaEventSchema: Schema<ReasoningDeltaEvent> = eventSchema('reasoning-delta')
export const fileEventSchema: Schema<FileEvent> = eventSchema('file')
export const toolCallEventSchema: Schema<ToolCallEvent> = eventSchema('tool-call')
export const toolResultEventSchema: Schema<ToolResultEvent> = eventSchema('tool-result')
export const errorEventSchema: Schema<ErrorEvent> = eventSchema('error')

export const agentEventSchema: Schema<AgentEvent> = exact<AgentEvent>()(
  taggedUnion([
    startEventSchema,
    textDeltaEventSchema,
    reasoningDeltaEventSchema,
    fileEventSchema,
    toolCallEventSchema,
    toolCallDeltaEventSchema,
    toolApprovalRequestEventSchema,
    toolResultEventSchema,
    toolProgressEventSchema,
    stepStartEventSchema,
    stepFinishEventSchema,
    errorEventSchema,
    finishEventSchema,
  ]),
)

const textDelta: Schema<BodyOf<'text-delta'>> = bodySchema('text-delta')
const reasoningDelta: Schema<BodyOf<'reasoning-delta'>> = bodySchema('reasoning-delta')
export const recordedFileSchema: Schema<RecordedFile> = bodySchema('file')
export const recordedToolResultSchema: Schema<RecordedToolResult> = bodySchema('tool-result')

export const sealedPartSchema: Schema<SealedPart> = exact<SealedPart>()(
  taggedUnion([textDelta, reasoningDelta, recordedFileSchema, bodySchema('tool-call'), recordedToolResultSchema]),
)

export const batchEventSchema: Schema<BatchEvent> = exact<BatchEvent>()(
  taggedUnion([textDelta, reasoningDelta, recordedCallDelta, recordedProgress]),
)

type Titled<Type extends string> = Type extends `${infer Subject}.${infer Event}`
  ? `${Capitalize<Subject>}${Capitalize<Event>}`
  : Capitalize<Type>

/** By the name of the type: `RunParkedRecord` for `run.parked`. */
export type ControlSchemas = {
  readonly [Type in ControlType as `${Titled<Type>}Record`]: Schema<BodyOf<Type>>
}

function titled(type: string): string {
  return type
    .split('.')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

export const controlSchemas: ControlSchemas = Object.fromEntries(
  (Object.keys(CONTROL_RECORDS) as ControlType[]).map((type) => [`${titled(type)}Record`, bodySchema(type)]),
) as unknown as ControlSchemas

export const controlRecordSchema: Schema<ControlRecord> = taggedUnion(Object.values(controlSchemas))

/** Checks the known fields of a body strictly and keeps fields that a newer version added. */
export const recordBodySchema: Schema<RecordBody> = exact<RecordBody>()(
  taggedUnion([sealedPartSchema, errorEventSchema, controlRecordSchema]),
)

export const logRecordSchema: Schema<LogRecord> = exact<LogRecord>()(
  object({
    v: z.int().min(1),
    stream: z.string(),
    seq,
    first: optional(seq),
    at: z.number(),
    run: optional(z.string()),
    turn: optional(z.string()),
    cause: optional(z.string()),
    by: optional(z.string()),
    body: recordBodySchema,
  }),
)
