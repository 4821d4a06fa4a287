import { fenced, noSuchStream } from '@inspan/core/stores'
import type { Fence, StreamKind, StreamStatus } from '@inspan/protocol/store'
import type { Session } from './connection.ts'
import { getOwner } from './owners.ts'

export interface StreamRow {
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
export async function findStream(db: Session, id: string): Promise<StreamRow | undefined> {
  const [row] = await db.all<StreamRow>(`SELECT ${STREAM_COLUMNS} FROM inspan.streams WHERE id = $1`, id)
  return row
}

/** Locks the stream until the end of the transaction. */
export async function lockStream(db: Session, id: string): Promise<StreamRow | undefined> {
  const sql = `SELECT ${STREAM_COLUMNS} FROM inspan.streams WHERE id = $1 FOR UPDATE`
  const [row] = await db.all<StreamRow>(sql, id)
  return row
}

export async function lockFenced(db: Session, id: string, fence: Fence, now: number): Promise<StreamRow> {
  const row = await lockStream(db, id)
  if (row === undefined || row.deleted !== 0) throw noSuchStream(id)
  if (row.owner !== fence.owner || row.epoch !== fence.epoch) throw await fencedBy(db, row, fence, now)
  return row
}

export async function fencedBy(
  db: Session,
  stream: { readonly id: string; readonly owner: string | null; readonly epoch: number },
  fence: Fence,
  now: number,
): Promise<Error> {
  const { id, owner, epoch } = stream
  return fenced(id, fence, { owner, epoch }, owner === null ? null : await getOwner(db, owner, now))
}

export function statusOf(row: StreamRow): StreamStatus {
  return { stream: row.id, kind: row.kind, headSeq: row.head_seq, owner: row.owner, epoch: row.epoch }
}
