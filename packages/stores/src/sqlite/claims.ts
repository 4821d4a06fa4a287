import type { Claim, Fence, Page, PageRequest, StreamStatus } from '@inspan/protocol/store'
import { judgeClaim } from '../shared/claim-rules.ts'
import { CursorScope } from '../shared/cursor.ts'
import { checkId } from '../shared/input-checks.ts'
import type { SqliteConnection } from './connection.ts'
import { getOwner } from './owner-rows.ts'
import { requireStream, statusOf, STREAM_COLUMNS, type StreamRow } from './streams.ts'

/** Claims a free stream, or with `seenEpoch` that of an owner found dead. */
export function claim(db: SqliteConnection, stream: string, owner: string, seenEpoch?: number): Claim {
  checkId('An owner id', owner)
  return db.write(() => {
    const row = requireStream(db, stream)
    const verdict = judgeClaim(row, owner, seenEpoch)
    if (verdict === 'held') {
      const holder = row.owner as string
      return { status: 'held', epoch: row.epoch, owner: holder, holder: getOwner(db, holder) }
    }
    const epoch = verdict === 'take' ? row.epoch + 1 : row.epoch
    db.run('UPDATE streams SET owner = ?, epoch = ? WHERE no = ?', owner, epoch, row.no)
    db.rememberStream(stream, row.no)
    return { status: 'owned', epoch, headSeq: row.head_seq }
  })
}

/** Releases a stream. Does nothing for an owner who lost it already. */
export function release(db: SqliteConnection, stream: string, fence: Fence): void {
  db.write(() =>
    db.run(
      'UPDATE streams SET owner = NULL WHERE id = ? AND owner = ? AND epoch = ?',
      stream,
      fence.owner,
      fence.epoch,
    ),
  )
}

/** Removes an owner and releases all its streams. */
export function removeOwner(db: SqliteConnection, owner: string): void {
  db.write(() => {
    db.run('UPDATE streams SET owner = NULL WHERE owner = ?', owner)
    db.run('DELETE FROM owners WHERE id = ?', owner)
  })
}

export function listOwned(db: SqliteConnection, query: PageRequest & { readonly owner: string }): Page<StreamStatus> {
  const sql = `SELECT ${STREAM_COLUMNS} FROM streams WHERE owner = ? AND no > ? ORDER BY no LIMIT ?`
  return new CursorScope(['owned', query.owner], [0]).page(
    query,
    ([after], count) => db.all<StreamRow>(sql, query.owner, after, count),
    statusOf,
    (last) => [last.no],
  )
}
