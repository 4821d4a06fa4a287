import type { BodyOf, RecordType, SealedType } from './control-record.ts'

/** A part that has ended: the whole text, the parsed arguments, the result. Replaces the part's batches. */
export type SealedPart = BodyOf<SealedType>

export type RecordBody = BodyOf<RecordType>

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
