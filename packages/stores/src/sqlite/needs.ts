import { InspanError } from '@inspan/protocol'
import type { Lineage } from '@inspan/protocol/log'
import type { ForkReach, Page } from '@inspan/protocol/store'
import { isCovered, type Need } from '../shared/retention.ts'
import { parentGone } from '../shared/store-errors.ts'
import { forksScope, foreignStretches, type ForksQuery } from '../shared/stretches.ts'
import type { SqliteConnection } from './connection.ts'
import { findStream } from './streams.ts'

/** Stores what a fork or rewind record makes the stream depend on, so that a deletion need not read any thread. */
export function addNeeds(db: SqliteConnection, stream: string, no: number, lineage: Lineage): void {
  for (const stretch of foreignStretches(stream, lineage)) {
    const source = findStream(db, stretch.stream)
    if (source === undefined) throw parentGone(stream, stretch)
    // Of a deleted stream only what other forks need is left.
    if (source.deleted !== 0 && !isCovered(stretch, needsOf(db, source.no))) throw parentGone(stream, stretch)
    if (stretch.to > source.head_seq) {
      throw new InspanError('misuse', `${stretch.stream} ends at ${source.head_seq}, before ${stretch.to}.`)
    }
    db.run(
      `INSERT INTO needs (by_no, stream_no, from_seq, to_seq) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET to_seq = max(to_seq, excluded.to_seq)`,
      no,
      source.no,
      stretch.from,
      stretch.to,
    )
  }
}

/** Returns which threads need which ranges of a stream. Only living threads have needs. */
export function needsOf(db: SqliteConnection, no: number): Need[] {
  return db.all<Need>(
    `SELECT streams.id AS by, from_seq AS "from", to_seq AS "to"
     FROM needs JOIN streams ON streams.no = needs.by_no WHERE needs.stream_no = ?`,
    no,
  )
}

/** Returns the threads that need something of the range, each with the last seq it needs. */
export function listForks(db: SqliteConnection, query: ForksQuery): Page<ForkReach> {
  const sql = `SELECT streams.id AS thread, max(min(to_seq, ?3)) AS "to"
    FROM needs JOIN streams ON streams.no = needs.by_no
    WHERE needs.stream_no = (SELECT no FROM streams WHERE id = ?1) AND to_seq >= ?2 AND from_seq <= ?3
      AND streams.id > ?4 GROUP BY streams.id ORDER BY streams.id LIMIT ?5`
  return forksScope(query).page(
    query,
    ([after], count) => db.all<ForkReach>(sql, query.stream, query.from, query.to, after, count),
    ({ thread, to }) => ({ thread, to }),
    (last) => [last.thread],
  )
}

/** Deletes the needs of a stream. Returns the deleted streams of which parts may have lost their last reader. */
export function dropNeeds(db: SqliteConnection, byNo: number): number[] {
  const sources = db.all<{ no: number }>(
    'SELECT DISTINCT streams.no FROM needs JOIN streams ON streams.no = needs.stream_no WHERE by_no = ? AND deleted <> 0',
    byNo,
  )
  db.run('DELETE FROM needs WHERE by_no = ?', byNo)
  return sources.map((source) => source.no)
}
