import type { Lineage } from '@inspan/protocol/log'
import type { Blob } from '@inspan/protocol/store'
import { checkHash, stretchesOf, type Range } from '@inspan/stores/shared'
import type { SqlSession } from './connection.ts'

export async function readBlob(db: SqlSession, hash: string, lineage?: Lineage): Promise<Blob | null> {
  checkHash(hash)
  if (lineage !== undefined && !(await refersTo(db, lineage, hash))) return null
  const [row] = await db.all<{ mime: string; bytes: Buffer }>(
    'SELECT mime, bytes FROM harness.blobs WHERE hash = $1',
    hash,
  )
  return row === undefined ? null : { hash, mime: row.mime, bytes: new Uint8Array(row.bytes) }
}

async function refersTo(db: SqlSession, lineage: Lineage, hash: string): Promise<boolean> {
  for (const { stream, from, to } of stretchesOf(lineage)) {
    const found = await db.all(
      `SELECT 1 FROM harness.blob_refs JOIN harness.streams ON streams.no = blob_refs.stream_no
       WHERE streams.id = $1 AND seq BETWEEN $2 AND $3 AND hash = $4 LIMIT 1`,
      stream,
      from,
      to,
      hash,
    )
    if (found.length > 0) return true
  }
  return false
}

/** Deletes up to `limit` references in the range. Returns their number and that of the blobs deleted with them. */
export async function dropBlobRefs(
  db: SqlSession,
  streamNo: number,
  range: Range,
  limit: number | null,
): Promise<{ refs: number; blobs: number }> {
  const refs = await db.all<{ hash: string }>(
    `DELETE FROM harness.blob_refs WHERE (stream_no, seq, hash) IN
       (SELECT stream_no, seq, hash FROM harness.blob_refs
        WHERE stream_no = $1 AND seq BETWEEN $2 AND $3 LIMIT $4) RETURNING hash`,
    streamNo,
    range.from,
    range.to,
    limit,
  )
  if (refs.length === 0) return { refs: 0, blobs: 0 }
  const hashes = refs.map(({ hash }) => hash)
  const [dropped] = await db.all<{ blobs: number }>('SELECT harness.drop_blobs($1) AS blobs', hashes)
  return { refs: refs.length, blobs: dropped?.blobs ?? 0 }
}
