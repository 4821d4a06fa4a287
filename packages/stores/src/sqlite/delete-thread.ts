import type { CommandOutcome, DeleteResult, Fence } from '@inspan/protocol/store'
import { MAX_SEQ } from '../shared/input-checks.ts'
import { prepareOutcomes } from '../shared/prepared-append.ts'
import { retainedRanges } from '../shared/retention.ts'
import { forgetCommandBodies, writeOutcome } from './commands.ts'
import type { SqliteConnection } from './connection.ts'
import { dropHead } from './heads.ts'
import { dropNeeds, needsOf } from './needs.ts'
import { findStream, requireFence } from './streams.ts'
import { eraseWaits } from './waits.ts'

/**
 * Deletes a thread for everybody. What is to be purged is marked in the same transaction, so that an interrupted purge
 * is resumed later.
 */
export function hideThread(
  db: SqliteConnection,
  thread: string,
  fence: Fence,
  now: number,
  outcome?: CommandOutcome,
): DeleteResult {
  const outcomes = prepareOutcomes(outcome === undefined ? [] : [outcome])
  return db.write(() => {
    const found = findStream(db, thread)
    if (found === undefined || found.deleted !== 0) {
      return { deleted: false, retained: found === undefined ? [] : retainedOf(db, thread, found.no) }
    }
    const { no } = requireFence(db, thread, fence)
    db.run('UPDATE streams SET deleted = 1, owner = NULL, epoch = epoch + 1 WHERE no = ?', no)
    db.run('DELETE FROM threads WHERE no = ?', no)
    for (const source of dropNeeds(db, no)) db.run('UPDATE streams SET deleted = 1 WHERE no = ?', source)
    dropHead(db, no)
    eraseWaits(db, no, { from: 0, to: MAX_SEQ }, 'delete', now)
    for (const each of outcomes) writeOutcome(db, each, null)
    forgetCommandBodies(db, thread)
    return { deleted: true, retained: retainedOf(db, thread, no) }
  })
}

function retainedOf(db: SqliteConnection, stream: string, no: number): DeleteResult['retained'] {
  return retainedRanges(needsOf(db, no)).map((range) => ({ stream, ...range }))
}
