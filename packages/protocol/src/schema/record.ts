import { z } from 'zod'
import type { ControlBody, ControlRecord, ControlType, FieldTypes } from '../control-record.ts'
import type { BudgetLimit } from '../driver.ts'
import type { LogRecord, RecordBody } from '../record.ts'
import { CONTROL_FIELDS } from '../record-fields.ts'
import { errorEventSchema, eventMetaSchema, nativeRefSchema } from './agent-event.ts'
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
import { messageRoleSchema, partSchema } from './message.ts'
import { batchEventSchema, partAddressSchema, processNoteSchema, sealedPartSchema } from './part-record.ts'
import {
  cancelReceiptSchema,
  checkpointFileSchema,
  childLinkSchema,
  omPointerSchema,
  queueItemSchema,
  requestRefSchema,
  runOutcomeSchema,
} from './record-parts.ts'

/** What the words of `CONTROL_FIELDS` accept. */
const WORDS: { readonly [Word in keyof FieldTypes]: Schema<FieldTypes[Word]> } = {
  text: z.string(),
  number: z.number(),
  seq,
  flag: z.boolean(),
  true: z.literal(true),
  json: jsonValueSchema,
  object: jsonObjectSchema,
  Answer: answerSchema,
  BatchEvent: batchEventSchema,
  Binding: bindingSchema,
  BlobRef: blobRefSchema,
  BudgetLimit: exact<BudgetLimit>()(z.enum(['tokens', 'usd', 'ms'])),
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
  TurnDefaults: turnDefaultsSchema,
  UsageIncrement: usageIncrementSchema,
  UsageMetadata: usageMetadataSchema,
  WaitCancelReason: waitCancelReasonSchema,
  WaitRequest: waitRequestSchema,
}

type Word = string | readonly string[] | Words
interface Words {
  readonly [name: string]: Word
}

/** Reads a word as `FieldType` does. */
function fieldOf(word: Word): z.ZodType {
  if (Array.isArray(word)) return z.enum(word as string[])
  if (typeof word === 'object') return object(fieldsOf(word as Words))
  if (word.endsWith('[]')) return z.array(fieldOf(word.slice(0, -'[]'.length)))
  if (word.endsWith('|null')) return z.nullable(fieldOf(word.slice(0, -'|null'.length)))
  if (word.startsWith('{')) return z.record(z.string(), fieldOf(word.slice(1, -1)))
  return WORDS[word as keyof FieldTypes]
}

function fieldsOf(words: Words): { [name: string]: z.ZodType } {
  const fields = Object.entries(words).map(([name, word]) =>
    name.endsWith('?') ? [name.slice(0, -1), optional(fieldOf(word))] : [name, fieldOf(word)],
  )
  return Object.fromEntries(fields) as { [name: string]: z.ZodType }
}

type Titled<Type extends string> = Type extends `${infer Subject}.${infer Event}`
  ? `${Capitalize<Subject>}${Capitalize<Event>}`
  : Capitalize<Type>

/** By the name of the type: `RunParkedRecord` for `run.parked`. */
export type ControlSchemas = {
  readonly [Type in ControlType as `${Titled<Type>}Record`]: Schema<ControlBody<Type>>
}

function titled(type: string): string {
  return type
    .split('.')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

export const controlSchemas: ControlSchemas = Object.fromEntries(
  Object.entries(CONTROL_FIELDS).map(([type, words]) => [
    `${titled(type)}Record`,
    object({ type: z.literal(type), ...fieldsOf(words) }),
  ]),
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
