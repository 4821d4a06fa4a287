import { InspanError } from '@inspan/protocol'
import type { Claim, Fence, Page, PageRequest, StreamStatus } from '@inspan/protocol/store'
import { checkId, CursorScope, noSuchStream, pageLimit, pageOf } from '@inspan/stores/shared'
import type { PostgresConnection, SqlSession } from './connection.ts'
import { getOwner } from './owners.ts'
import { findStream, statusOf, STREAM_COLUMNS, type PostgresStreamRow } from './streams.ts'

export interface ClaimRequest {
  readonly stream: string
  readonly owner: string
  /** The epoch at which the present owner was found dead. Only one of several claimants that saw it gets the stream. */
  readonly seenEpoch?: number
  /** What the claiming release writes. A stream is never claimed by a release that knows less than it holds. */
  readonly format: number
  /** What this machine has. */
  readonly labels: readonly string[]
}

/** Takes the stream and raises its epoch, unless it is ours already. */
const CLAIM_SQL = `UPDATE harness.streams AS s SET owner = $2, format = $4, server_start = pg_postmaster_start_time(),
    epoch = CASE WHEN s.owner IS NOT DISTINCT FROM $2 THEN s.epoch ELSE s.epoch + 1 END
  FROM (SELECT no, server_start FROM harness.streams WHERE id = $1 FOR UPDATE) AS before
  WHERE s.no = before.no AND s.deleted = 0 AND s.format <= $4 AND s.labels <@ $5
    AND (s.owner IS NULL OR s.owner = $2 OR s.epoch = $3)
  RETURNING s.epoch, s.head_seq, before.server_start <> s.server_start AS has_restarted`

interface ClaimedRow {
  readonly epoch: number
  readonly head_seq: number
  readonly has_restarted: boolean
}

/** Claims a free stream, or with `seenEpoch` that of an owner found dead. */
export async function claim(db: PostgresConnection, request: ClaimRequest, now: number): Promise<Claim> {
  const { stream, owner, seenEpoch, format, labels } = request
  checkId('An owner id', owner)
  for (;;) {
    const [taken] = await db.all<ClaimedRow>(CLAIM_SQL, stream, owner, seenEpoch ?? null, format, labels)
    if (taken !== undefined) {
      const claimed = { status: 'owned', epoch: taken.epoch, headSeq: taken.head_seq } as const
      return taken.has_restarted ? { ...claimed, hasStoreRestarted: true } : claimed
    }
    const row = await findStream(db, stream)
    if (row === undefined || row.deleted !== 0) throw noSuchStream(stream)
    if (row.format > format) throw newerFormat(row, format)
    const missing = row.labels.filter((label) => !labels.includes(label))
    if (missing.length > 0) throw pinnedElsewhere(row, missing)
    // Released meanwhile: try again.
    if (row.owner === null || row.owner === owner) continue
    return { status: 'held', epoch: row.epoch, owner: row.owner, holder: await getOwner(db, row.owner, now) }
  }
}

function newerFormat(row: PostgresStreamRow, format: number): InspanError {
  return new InspanError('newer-version', `${row.id} was written by a newer release, which continues it.`, {
    hint: 'Upgrade this process: it can read the thread, but not write it.',
    details: { stream: row.id, format: row.format, known: format },
  })
}

/** As if another process held it: commands for it are left in the database, and its records can be followed. */
function pinnedElsewhere({ id, owner }: PostgresStreamRow, missing: readonly string[]): InspanError {
  const names = missing.map((label) => `"${label}"`).join(', ')
  return new InspanError(
    'held',
    `Thread ${id} needs a machine with the label ${names}, which this one does not have.`,
    {
      hint: 'Send the command all the same: such a machine carries it out.',
      details: { stream: id, owner, missing },
    },
  )
}

/** Releases a stream. Does nothing for an owner who lost it already. */
export async function release(db: SqlSession, stream: string, fence: Fence): Promise<void> {
  await db.run(
    'UPDATE harness.streams SET owner = NULL WHERE id = $1 AND owner = $2 AND epoch = $3',
    stream,
    fence.owner,
    fence.epoch,
  )
}

/** Removes an owner and releases all its streams. */
export async function removeOwner(db: PostgresConnection, owner: string): Promise<void> {
  await db.write(async (session) => {
    await session.run('UPDATE harness.streams SET owner = NULL WHERE owner = $1', owner)
    await session.run('DELETE FROM harness.owners WHERE id = $1', owner)
  })
}

export async function listOwned(
  db: SqlSession,
  query: PageRequest & { readonly owner: string },
): Promise<Page<StreamStatus>> {
  const limit = pageLimit(query)
  const scope = new CursorScope(['owned', query.owner], [0])
  const [after] = scope.decode(query.cursor)
  const rows = await db.all<PostgresStreamRow>(
    `SELECT ${STREAM_COLUMNS} FROM harness.streams WHERE owner = $1 AND no > $2 ORDER BY no LIMIT $3`,
    query.owner,
    after,
    limit + 1,
  )
  return pageOf(rows, limit, statusOf, (last) => scope.encode([last.no]))
}
