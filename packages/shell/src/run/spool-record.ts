import type { JsonObject } from '@inspan/protocol'
import type { Line } from './line.ts'

export type SpoolStream = 'stdout' | 'stderr'

interface SpoolLineBase {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly stream: SpoolStream
  /** The line ending, if it was not a single line feed. */
  readonly eol?: '\r\n' | ''
  /** A UTF-8 byte order mark preceded the line. */
  readonly bom?: true
  /** The number of this piece of a line longer than `maxLineBytes`. */
  readonly piece?: number
}

export interface SpoolTextRecord extends SpoolLineBase {
  readonly line: string
  /** The redactor changed the text. */
  readonly redacted?: true
}

/** A line that is not UTF-8. */
export interface SpoolBytesRecord extends SpoolLineBase {
  readonly base64: string
}

/** A line that could not be redacted and is therefore withheld. */
export interface SpoolWithheldRecord extends SpoolLineBase {
  readonly withheld: string
  readonly bytes: number
}

/** The end of a spool that has reached its size limit. */
export interface SpoolLimitRecord {
  readonly at: number
  readonly limit: number
  readonly notRecorded: { readonly lines: number; readonly bytes: number }
  /** False when the writer died before it could write the final numbers: they are then a minimum. */
  readonly final: boolean
}

/** Something in the file that is no record, such as the half-written end left by a crash or a full disk. */
export interface SpoolDamagedRecord {
  readonly damaged: string
}

/** A note about the run itself, from its host: something the streams do not show. */
export interface SpoolNoteRecord {
  readonly at: number
  readonly note: JsonObject
}

export type SpoolLineRecord = SpoolTextRecord | SpoolBytesRecord | SpoolWithheldRecord
export type SpoolRecord = SpoolLineRecord | SpoolLimitRecord | SpoolNoteRecord | SpoolDamagedRecord

export type SpoolRedactor = (line: string) => string

export function toRecord(stream: SpoolStream, line: Line, at: number, redact?: SpoolRedactor): SpoolLineRecord {
  const base: SpoolLineBase = {
    at,
    stream,
    ...(line.ending !== '\n' && { eol: line.ending }),
    ...(line.hasBom && { bom: true }),
    ...(line.partial && { piece: line.piece }),
  }
  if (redact !== undefined) {
    let redacted: string
    try {
      redacted = redact(line.text)
    } catch {
      return { ...base, withheld: 'the redactor failed', bytes: line.rawLength }
    }
    if (redacted !== line.text) return { ...base, line: redacted, redacted: true }
  }
  return line.isUtf8 ? { ...base, line: line.text } : { ...base, base64: line.bytes.toString('base64') }
}

/** Returns exactly the bytes that were read, with the line ending. Not for what the redactor changed or withheld. */
export function recordedBytes(record: SpoolTextRecord | SpoolBytesRecord): Buffer {
  const content = 'line' in record ? Buffer.from(record.line) : Buffer.from(record.base64, 'base64')
  return Buffer.concat([Buffer.from(record.bom ? '\uFEFF' : ''), content, Buffer.from(record.eol ?? '\n')])
}

export function parseRecord(text: string): SpoolRecord {
  try {
    const value: unknown = JSON.parse(text)
    if (isRecord(value)) return value
  } catch {
    return { damaged: text }
  }
  return { damaged: text }
}

function isRecord(value: unknown): value is SpoolLineRecord | SpoolLimitRecord | SpoolNoteRecord {
  if (typeof value !== 'object' || value === null || !('at' in value) || typeof value.at !== 'number') return false
  if ('limit' in value) return typeof value.limit === 'number' && 'notRecorded' in value
  if ('note' in value) return typeof value.note === 'object' && value.note !== null
  if (!('stream' in value) || (value.stream !== 'stdout' && value.stream !== 'stderr')) return false
  if ('line' in value) return typeof value.line === 'string'
  if ('base64' in value) return typeof value.base64 === 'string'
  return 'withheld' in value && typeof value.withheld === 'string'
}
