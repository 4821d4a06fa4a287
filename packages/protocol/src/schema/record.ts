import { z } from 'zod'
import type { ControlRecord } from '../control-record.ts'
import type { LogRecord, RecordBody } from '../record.ts'
import { errorEventSchema } from './agent-event.ts'
import { exact, type Schema } from './exact.ts'
import { object, optional, seq, taggedUnion } from './fields.ts'
import { batchRecordSchema, callStartedRecordSchema, sealedPartSchema } from './part-record.ts'
import {
  messageAddedRecordSchema,
  messageEndedRecordSchema,
  messageStartedRecordSchema,
  runCancelledRecordSchema,
  runEndedRecordSchema,
  runParkedRecordSchema,
  runResumedRecordSchema,
  runStartedRecordSchema,
  stepEndedRecordSchema,
  stepStartedRecordSchema,
  turnEndedRecordSchema,
  turnProcessRecordSchema,
  turnStartedRecordSchema,
} from './run-record.ts'
import {
  bindingChangedRecordSchema,
  bindingRemovedRecordSchema,
  checkpointMadeRecordSchema,
  childEndedRecordSchema,
  childStartedRecordSchema,
  compactionRecordSchema,
  configChangedRecordSchema,
  contextCutRecordSchema,
  erasedRecordSchema,
  forkRecordSchema,
  noteRecordSchema,
  omCommittedRecordSchema,
  queueAddedRecordSchema,
  queueHeldRecordSchema,
  queueRemovedRecordSchema,
  rewindRecordSchema,
  tasksChangedRecordSchema,
  waitAnsweredRecordSchema,
  waitCancelledRecordSchema,
  waitOpenedRecordSchema,
  waitSupersededRecordSchema,
} from './thread-record.ts'

export const controlRecordSchema: Schema<ControlRecord> = exact<ControlRecord>()(
  taggedUnion([
    batchRecordSchema,
    messageAddedRecordSchema,
    messageStartedRecordSchema,
    messageEndedRecordSchema,
    runStartedRecordSchema,
    runResumedRecordSchema,
    runParkedRecordSchema,
    runCancelledRecordSchema,
    runEndedRecordSchema,
    turnStartedRecordSchema,
    turnProcessRecordSchema,
    turnEndedRecordSchema,
    stepStartedRecordSchema,
    stepEndedRecordSchema,
    callStartedRecordSchema,
    waitOpenedRecordSchema,
    waitAnsweredRecordSchema,
    waitCancelledRecordSchema,
    waitSupersededRecordSchema,
    queueAddedRecordSchema,
    queueRemovedRecordSchema,
    queueHeldRecordSchema,
    configChangedRecordSchema,
    tasksChangedRecordSchema,
    checkpointMadeRecordSchema,
    bindingChangedRecordSchema,
    bindingRemovedRecordSchema,
    forkRecordSchema,
    rewindRecordSchema,
    erasedRecordSchema,
    omCommittedRecordSchema,
    contextCutRecordSchema,
    compactionRecordSchema,
    childStartedRecordSchema,
    childEndedRecordSchema,
    noteRecordSchema,
  ]),
)

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
