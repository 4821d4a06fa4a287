import type { Fence, NewStream, StreamKind, StreamStatus } from '@inspan/protocol/store'
import { fenced, noSuchStream } from '../shared/store-errors.ts'
import type { SqliteConnection } from './connection.ts'
import { getOwner } from './owner-rows.ts'

export interface StreamRow {
  no: number
  id: string
  kind: StreamKind
  head_seq: number
  owner: string | null
  epoch: number
  deleted: number
}

export const STREAM_COLUMNS = 'no, id, kind, head_seq, owner, epoch, deleted'

/** Returns a stream, also one that is deleted and kept for its forks. */
export function findStream(db: SqliteConnection, id: string): StreamRow | undefined {
  return db.get(`SELECT ${STREAM_COLUMNS} FROM streams WHERE id = ?`, id) as StreamRow | undefined
}

export function findLivingStream(db: SqliteConnection, id: string): StreamRow | undefined {
  const row = findStream(db, id)
  return row?.deleted === 0 ? row : undefined
}

export function requireStream(db: SqliteConnection, id: string): StreamRow {
  const row = findLivingStream(db, id)
  if (row === undefined) throw noSuchStream(id)
  return row
}

export function requireFence(db: SqliteConnection, id: string, fence: Fence): StreamRow {
  const row = requireStream(db, id)
  if (row.owner !== fence.owner || row.epoch !== fence.epoch) throw fencedBy(db, row, fence)
  return row
}

export function fencedBy(db: SqliteConnection, row: StreamRow, fence: Fence): Error {
  return fenced(row.id, fence, row, row.owner === null ? null : getOwner(db, row.owner))
}

export function insertStream(db: SqliteConnection, stream: NewStream): number {
  const { start } = stream
  return db.value(
    'INSERT INTO streams (id, kind, head_seq, owner, epoch) VALUES (?, ?, ?, ?, ?) RETURNING no',
    stream.info.id,
    stream.kind,
    stream.headSeq,
    start?.owner ?? null,
    start === undefined ? 0 : 1,
  ) as number
}

export function getStream(db: SqliteConnection, id: string): StreamStatus | null {
  const row = findLivingStream(db, id)
  return row === undefined ? null : statusOf(row)
}

export function statusOf(row: StreamRow): StreamStatus {
  return { stream: row.id, kind: row.kind, headSeq: row.head_seq, owner: row.owner, epoch: row.epoch }
}
