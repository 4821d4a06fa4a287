import { gapsBetween } from '../shared/retention.ts'
import { MAX_SEQ } from '../shared/input-checks.ts'
import { dropBlobRefs } from './blobs.ts'
import type { SqliteConnection } from './connection.ts'
import { IN_RANGE_SQL } from './keys.ts'
import { needsOf } from './needs.ts'
import { eraseWords } from './words.ts'

/** Rows deleted per transaction: purging a long thread must not hold up the others. */
const CHUNK = 500

/** Returns the streams whose purge has begun and not ended, perhaps because a process died during it. */
export function streamsToPurge(db: SqliteConnection): number[] {
  return db.all<{ no: number }>('SELECT no FROM streams WHERE deleted = 1').map((row) => row.no)
}

/** Deletes one chunk of what nobody needs of a deleted stream. Returns false when nothing was left to delete. */
export function purgeChunk(db: SqliteConnection, no: number): boolean {
  return db.write(() => {
    // Another process may have finished meanwhile, and the number may belong to a new stream by now.
    if (db.value('SELECT deleted FROM streams WHERE no = ?', no) !== 1) return false
    const needs = needsOf(db, no)
    for (const gap of gapsBetween(needs, MAX_SEQ)) {
      eraseWords(db, no, gap)
      const { refs } = dropBlobRefs(db, no, gap, CHUNK)
      if (refs + deleteRows(db, 'messages', no, gap) + deleteRows(db, 'records', no, gap) > 0) return true
    }
    if (needs.length > 0) db.run('UPDATE streams SET deleted = 2 WHERE no = ?', no)
    else db.run('DELETE FROM streams WHERE no = ?', no)
    return false
  })
}

function deleteRows(
  db: SqliteConnection,
  table: 'messages' | 'records',
  no: number,
  range: { from: number; to: number },
): number {
  return db.run(
    `DELETE FROM ${table} WHERE key IN (SELECT key FROM ${table} WHERE ${IN_RANGE_SQL} LIMIT ${CHUNK})`,
    no,
    range.from,
    range.to,
  )
}
