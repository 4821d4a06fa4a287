import { EvenerError } from './errors.ts'
import type { JsonObject } from './json.ts'
import { RECORD_VERSIONS, type LogRecord, type RecordBody, type RecordType } from './record.ts'

/** Turns a body of version `n` into one of version `n + 1`. Pure, and never removed: old logs stay as they are. */
export type Upcaster = (body: JsonObject) => JsonObject

/**
 * By the type a record is stored as; the entry at index 0 lifts version 1 to 2, and so on. What comes out may be of
 * another type: then that type's entries go on from there.
 */
export type UpcasterTable = { readonly [type: string]: readonly Upcaster[] }

/** How records are read: which versions there are today, and how older ones are lifted to them. */
export interface RecordFormat {
  /** The current version of each type that is written today. */
  readonly versions: { readonly [type: string]: number }
  readonly upcasters: UpcasterTable
  /** What types were called before, and what they are called now. Who looks for the one finds the other. */
  readonly renamed: { readonly [type: string]: string }
}

export interface StoredRecord extends Omit<LogRecord, 'body'> {
  readonly body: JsonObject
}

/** The format of this release. */
export const RECORD_FORMAT: RecordFormat = {
  versions: RECORD_VERSIONS,
  upcasters: {
    // Version 1 always named the lineage, which version 2 may.
    rewind: [(body) => body],
  },
  renamed: {},
}

/** Reads a stored record as this version understands it. */
export function upcast(stored: StoredRecord, format: RecordFormat = RECORD_FORMAT): LogRecord {
  if (!(Number.isInteger(stored.v) && stored.v >= 1)) throw damaged(stored, `it has version ${stored.v}`)
  let { v, body } = stored
  for (;;) {
    const type = typeOf(body)
    const current = own(format.versions, type)
    if (v === current) return { ...stored, v, body: body as unknown as RecordBody & { type: RecordType } }
    const lift = own(format.upcasters, type)?.[v - 1]
    if (lift === undefined || (current !== undefined && v > current)) {
      // A gap below the current version would be a mistake of ours; the tests of the format find it.
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

/** The types that a record may be stored as which is read as this one. */
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

/** Not what a type finds that is called like a property of every object. */
function own<Value>(of: { readonly [key: string]: Value }, key: string): Value | undefined {
  return Object.hasOwn(of, key) ? of[key] : undefined
}

function unknown({ body, seq, stream, v }: StoredRecord, current: number | undefined): EvenerError {
  const type = typeOf(body)
  const known = current === undefined ? {} : { known: current }
  return new EvenerError(
    'newer-version',
    `Record ${seq} of ${stream} is of type "${type}" version ${v}, which this version of Evener does not know.`,
    {
      hint: 'Upgrade: open it with the version that wrote it, or a newer one. It was left as it is.',
      details: { stream, seq, type, v, ...known },
    },
  )
}

function damaged({ seq, stream }: StoredRecord, why: string, cause?: unknown): EvenerError {
  return new EvenerError('corrupt', `Record ${seq} of ${stream} is damaged: ${why}.`, {
    hint: 'Other threads are not affected. Restore this one from a backup, or delete it.',
    details: { stream, seq },
    ...(cause === undefined ? {} : { cause }),
  })
}
