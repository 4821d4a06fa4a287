import { InspanError, type JsonObject } from '@inspan/protocol'
import type { LogRecord } from '@inspan/protocol/log'
import { upcast, type RecordFormat, type StoredRecord } from '@inspan/protocol/store'

/** A record as it is stored. */
export interface RecordRow {
  readonly seq: number
  readonly first: number | null
  readonly type: string
  readonly v: number
  readonly at: number
  /** `run`, `turn`, `cause` and `by` as JSON, if there are any. */
  readonly extra: string | null
  readonly body: string
}

/** Returns the record of a row. `whole` restores what a store keeps apart from the row. */
export function recordFromRow(
  stream: string,
  row: RecordRow,
  format: RecordFormat,
  whole: (body: JsonObject) => JsonObject = (body) => body,
): LogRecord {
  const stored: StoredRecord = {
    v: row.v,
    stream,
    seq: row.seq,
    ...(row.first === null ? {} : { first: row.first }),
    at: row.at,
    ...(row.extra === null ? {} : (parseJson(row.extra, stream, row.seq) as Partial<LogRecord>)),
    body: whole(parseJson(row.body, stream, row.seq)),
  }
  return upcast(stored, format)
}

function parseJson(text: string, stream: string, seq: number): JsonObject {
  const value = tryParse(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  throw damaged(`Record ${seq} of ${stream}`, { stream, seq })
}

/** Returns `undefined` when the text is not JSON: the caller, who knows what it was, reports the damaged row. */
export function tryParse(text: unknown): unknown {
  if (typeof text !== 'string') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function parseOrDamaged(text: unknown, what: string, details: Readonly<Record<string, unknown>>): unknown {
  const value = tryParse(text)
  if (value === undefined) throw damaged(what, details)
  return value
}

function damaged(what: string, details: Readonly<Record<string, unknown>>): InspanError {
  return new InspanError('corrupt', `${what} is damaged.`, {
    hint: 'Other threads are not affected. Restore this one from a backup, or delete it.',
    details,
  })
}
