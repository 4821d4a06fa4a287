import { constants } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { LineStream } from './line-stream.ts'
import { parseRecord } from './spool-record.ts'
import type { SpoolRecord } from './spool-record.ts'

/** Yields the records of a spool in order. A torn end, or anything else that is no record, comes as `{ damaged }`. */
export async function* readSpool(file: string): AsyncGenerator<SpoolRecord, void, undefined> {
  const lines = new LineStream(createReadStream(file), { maxLineBytes: constants.MAX_STRING_LENGTH })
  for await (const line of lines) yield parseRecord(line.text)
}
