import { eraseBody } from '@inspan/protocol/log'
import type { EraseResult, Fence, RecordFormat } from '@inspan/protocol/store'
import { noSuchStream, recordFromRow, type Range, type RecordRow } from '@inspan/stores/shared'
import { dropBlobRefs } from './blobs.ts'
import type { PostgresConnection, SqlSession } from './connection.ts'
import { dropHeads } from './records.ts'
import { fencedBy, findStream, lockFenced, lockStream } from './streams.ts'
import { eraseWaits } from './waits.ts'

/** Records overwritten per transaction. */
const CHUNK = 500

export interface PostgresEraseStep {
  readonly done: EraseResult
  /** Where the next step begins, or `null` when the range is finished. */
  readonly next: number | null
}

/**
 * Overwrites the next records of the range, with everything derived from them. Each step is a transaction of its own
 * and can be repeated, so an interrupted erasure is simply started again.
 */
export function eraseChunk(
  db: PostgresConnection,
  format: RecordFormat,
  stream: string,
  fence: Fence,
  range: Range,
  now: number,
): Promise<PostgresEraseStep> {
  return db.write(async (session) => {
    const no = await lockForErasing(session, stream, fence, now)
    const rows = await session.all<RecordRow>(
      `SELECT seq, first, type, v, at, extra, body FROM harness.records
       WHERE stream_no = $1 AND seq BETWEEN $2 AND $3 ORDER BY seq LIMIT $4`,
      no,
      range.from,
      range.to,
      CHUNK + 1,
    )
    const end = rows.length > CHUNK ? rows[CHUNK - 1]?.seq : undefined
    const part = { from: range.from, to: end ?? range.to }
    let records = 0
    for (const row of rows.slice(0, CHUNK)) records += Number(await overwrite(session, format, stream, no, row))
    const messages = await session.run(
      'DELETE FROM harness.messages WHERE stream_no = $1 AND seq BETWEEN $2 AND $3',
      no,
      part.from,
      part.to,
    )
    const { blobs } = await dropBlobRefs(session, no, part, null)
    await eraseWaits(session, no, part, 'erase', now)
    // A head may quote what is being erased. It is rebuilt from what is left.
    await dropHeads(session, no)
    return { done: { records, messages, blobs }, next: end === undefined ? null : end + 1 }
  })
}

/** What is left of a deleted thread belongs to its forks: the owner of one of them may erase it. */
async function lockForErasing(db: SqlSession, stream: string, fence: Fence, now: number): Promise<number> {
  const row = await findStream(db, stream)
  if (row === undefined || row.deleted === 0) return (await lockFenced(db, stream, fence, now)).no
  await lockStream(db, stream)
  const forks = await db.all<{ owner: string | null; epoch: number }>(
    'SELECT owner, epoch FROM harness.needs JOIN harness.streams ON streams.no = needs.by_no WHERE needs.stream_no = $1',
    row.no,
  )
  if (forks.length === 0) throw noSuchStream(stream)
  if (!forks.some(({ owner, epoch }) => owner === fence.owner && epoch === fence.epoch)) {
    throw await fencedBy(db, row, fence, now)
  }
  return row.no
}

async function overwrite(
  db: SqlSession,
  format: RecordFormat,
  stream: string,
  streamNo: number,
  row: RecordRow,
): Promise<boolean> {
  const { v, body } = recordFromRow(stream, row, format)
  const erased = JSON.stringify(eraseBody(body))
  if (erased === row.body) return false
  await db.run(
    'UPDATE harness.records SET type = $3, v = $4, body = $5 WHERE stream_no = $1 AND seq = $2',
    streamNo,
    row.seq,
    body.type,
    v,
    erased,
  )
  return true
}
