import type { ErrorEvent, ReasoningDeltaEvent, TextDeltaEvent, ToolCallEvent } from './agent-event.ts'
import type { ControlRecord, PartAddress, RecordedFile, RecordedToolResult } from './control-record.ts'

/** A part that has ended: the whole text, the parsed arguments, the result. Replaces the part's batches. */
export type SealedPart =
  | ((TextDeltaEvent | ReasoningDeltaEvent | ToolCallEvent) & PartAddress)
  | RecordedFile
  | RecordedToolResult

export type RecordBody = SealedPart | ErrorEvent | ControlRecord

export type RecordType = RecordBody['type']

/** One row of the log. `seq` only rises within a stream and is never used twice. */
export interface LogRecord<Body extends RecordBody = RecordBody> {
  /** Version of the body's type. */
  readonly v: number
  readonly stream: string
  readonly seq: number
  /** The seq of the oldest batch this sealed part replaced. */
  readonly first?: number
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly run?: string
  readonly turn?: string
  /** The command or record that led to this one. */
  readonly cause?: string
  /** The principal or agent that did it. */
  readonly by?: string
  readonly body: Body
}

/** The current version of each type. Raised together with an upcaster in `upcast.ts`. */
export const RECORD_VERSIONS: Readonly<Record<RecordType, number>> = {
  'text-delta': 1,
  'reasoning-delta': 1,
  file: 1,
  'tool-call': 1,
  'tool-result': 1,
  error: 1,
  batch: 1,
  'message.added': 1,
  'message.started': 1,
  'message.ended': 1,
  'run.started': 1,
  'run.resumed': 1,
  'run.parked': 1,
  'run.cancelled': 1,
  'run.ended': 1,
  'turn.started': 1,
  'turn.process': 1,
  'turn.ended': 1,
  'step.started': 1,
  'step.ended': 1,
  'call.started': 1,
  'wait.opened': 1,
  'wait.answered': 1,
  'wait.cancelled': 1,
  'wait.superseded': 1,
  'queue.added': 1,
  'queue.removed': 1,
  'queue.held': 1,
  'config.changed': 1,
  'tasks.changed': 1,
  'checkpoint.made': 1,
  'binding.changed': 1,
  'binding.removed': 1,
  fork: 1,
  rewind: 1,
  erased: 1,
  'om.committed': 1,
  'context.cut': 1,
  compaction: 1,
  'child.started': 1,
  'child.ended': 1,
  note: 1,
}

/**
 * Record types that must be committed before what follows them happens. Records of other types may share the
 * transaction of the next barrier.
 */
export const BARRIER_TYPES: ReadonlySet<RecordType> = new Set<RecordType>([
  'message.added',
  'wait.opened',
  'wait.answered',
  'wait.cancelled',
  'wait.superseded',
  'turn.process',
  'call.started',
  'tool-result',
  'config.changed',
  'queue.added',
  'run.started',
  'run.cancelled',
  'run.ended',
  'fork',
  'rewind',
  'erased',
  'om.committed',
  'context.cut',
  'compaction',
  'child.started',
  'child.ended',
])

export function isSealedPart(body: RecordBody): body is SealedPart {
  return (
    body.type === 'text-delta' ||
    body.type === 'reasoning-delta' ||
    body.type === 'file' ||
    body.type === 'tool-call' ||
    body.type === 'tool-result'
  )
}
