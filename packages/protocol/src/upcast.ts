import { EvenerError } from './errors.ts'
import type { JsonObject } from './json.ts'
import { RECORD_VERSIONS, type LogRecord, type RecordBody, type RecordType } from './record.ts'

/** Turns a body of version `n` into one of version `n + 1`. Pure, and never removed: old logs stay as they are. */
export type Upcaster = (body: JsonObject) => JsonObject

/** By type; the entry at index 0 lifts version 1 to 2, and so on. */
export type UpcasterTable = { readonly [type: string]: readonly Upcaster[] }

export interface StoredRecord extends Omit<LogRecord, 'body'> {
  readonly body: JsonObject
}

export const UPCASTERS: UpcasterTable = {}

/** Reads a stored record as this version understands it. */
export function upcast(
  stored: StoredRecord,
  table: UpcasterTable = UPCASTERS,
  versions: Readonly<Record<string, number>> = RECORD_VERSIONS,
): LogRecord {
  if (!(Number.isInteger(stored.v) && stored.v >= 1)) {
    throw new EvenerError(
      'corrupt',
      `Record ${stored.seq} of ${stored.stream} is damaged: it has version ${stored.v}.`,
      {
        hint: 'Other threads are not affected. Restore this one from a backup, or delete it.',
        details: { stream: stored.stream, seq: stored.seq },
      },
    )
  }
  const type = typeof stored.body['type'] === 'string' ? stored.body['type'] : '?'
  const current = Object.hasOwn(versions, type) ? versions[type] : undefined
  if (current === undefined || stored.v > current) {
    throw new EvenerError(
      'newer-version',
      `Record ${stored.seq} of ${stored.stream} is of type "${type}" version ${stored.v}, which this version of Evener does not know.`,
      { hint: 'Open it with the version that wrote it, or a newer one.', details: { type, v: stored.v } },
    )
  }
  let body = stored.body
  for (let v = stored.v; v < current; v++) {
    const lift = table[type]?.[v - 1]
    if (lift === undefined) throw new Error(`No upcaster lifts "${type}" from version ${v} to ${v + 1}.`)
    body = lift(body)
  }
  return { ...stored, v: current, body: body as unknown as RecordBody & { type: RecordType } }
}
