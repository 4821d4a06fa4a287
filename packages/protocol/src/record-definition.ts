import type { BodyOf, FieldTypes, RecordType } from './control-record.ts'
import type { RecordBody, SealedPart } from './record.ts'
import { CONTROL_RECORDS } from './records/control.ts'
import { EVENT_RECORDS } from './records/events.ts'
import type { KindOf, Redaction } from './redact.ts'

/** Everything about a type of record that does not depend on a reader: the reducer, the schemas and stores use it. */
export interface RecordDefinition<Body> {
  /** The current version. Raised together with an upcaster in `upcast.ts`. */
  readonly v: number
  /** Committed before what follows it happens. Other records may share the transaction of the next barrier. */
  readonly barrier?: true
  /** Holds a part that has ended, and replaces the batches of that part. */
  readonly sealed?: true
  /** The fields of the agent event that the record holds, besides those that all events share. */
  readonly event?: FieldWords
  /** The record's own fields. */
  readonly fields: FieldWords
  /**
   * Returns the body without what people or agents said in it. Its structure stays, so that the log still folds.
   * Configuration (mode, rules, settings) is no content and stays too. Absent: there is no content.
   */
  readonly erase?: (body: Body) => Body
  /**
   * Returns the body as it may be written: what agents and tools said, and what follows from it, is redacted; what
   * users and applications said is not. Absent: nothing of it is said by agents or tools.
   */
  readonly redact?: (body: Body, redaction: Redaction, kindOf: KindOf) => Body
}

type FieldTypeName = keyof FieldTypes

export type FieldWord =
  | FieldTypeName
  | `${FieldTypeName}[]`
  | `${FieldTypeName}|null`
  | `{${FieldTypeName}}`
  | readonly string[]
  | FieldWords

export interface FieldWords {
  readonly [name: string]: FieldWord
}

/**
 * The definition of each type. The tables have no annotation of their own because the types of bodies follow from them;
 * they are checked here.
 */
export const RECORDS: { readonly [Type in RecordType]: RecordDefinition<BodyOf<Type>> } = {
  ...EVENT_RECORDS,
  ...CONTROL_RECORDS,
}

const TYPES = Object.keys(RECORDS) as RecordType[]

/** The current version of each type. */
export const RECORD_VERSIONS: Readonly<Record<RecordType, number>> = Object.fromEntries(
  TYPES.map((type) => [type, RECORDS[type].v]),
) as Record<RecordType, number>

/**
 * Record types that must be committed before what follows them happens. Records of other types may share the
 * transaction of the next barrier.
 */
export const BARRIER_TYPES: ReadonlySet<RecordType> = new Set(TYPES.filter((type) => RECORDS[type].barrier === true))

const SEALED_TYPES: ReadonlySet<RecordType> = new Set(TYPES.filter((type) => RECORDS[type].sealed === true))

export function isSealedPart(body: RecordBody): body is SealedPart {
  return SEALED_TYPES.has(body.type)
}

/** Returns the definition of a body's own type. */
function definitionOf(body: RecordBody): RecordDefinition<RecordBody> {
  return RECORDS[body.type] as RecordDefinition<RecordBody>
}

/** Returns a record's body without content (see `RecordDefinition.erase`). */
export function eraseBody(body: RecordBody): RecordBody {
  return definitionOf(body).erase?.(body) ?? body
}

/** Returns a record's body as it may be written (see `RecordDefinition.redact`). */
export function redactBody(body: RecordBody, redaction: Redaction, kindOf: KindOf): RecordBody {
  return definitionOf(body).redact?.(body, redaction, kindOf) ?? body
}
