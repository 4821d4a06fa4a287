import { fenced, noSuchStream } from '@inspan/stores/shared'
import type { Fence, StreamKind, StreamStatus } from '@inspan/protocol/store'
import type { SqlSession } from './connection.ts'
import { getOwner } from './owners.ts'

export interface PostgresStreamRow {
  no: number
  id: string
  kind: StreamKind
  head_seq: number
  owner: string | null
  epoch: number
  format: number
  deleted: number
  labels: string[]
}

export const STREAM_COLUMNS = 'no, id, kind, head_seq, owner, epoch, format, deleted, labels'

/** Returns a stream, also one that is deleted and kept for its forks. */
export async function findStream(db: SqlSession, id: string): Promise<PostgresStreamRow | undefined> {
  const [row] = await db.all<PostgresStreamRow>(`SELECT ${STREAM_COLUMNS} FROM harness.streams WHERE id = $1`, id)
  return row
}

/** Locks the stream until the end of the transaction. */
export async function lockStream(db: SqlSession, id: string): Promise<PostgresStreamRow | undefined> {
  const sql = `SELECT ${STREAM_COLUMNS} FROM harness.streams WHERE id = $1 FOR UPDATE`
  const [row] = await db.all<PostgresStreamRow>(sql, id)
  return row
}

export async function lockFenced(db: SqlSession, id: string, fence: Fence, now: number): Promise<PostgresStreamRow> {
  const row = await lockStream(db, id)
  if (row === undefined || row.deleted !== 0) throw noSuchStream(id)
  if (row.owner !== fence.owner || row.epoch !== fence.epoch) throw await fencedBy(db, row, fence, now)
  return row
}

export async function fencedBy(
  db: SqlSession,
  stream: { readonly id: string; readonly owner: string | null; readonly epoch: number },
  fence: Fence,
  now: number,
): Promise<Error> {
  const { id, owner, epoch } = stream
  return fenced(id, fence, { owner, epoch }, owner === null ? null : await getOwner(db, owner, now))
}

export function statusOf(row: PostgresStreamRow): StreamStatus {
  return { stream: row.id, kind: row.kind, headSeq: row.head_seq, owner: row.owner, epoch: row.epoch }
}
