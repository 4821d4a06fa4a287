import type { CommandOutcome, DeleteResult, Fence } from '@inspan/protocol/store'
import { gapsBetween, MAX_SEQ, prepareOutcomes, retainedRanges, type Need, type Range } from '@inspan/stores/shared'
import { dropBlobRefs } from './blobs.ts'
import { forgetCommandBodies, writeOutcome } from './commands.ts'
import type { PostgresConnection, SqlSession } from './connection.ts'
import { dropHeads } from './records.ts'
import { lockFenced, lockStream } from './streams.ts'
import { eraseWaits } from './waits.ts'

/** Rows deleted per transaction: purging a long thread must not hold up the others. */
const CHUNK = 500

/**
 * Deletes a thread for everybody. What is to be purged is marked in the same transaction, so that an interrupted purge
 * is resumed later.
 */
export function hideThread(
  db: PostgresConnection,
  thread: string,
  fence: Fence,
  now: number,
  outcome?: CommandOutcome,
): Promise<DeleteResult> {
  const outcomes = prepareOutcomes(outcome === undefined ? [] : [outcome])
  return db.write(async (session) => {
    const found = await lockStream(session, thread)
    if (found === undefined || found.deleted !== 0) {
      return { deleted: false, retained: found === undefined ? [] : await retainedOf(session, thread, found.no) }
    }
    const { no } = await lockFenced(session, thread, fence, now)
    await session.run('UPDATE harness.streams SET deleted = 1, owner = NULL, epoch = epoch + 1 WHERE no = $1', no)
    await session.run('DELETE FROM harness.threads WHERE stream_no = $1', no)
    await dropNeeds(session, no)
    await dropHeads(session, no)
    await eraseWaits(session, no, { from: 0, to: MAX_SEQ }, 'delete', now)
    for (const each of outcomes) await writeOutcome(session, each)
    await forgetCommandBodies(session, thread)
    return { deleted: true, retained: await retainedOf(session, thread, no) }
  })
}

/** Parts of deleted streams may have lost their last reader: these streams are purged again. */
async function dropNeeds(db: SqlSession, byNo: number): Promise<void> {
  await db.run(
    `UPDATE harness.streams SET deleted = 1
     WHERE deleted <> 0 AND no IN (SELECT stream_no FROM harness.needs WHERE by_no = $1)`,
    byNo,
  )
  await db.run('DELETE FROM harness.needs WHERE by_no = $1', byNo)
}

async function retainedOf(db: SqlSession, stream: string, no: number): Promise<DeleteResult['retained']> {
  return retainedRanges(await needsOf(db, no)).map((range) => ({ stream, ...range }))
}

/** Returns which threads need which ranges of a stream. Only living threads have needs. */
function needsOf(db: SqlSession, no: number): Promise<Need[]> {
  return db.all<Need>(
    `SELECT streams.id AS by, from_seq AS "from", to_seq AS "to"
     FROM harness.needs JOIN harness.streams ON streams.no = needs.by_no WHERE needs.stream_no = $1`,
    no,
  )
}

/** Purges deleted streams, also those that a dead process had left. */
export async function purge(db: PostgresConnection): Promise<void> {
  const streams = await db.all<{ no: number }>('SELECT no FROM harness.streams WHERE deleted = 1 ORDER BY no')
  for (const { no } of streams) {
    while (await purgeChunk(db, no));
  }
}

/** Deletes one chunk of what nobody needs of a deleted stream. Returns false when nothing was left to delete. */
function purgeChunk(db: PostgresConnection, no: number): Promise<boolean> {
  return db.write(async (session) => {
    const [row] = await session.all<{ deleted: number }>(
      'SELECT deleted FROM harness.streams WHERE no = $1 FOR UPDATE',
      no,
    )
    // Another process may have finished meanwhile.
    if (row?.deleted !== 1) return false
    const needs = await needsOf(session, no)
    for (const gap of gapsBetween(needs, MAX_SEQ)) {
      const { refs } = await dropBlobRefs(session, no, gap, CHUNK)
      const messages = await deleteRows(session, 'messages', no, gap)
      if (refs + messages + (await deleteRows(session, 'records', no, gap)) > 0) return true
    }
    if (needs.length > 0) await session.run('UPDATE harness.streams SET deleted = 2 WHERE no = $1', no)
    else await session.run('DELETE FROM harness.streams WHERE no = $1', no)
    return false
  })
}

function deleteRows(db: SqlSession, table: 'messages' | 'records', no: number, range: Range): Promise<number> {
  return db.run(
    `DELETE FROM harness.${table} WHERE stream_no = $1 AND seq IN
       (SELECT seq FROM harness.${table} WHERE stream_no = $1 AND seq BETWEEN $2 AND $3 LIMIT ${CHUNK})`,
    no,
    range.from,
    range.to,
  )
}
