import type { Append, Fence } from '@inspan/protocol/store'
import { checkTime, type PreparedAppend } from '@inspan/core/stores'
import type { Session } from './connection.ts'

const RECORD_COLUMNS = ['seq', 'first', 'type', 'v', 'at', 'extra', 'part', 'body'] as const
const RECORD_TYPES = ['bigint', 'bigint', 'text', 'integer', 'float8', 'text', 'text', 'text'] as const

/** Whether an append consists of records, messages and a head only, as nearly all of a run do. */
function isPlain({ blobs, messages, outcomes, records, waits }: PreparedAppend, thread: Append['thread']): boolean {
  if (blobs.length > 0 || outcomes.length > 0 || waits.length > 0) return false
  if (thread?.title !== undefined || thread?.metadata !== undefined) return false
  if (thread?.hidden !== undefined || thread?.resourceId !== undefined) return false
  if (new Set(messages.map(({ order }) => order)).size < messages.length) return false
  // A statement does not see rows of its own, so it cannot remove batches that come with the record that replaces them.
  const batches = new Set(records.map(({ part }) => part))
  return records.every(
    ({ lineage, named, replaces }) =>
      lineage === null && named === null && (replaces === null || !batches.has(replaces)),
  )
}

/**
 * The same as the function in the database, as one statement whose plan Postgres keeps: for what is written most, the
 * function would cost as much again. Returns the new head, or undefined if the function has to do it: because the append
 * holds more, or because it is refused and the function knows why.
 */
export async function appendPlainly(
  db: Session,
  stream: string,
  fence: Fence,
  append: PreparedAppend,
  thread: Append['thread'],
  bytes: number,
): Promise<number | undefined> {
  if (!isPlain(append, thread)) return undefined
  const { head, messages, records } = append
  const values: unknown[] = [stream, fence.owner, fence.epoch, append.expectedHead, append.newHead, bytes]
  const place = (value: unknown, type: string): string => `$${values.push(value)}::${type}`
  const steps: string[] = []
  if (records.length > 0) {
    const columns = RECORD_COLUMNS.map((name, index) => {
      const list = records.map((record) => record[name])
      return place(list.length === 1 ? list[0] : list, `${RECORD_TYPES[index]}${list.length === 1 ? '' : '[]'}`)
    })
    const rows =
      records.length === 1
        ? `SELECT s.no, ${columns.join(', ')} FROM s`
        : `SELECT s.no, r.* FROM s, unnest(${columns.join(', ')}) AS r`
    steps.push(`r AS (INSERT INTO inspan.records (stream_no, ${RECORD_COLUMNS.join(', ')}) ${rows})`)
  }
  const sealed = records.filter(({ replaces }) => replaces !== null)
  if (sealed.length > 0) {
    const columns = [
      place(
        sealed.map(({ first }) => first),
        'bigint[]',
      ),
      place(
        sealed.map(({ seq }) => seq),
        'bigint[]',
      ),
      place(
        sealed.map(({ replaces }) => replaces),
        'text[]',
      ),
    ]
    steps.push(`d AS (DELETE FROM inspan.records USING s, unnest(${columns.join(', ')}) AS p (first, last, part)
      WHERE records.stream_no = s.no AND records.seq BETWEEN p.first AND p.last AND records.part = p.part)`)
  }
  if (messages.length > 0) {
    const columns = [
      place(
        messages.map(({ order }) => order),
        'bigint[]',
      ),
      place(
        messages.map(({ id }) => id),
        'text[]',
      ),
      place(
        messages.map(({ json }) => json),
        'text[]',
      ),
    ]
    steps.push(`m AS (INSERT INTO inspan.messages (stream_no, seq, id, json)
      SELECT s.no, m.* FROM s, unnest(${columns.join(', ')}) AS m
      ON CONFLICT (stream_no, seq) DO UPDATE SET id = excluded.id, json = excluded.json)`)
  }
  if (head !== null) {
    steps.push(`h AS (INSERT INTO inspan.heads (stream_no, version, json)
      SELECT s.no, ${place(head.version, 'integer')}, ${place(head.json, 'text')} FROM s
      ON CONFLICT (stream_no, version) DO UPDATE SET json = excluded.json)`)
  }
  if (thread?.updatedAt !== undefined) {
    checkTime('`updatedAt`', thread.updatedAt)
    steps.push(`t AS (UPDATE inspan.threads SET updated_at = greatest(updated_at, ${place(thread.updatedAt, 'float8')})
      FROM s WHERE threads.stream_no = s.no)`)
  }
  const [row] = await db.all<{ head: number }>(
    `WITH ${[FENCE_STEP, ...steps].join(', ')} SELECT head_seq AS head FROM s`,
    ...values,
  )
  return row?.head
}

/** One conditional update, which also locks the stream until the end. */
const FENCE_STEP = `s AS (UPDATE inspan.streams SET head_seq = coalesce($5, head_seq), bytes = bytes + $6
  WHERE id = $1 AND deleted = 0 AND owner = $2 AND epoch = $3 AND ($4::bigint IS NULL OR head_seq = $4)
  RETURNING no, head_seq)`
