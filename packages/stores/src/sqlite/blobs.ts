import type { JsonObject } from '@inspan/protocol'
import type { Lineage } from '@inspan/protocol/log'
import type { Blob, NewBlob } from '@inspan/protocol/store'
import { checkHash, MAX_SEQ } from '../shared/input-checks.ts'
import { noSuchBlob } from '../shared/store-errors.ts'
import { stretchesOf } from '../shared/stretches.ts'
import type { SqliteConnection } from './connection.ts'
import { IN_RANGE_SQL, keySql } from './keys.ts'
import { putBackLarge } from './large-values.ts'
import { findStream } from './streams.ts'

/** Adds a reference to a blob. The same bytes are stored once, however many refer to them. */
export function putBlob(db: SqliteConnection, streamNo: number, blob: NewBlob): void {
  db.run(
    `INSERT INTO blob_refs (key, blob_no) VALUES (${keySql('?1', '?2')}, ?3) ON CONFLICT DO NOTHING`,
    streamNo,
    blob.seq,
    findBlob(db, blob.hash) ?? insertBlob(db, blob),
  )
}

export function readBlob(db: SqliteConnection, hash: string, lineage?: Lineage): Blob | null {
  checkHash(hash)
  if (lineage !== undefined && !refersTo(db, lineage, hash)) return null
  const row = db.get('SELECT mime, bytes FROM blobs WHERE hash = ?', hash) as Omit<Blob, 'hash'> | undefined
  return row === undefined ? null : { hash, mime: row.mime, bytes: row.bytes }
}

function refersTo(db: SqliteConnection, lineage: Lineage, hash: string): boolean {
  return stretchesOf(lineage).some(({ from, stream, to }) => {
    const no = findStream(db, stream)?.no
    return no !== undefined && isBlobOf(db, no, { from, to }, hash)
  })
}

/** Returns whether a record of the stream within the range refers to these bytes. */
export function isBlobOf(
  db: SqliteConnection,
  streamNo: number,
  { from, to = MAX_SEQ }: { from: number; to?: number },
  hash: string,
): boolean {
  const sql = `SELECT 1 FROM blob_refs WHERE blob_no = (SELECT no FROM blobs WHERE hash = ?4) AND ${IN_RANGE_SQL} LIMIT 1`
  return db.value(sql, streamNo, from, to, hash) !== undefined
}

/** Returns a row together with the large values that are stored as blobs. */
export function wholeRow<Row>(db: SqliteConnection, row: Row): Row {
  const isObject = typeof row === 'object' && row !== null && !Array.isArray(row)
  return isObject ? (putBackLarge(row as JsonObject, (hash) => readBlob(db, hash)?.bytes) as Row) : row
}

/** Deletes up to `limit` references in the range. Returns their number and that of the blobs deleted with them. */
export function dropBlobRefs(
  db: SqliteConnection,
  streamNo: number,
  range: { from: number; to: number },
  limit: number,
): { refs: number; blobs: number } {
  const refs = db.all<{ seq: number; blob_no: number }>(
    `SELECT (key & 4294967295) AS seq, blob_no FROM blob_refs WHERE ${IN_RANGE_SQL} LIMIT ?4`,
    streamNo,
    range.from,
    range.to,
    limit,
  )
  let blobs = 0
  for (const { seq, blob_no: blobNo } of refs) {
    db.run(`DELETE FROM blob_refs WHERE key = ${keySql('?1', '?2')} AND blob_no = ?3`, streamNo, seq, blobNo)
    blobs += db.run(
      'DELETE FROM blobs WHERE no = ?1 AND NOT EXISTS (SELECT 1 FROM blob_refs WHERE blob_no = ?1)',
      blobNo,
    )
  }
  return { refs: refs.length, blobs }
}

function findBlob(db: SqliteConnection, hash: string): number | undefined {
  return db.value('SELECT no FROM blobs WHERE hash = ?', hash) as number | undefined
}

function insertBlob(db: SqliteConnection, blob: NewBlob): number {
  if (blob.bytes === undefined) throw noSuchBlob(blob.hash)
  // Older versions of Node turn an empty array into NULL.
  return db.value(
    'INSERT INTO blobs (hash, mime, bytes) VALUES (?, ?, coalesce(?, zeroblob(0))) RETURNING no',
    blob.hash,
    blob.mime,
    blob.bytes,
  ) as number
}
