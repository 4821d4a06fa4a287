import { InspanError } from './errors.ts'
import type { JsonObject } from './json.ts'
import type { RecordType } from './control-record.ts'
import type { LogRecord, RecordBody } from './record.ts'
import { RECORD_VERSIONS } from './record-definition.ts'

/** Turns a body of version `n` into one of `n + 1`. Pure, and never removed, because old logs are not rewritten. */
export type Upcaster = (body: JsonObject) => JsonObject

/**
 * Upcasters by the stored type of a record. The entry at index 0 lifts version 1 to 2, and so on. If an upcaster
 * returns another type, the entries of that type continue from there.
 */
export type UpcasterTable = { readonly [type: string]: readonly Upcaster[] }

/** How records are read: the current versions, and how older ones are lifted to them. */
export interface RecordFormat {
  /** The current version of each type that is written today. */
  readonly versions: { readonly [type: string]: number }
  readonly upcasters: UpcasterTable
  /** Old type names and what they are called now. A search for the new name also finds records with the old one. */
  readonly renamed: { readonly [type: string]: string }
}

export interface StoredRecord extends Omit<LogRecord, 'body'> {
  readonly body: JsonObject
}

/** The format of this release. */
export const RECORD_FORMAT: RecordFormat = {
  versions: RECORD_VERSIONS,
  upcasters: {},
  renamed: {},
}

/** Reads a stored record as one of the current version. */
export function upcast(stored: StoredRecord, format: RecordFormat = RECORD_FORMAT): LogRecord {
  if (!(Number.isInteger(stored.v) && stored.v >= 1)) throw damaged(stored, `it has version ${stored.v}`)
  let { v, body } = stored
  for (;;) {
    const type = typeOf(body)
    const current = own(format.versions, type)
    if (v === current) return { ...stored, v, body: body as unknown as RecordBody & { type: RecordType } }
    const lift = own(format.upcasters, type)?.[v - 1]
    if (lift === undefined || (current !== undefined && v > current)) {
      // A gap below the current version would be our mistake, which the format's tests find.
      throw unknown(stored, current)
    }
    try {
      body = lift(body)
    } catch (error) {
      throw damaged(stored, `it cannot be read as "${type}" version ${v}`, error)
    }
    v++
  }
}

/** Returns all types a record of this type may be stored as. */
export function storedTypes(type: string, { renamed }: RecordFormat): readonly string[] {
  const types = [type]
  for (const name of types) {
    for (const [before, now] of Object.entries(renamed)) if (now === name && !types.includes(before)) types.push(before)
  }
  return types
}

function typeOf(body: JsonObject): string {
  return typeof body['type'] === 'string' ? body['type'] : '?'
}

/** Looks up own keys only, so that a type named like a property of `Object.prototype` finds nothing. */
function own<Value>(of: { readonly [key: string]: Value }, key: string): Value | undefined {
  return Object.hasOwn(of, key) ? of[key] : undefined
}

function unknown({ body, seq, stream, v }: StoredRecord, current: number | undefined): InspanError {
  const type = typeOf(body)
  const known = current === undefined ? {} : { known: current }
  return new InspanError(
    'newer-version',
    `Record ${seq} of ${stream} is of type "${type}" version ${v}, which this version of Inspan does not know.`,
    {
      hint: 'Upgrade: open it with the version that wrote it, or a newer one. It was left as it is.',
      details: { stream, seq, type, v, ...known },
    },
  )
}

function damaged({ seq, stream }: StoredRecord, why: string, cause?: unknown): InspanError {
  return new InspanError('corrupt', `Record ${seq} of ${stream} is damaged: ${why}.`, {
    hint: 'Other threads are not affected. Restore this one from a backup, or delete it.',
    details: { stream, seq },
    ...(cause === undefined ? {} : { cause }),
  })
}
