import { createHash } from 'node:crypto'
import { InspanError } from '@inspan/protocol'
import { parseOrDamaged, recordFromRow, tryParse, type RecordRow } from '../shared/record-row.ts'
import { wholeRow } from './blobs.ts'
import type { SqliteConnection } from './connection.ts'
import { IN_RANGE_SQL, SEQ_SQL } from './keys.ts'
import { getThread } from './threads.ts'

/** More would not help anybody, and SQLite stops at as many. */
const MOST_PROBLEMS = 100

const PAGE = 500

const LAST_SEQ = 0xffff_ffff

interface CheckedStream {
  no: number
  id: string
  kind: string
  head_seq: number
  deleted: number
}

/**
 * Reads the whole file and returns what is wrong with it: first what SQLite finds in pages, tables and indices, then
 * what does not fit together in our own rows. What passes can be read without a `corrupt`.
 */
export function checkDatabase(db: SqliteConnection): string[] {
  const problems: string[] = []
  const add = (problem: string): void => void (problems.length < MOST_PROBLEMS && problems.push(problem))
  /** Damage in one place must not end the check of the others. */
  const attempt = (check: () => void): void => {
    try {
      db.read(check)
    } catch (error) {
      if (!InspanError.is(error)) throw error
      add(error.message)
    }
  }
  attempt(() => {
    const rows = db.all<{ integrity_check: string }>(`PRAGMA integrity_check(${MOST_PROBLEMS})`)
    for (const { integrity_check: text } of rows) if (text !== 'ok') add(text)
  })
  attempt(() => {
    for (const { parent, table } of db.all<{ table: string; parent: string }>('PRAGMA foreign_key_check')) {
      add(`A row of ${table} refers to one of ${parent} that is not there.`)
    }
  })
  const streams: CheckedStream[] = []
  attempt(() => {
    streams.push(...db.all<CheckedStream>('SELECT no, id, kind, head_seq, deleted FROM streams NOT INDEXED'))
  })
  for (const stream of streams) {
    // Of a deleted stream, only what forks need is left; they name what is missing when they read it.
    if (stream.deleted === 0) for (const check of STREAM_CHECKS) attempt(() => check(db, stream, add))
  }
  attempt(() => checkBlobs(db, add))
  attempt(() => checkCommands(db, add))
  return [...new Set(problems)]
}

type Add = (problem: string) => void
type StreamCheck = (db: SqliteConnection, stream: CheckedStream, add: Add) => void

const STREAM_CHECKS: readonly StreamCheck[] = [checkThread, checkRecords, checkMessages, checkWaits]

function checkThread(db: SqliteConnection, { id, kind }: CheckedStream, add: Add): void {
  if (kind !== 'thread') return
  const thread = getThread(db, id)
  if (thread === null) add(`Thread ${id} is not listed.`)
  else if (thread.damaged !== undefined) add(`Thread ${id}: ${thread.damaged}`)
}

/** The records of a stream follow each other without a gap, up to its head. Those of a fork begin where it branches. */
function checkRecords(db: SqliteConnection, { head_seq: head, id, no }: CheckedStream, add: Add): void {
  const isFork = db.value('SELECT 1 FROM needs WHERE by_no = ? LIMIT 1', no) !== undefined
  let last = isFork ? undefined : 0
  for (const row of rowsOf<RecordRow>(db, 'records', 'first, type, v, at, extra, body', no)) {
    const from = row.first ?? row.seq
    if (last !== undefined && from !== last + 1)
      add(`Thread ${id}: the records from ${last + 1} to ${from - 1} are missing.`)
    last = row.seq
    const stored = tryParse(row.body) as { readonly type?: unknown } | undefined
    recordFromRow(id, row, db.format, (body) => wholeRow(db, body))
    if (stored?.type !== row.type) add(`Record ${row.seq} of ${id} is damaged.`)
  }
  if (last !== undefined && last !== head) add(`Thread ${id}: the records end at ${last}, but its head is ${head}.`)
}

function checkMessages(db: SqliteConnection, { head_seq: head, id, no }: CheckedStream, add: Add): void {
  for (const row of rowsOf<{ seq: number; id: string; json: string }>(db, 'messages', 'id, json', no)) {
    const what = `The message at ${row.seq} of ${id}`
    const message = parseOrDamaged(row.json, what, {}) as { readonly id?: unknown }
    wholeRow(db, message)
    if (message?.id !== row.id || row.seq > head) add(`${what} is damaged.`)
  }
}

function checkWaits(db: SqliteConnection, { id, no }: CheckedStream): void {
  const rows = db.all<{ id: string; wait: string; settled: string | null }>(
    'SELECT id, wait, settled FROM waits WHERE stream_no = ?',
    no,
  )
  for (const row of rows) {
    const what = `Question ${row.id} of ${id}`
    wholeRow(db, parseOrDamaged(row.wait, what, {}))
    if (row.settled !== null) parseOrDamaged(row.settled, what, {})
  }
}

function checkBlobs(db: SqliteConnection, add: Add): void {
  for (let no = 0; ;) {
    const row = db.get('SELECT no, hash, bytes FROM blobs WHERE no > ? ORDER BY no LIMIT 1', no) as
      | { no: number; hash: string; bytes: Uint8Array }
      | undefined
    if (row === undefined) return
    if (createHash('sha256').update(row.bytes).digest('hex') !== row.hash) add(`The content ${row.hash} is damaged.`)
    no = row.no
  }
}

function checkCommands(db: SqliteConnection, add: Add): void {
  const rows = db.all<{ command_id: string; body: string; outcome: string | null }>(
    'SELECT command_id, body, outcome FROM commands',
  )
  for (const { body, command_id: id, outcome } of rows) {
    const isRead = tryParse(body) !== undefined && (outcome === null || tryParse(outcome) !== undefined)
    if (!isRead) add(`Command ${id} is damaged.`)
  }
}

/** Reads the rows of a stream page by page: a thread may be larger than the memory. */
function* rowsOf<Row extends { readonly seq: number }>(
  db: SqliteConnection,
  table: 'records' | 'messages',
  columns: string,
  no: number,
): Generator<Row> {
  const sql = `SELECT ${SEQ_SQL} AS seq, ${columns} FROM ${table} WHERE ${IN_RANGE_SQL} ORDER BY key LIMIT ${PAGE}`
  for (let from = 0; from <= LAST_SEQ;) {
    const rows = db.all<Row>(sql, no, from, LAST_SEQ)
    yield* rows
    if (rows.length < PAGE) return
    from = (rows.at(-1)?.seq ?? LAST_SEQ) + 1
  }
}
