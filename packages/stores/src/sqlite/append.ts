import type { SQLInputValue } from 'node:sqlite'
import type { Append, Fence, NewStream, StreamStatus } from '@inspan/protocol/store'
import { checkId, checkSeq } from '../shared/input-checks.ts'
import { notContiguous, prepareAppend, type PreparedAppend, type PreparedRecord } from '../shared/prepared-append.ts'
import { streamExists } from '../shared/store-errors.ts'
import { isBlobOf, putBlob } from './blobs.ts'
import { writeOutcome } from './commands.ts'
import type { SqliteConnection } from './connection.ts'
import { putHead } from './heads.ts'
import { IN_RANGE_SQL, keySql } from './keys.ts'
import { takeOutLarge } from './large-values.ts'
import { addNeeds } from './needs.ts'
import { findStream, insertStream, requireFence, requireStream, statusOf } from './streams.ts'
import { insertThread, updateThread } from './threads.ts'
import { putWait } from './waits.ts'

export function createStream(db: SqliteConnection, stream: NewStream): StreamStatus {
  const { info, start } = stream
  checkId('A stream id', info.id)
  checkSeq('`headSeq`', stream.headSeq, 0)
  if (start !== undefined) checkId('An owner id', start.owner)
  const prepared = start === undefined ? null : prepareAppend(info.id, start)
  return db.write(() => {
    if (findStream(db, info.id) !== undefined) throw streamExists(info.id)
    insertThread(db, insertStream(db, stream), stream)
    if (start !== undefined && prepared !== null) {
      writeAppend(db, info.id, { owner: start.owner, epoch: 1 }, prepared, start.thread)
    }
    return statusOf(requireStream(db, info.id))
  })
}

export function append(db: SqliteConnection, request: Append): number {
  const prepared = prepareAppend(request.stream, request)
  return db.write(() => writeAppend(db, request.stream, request.fence, prepared, request.thread))
}

const ADVANCE = 'UPDATE streams SET head_seq = ? WHERE no = ?'

/** Checks the id, too: if the stream was deleted meanwhile, the remembered number may belong to another one. */
const ADVANCE_KNOWN = `UPDATE streams SET head_seq = ?
  WHERE no = ? AND id = ? AND deleted = 0 AND head_seq = ? AND owner = ? AND epoch = ?`

/** The most records in one statement: running a statement costs as much as the row itself. */
const MOST_ROWS = 8

const PUT_RECORDS: readonly string[] = Array.from({ length: MOST_ROWS + 1 }, (_, rows) => {
  const row = `(${keySql('?', '?')}, ?, ?, ?, ?, ?, ?, ?)`
  const columns = 'key, first, type, v, at, extra, part, body'
  return `INSERT INTO records (${columns}) VALUES ${Array.from({ length: rows }, () => row).join(', ')}`
})

const DROP_BATCHES = `DELETE FROM records WHERE ${IN_RANGE_SQL} AND part = ?4`

const PUT_MESSAGE = `INSERT INTO messages (key, id, json) VALUES (${keySql('?1', '?2')}, ?3, ?4)
  ON CONFLICT DO UPDATE SET id = excluded.id, json = excluded.json`

function writeAppend(
  db: SqliteConnection,
  stream: string,
  fence: Fence,
  prepared: PreparedAppend,
  thread: Append['thread'],
): number {
  const { no, headSeq } = advanceKnown(db, stream, fence, prepared) ?? advance(db, stream, fence, prepared)
  writeRecords(db, stream, no, prepared.records)
  for (const { order, id, json } of prepared.messages) db.run(PUT_MESSAGE, no, order, id, viewRow(db, no, order, json))
  for (const wait of prepared.waits) putWait(db, no, { ...wait, wait: viewRow(db, no, wait.openedAt, wait.wait) })
  for (const blob of prepared.blobs) putBlob(db, no, blob)
  for (const outcome of prepared.outcomes) writeOutcome(db, outcome, headSeq)
  if (prepared.head !== null) putHead(db, no, prepared.head)
  if (thread !== undefined) updateThread(db, no, thread)
  return headSeq
}

interface Advanced {
  readonly no: number
  readonly headSeq: number
}

/**
 * Advances a stream that was written before. One statement checks all conditions and moves the head. If one does not
 * hold, `advance` says which.
 */
function advanceKnown(
  db: SqliteConnection,
  stream: string,
  fence: Fence,
  { expectedHead, newHead }: PreparedAppend,
): Advanced | undefined {
  const no = db.knownStream(stream)
  if (no === undefined || expectedHead === null || newHead === null) return undefined
  const moved = db.run(ADVANCE_KNOWN, newHead, no, stream, expectedHead, fence.owner, fence.epoch)
  return moved === 1 ? { no, headSeq: newHead } : undefined
}

function advance(
  db: SqliteConnection,
  stream: string,
  fence: Fence,
  { expectedHead, newHead }: PreparedAppend,
): Advanced {
  // Two statements are safe, since nobody else can write meanwhile. `UPDATE … RETURNING` would make a table of its own
  // each time, and take longer than both.
  const { no, head_seq: oldHead } = requireFence(db, stream, fence)
  if (expectedHead !== null && expectedHead !== oldHead) throw notContiguous(stream, oldHead, expectedHead + 1)
  if (newHead !== null) db.run(ADVANCE, newHead, no)
  db.rememberStream(stream, no)
  return { no, headSeq: newHead ?? oldHead }
}

function writeRecords(db: SqliteConnection, stream: string, no: number, records: readonly PreparedRecord[]): void {
  let rows = 0
  let values: SQLInputValue[] = []
  const writeRows = (): void => {
    if (rows > 0) db.run(PUT_RECORDS[rows] as string, ...values)
    rows = 0
    values = []
  }
  for (const record of records) {
    if (record.replaces !== null) {
      // First, so that batches among the records before it are deleted, too.
      writeRows()
      db.run(DROP_BATCHES, no, record.first, record.seq, record.replaces)
    }
    const { at, extra, first, part, seq, type, v } = record
    // Batches are not split into blobs: the part that replaces them contains their text again.
    const body = part === null ? recordBody(db, no, record) : record.body
    values.push(no, seq, first, type, v, at, extra, part, body)
    if (++rows === MOST_ROWS) writeRows()
    if (record.named !== null)
      db.run('INSERT INTO named_runs (stream_no, run_id, seq) VALUES (?, ?, ?)', no, record.named, seq)
    if (record.lineage !== null) addNeeds(db, stream, no, record.lineage)
  }
  writeRows()
}

function recordBody(db: SqliteConnection, no: number, { seq, body }: PreparedRecord): string {
  return takeOutLarge(body, (value) => {
    putBlob(db, no, { ...value, seq })
    return true
  })
}

/** A view row repeats what records from `from` on contain, and shares their blobs: they are deleted together. */
function viewRow(db: SqliteConnection, no: number, from: number, json: string): string {
  return takeOutLarge(json, ({ hash }) => isBlobOf(db, no, { from }, hash))
}
