import { eraseBody } from '@inspan/protocol/log'
import type { EraseResult, Fence } from '@inspan/protocol/store'
import { recordFromRow, type RecordRow } from '../shared/record-row.ts'
import { noSuchStream } from '../shared/store-errors.ts'
import { dropBlobRefs, wholeRow } from './blobs.ts'
import type { SqliteConnection } from './connection.ts'
import { dropHead } from './heads.ts'
import { IN_RANGE_SQL, keySql, SEQ_SQL } from './keys.ts'
import { fencedBy, findStream, requireFence } from './streams.ts'
import { eraseWaits } from './waits.ts'
import { eraseWords } from './words.ts'

/** Records overwritten per transaction. */
const CHUNK = 500

export interface EraseStep {
  readonly done: EraseResult
  /** Where the next step begins, or `null` when the range is finished. */
  readonly next: number | null
}

/**
 * Overwrites the next records of the range, with everything derived from them. Each step is a transaction of its own
 * and can be repeated, so an interrupted erasure is simply started again.
 */
export function eraseChunk(
  db: SqliteConnection,
  stream: string,
  fence: Fence,
  range: { from: number; to: number },
  now: number,
): EraseStep {
  return db.write(() => {
    const no = requireEraser(db, stream, fence)
    const rows = db.all<RecordRow>(
      `SELECT ${SEQ_SQL} AS seq, first, type, v, at, extra, body FROM records
       WHERE ${IN_RANGE_SQL} ORDER BY key LIMIT ?4`,
      no,
      range.from,
      range.to,
      CHUNK + 1,
    )
    const end = rows.length > CHUNK ? rows[CHUNK - 1]?.seq : undefined
    const part = { from: range.from, to: end ?? range.to }
    let records = 0
    for (const row of rows.slice(0, CHUNK)) records += Number(overwrite(db, { stream, no, row }))
    const messages = db.run(`DELETE FROM messages WHERE ${IN_RANGE_SQL}`, no, part.from, part.to)
    eraseWords(db, no, part)
    const { blobs } = dropBlobRefs(db, no, part, -1)
    eraseWaits(db, no, part, 'erase', now)
    // The head may quote what is being erased. It is rebuilt from what is left.
    dropHead(db, no)
    return { done: { records, messages, blobs }, next: end === undefined ? null : end + 1 }
  })
}

/** What is left of a deleted thread belongs to its forks: the owner of one of them may erase it. */
function requireEraser(db: SqliteConnection, stream: string, fence: Fence): number {
  const row = findStream(db, stream)
  if (row === undefined || row.deleted === 0) return requireFence(db, stream, fence).no
  const forks = db.all<{ owner: string | null; epoch: number }>(
    'SELECT owner, epoch FROM needs JOIN streams ON streams.no = needs.by_no WHERE needs.stream_no = ?',
    row.no,
  )
  if (forks.length === 0) throw noSuchStream(stream)
  if (!forks.some(({ owner, epoch }) => owner === fence.owner && epoch === fence.epoch)) throw fencedBy(db, row, fence)
  return row.no
}

interface FoundRow {
  readonly stream: string
  readonly no: number
  readonly row: RecordRow
}

function overwrite(db: SqliteConnection, { stream, no, row }: FoundRow): boolean {
  // Read as a whole, because a part of it may stay while its blobs are deleted.
  const { v, body } = recordFromRow(stream, row, db.format, (stored) => wholeRow(db, stored))
  const erased = JSON.stringify(eraseBody(body))
  if (erased === row.body) return false
  db.run(
    `UPDATE records SET type = ?3, v = ?4, body = ?5 WHERE key = ${keySql('?1', '?2')}`,
    no,
    row.seq,
    body.type,
    v,
    erased,
  )
  return true
}
