import { InspanError } from '@inspan/protocol'
import type { Append, Fence } from '@inspan/protocol/store'
import { checkTime, type PreparedAppend } from '@inspan/stores/shared'
import type { SqlSession } from './connection.ts'

const RECORD_COLUMNS = ['seq', 'first', 'type', 'v', 'at', 'extra', 'part', 'body'] as const
const RECORD_TYPES = {
  seq: 'bigint',
  first: 'bigint',
  type: 'text',
  v: 'integer',
  at: 'float8',
  extra: 'text',
  part: 'text',
  body: 'text',
} as const

const MESSAGE_COLUMNS = ['order', 'id', 'json'] as const
const MESSAGE_TYPES = ['bigint', 'text', 'text'] as const

/** The stream, the owner, its epoch, and the number of bytes. */
const FENCE_VALUES = 4
const UNIQUE_VIOLATION = '23505'

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

/** What decides the text of the statement. Appends of the same shape differ in their values only. */
interface AppendShape {
  /** `one`: a single row, as most are, is written without a list that Postgres would have to take apart. */
  readonly records: 'none' | 'one' | 'many'
  /** The columns that some record has a value for, besides those that the statement knows. */
  readonly columns: readonly (keyof typeof RECORD_TYPES)[]
  /** Whether the only record has the next seq: then one value is its seq, the new head and, less one, the old head. */
  readonly isNext: boolean
  /** Whether all records have version 1, as most types do. */
  readonly isFirstVersion: boolean
  readonly replacesBatches: boolean
  readonly messages: 'none' | 'one' | 'many'
  /** Whether the only message begins with the only record, which is the next one. */
  readonly isMessageNext: boolean
  /** Whether all messages begin with records of this append, so that none of them replaces an older one. */
  readonly areMessagesNew: boolean
  readonly hasHead: boolean
  readonly isTouched: boolean
}

function shapeOf(append: PreparedAppend, thread: Append['thread']): AppendShape {
  const { expectedHead, head, messages, newHead, records } = append
  const next = records.length === 1 ? records[0]?.seq : undefined
  const isNext = next !== undefined && newHead === next && expectedHead === next - 1
  const isFirstVersion = records.every(({ v }) => v === 1)
  const isKnown = (name: string): boolean => (name === 'seq' && isNext) || (name === 'v' && isFirstVersion)
  return {
    records: countOf(records),
    columns: RECORD_COLUMNS.filter((name) => !isKnown(name) && records.some((record) => record[name] !== null)),
    isNext,
    isFirstVersion,
    replacesBatches: records.some(({ replaces }) => replaces !== null),
    messages: countOf(messages),
    isMessageNext: isNext && messages.length === 1 && messages[0]?.order === next,
    areMessagesNew: expectedHead !== null && messages.every(({ order }) => order > expectedHead),
    hasHead: head !== null,
    isTouched: thread?.updatedAt !== undefined,
  }
}

function countOf(rows: readonly unknown[]): 'none' | 'one' | 'many' {
  if (rows.length === 0) return 'none'
  return rows.length === 1 ? 'one' : 'many'
}

/** By shape. There are few, and a text that is the same object each time is found and compared at once. */
const statements = new Map<string, string>()

function statementOf(shape: AppendShape): string {
  const key = Object.values(shape).join(' ')
  let sql = statements.get(key)
  if (sql === undefined) {
    sql = buildStatement(shape)
    statements.set(key, sql)
  }
  return sql
}

/**
 * The same as the function in the database, as one statement whose plan Postgres keeps: for what is written most, the
 * function would cost as much again. Returns the new head, or undefined if the function has to do it: because the append
 * holds more, or because it is refused and the function knows why.
 */
export async function appendPlainly(
  db: SqlSession,
  stream: string,
  fence: Fence,
  append: PreparedAppend,
  thread: Append['thread'],
  bytes: number,
): Promise<number | undefined> {
  if (!isPlain(append, thread)) return undefined
  if (thread?.updatedAt !== undefined) checkTime('`updatedAt`', thread.updatedAt)
  const shape = shapeOf(append, thread)
  const sql = statementOf(shape)
  const values = valuesOf(shape, [stream, fence.owner, fence.epoch, bytes], append, thread)
  if (append.newHead === null) return (await db.all<{ head: number }>(sql, ...values))[0]?.head
  try {
    return (await db.run(sql, ...values)) > 0 ? append.newHead : undefined
  } catch (error) {
    // Somebody wrote a message ahead of its record. The function replaces it.
    if (shape.areMessagesNew && InspanError.is(error) && error.details['sqlState'] === UNIQUE_VIOLATION) {
      return undefined
    }
    throw error
  }
}

/** The values in the order in which `buildStatement` numbers them. */
function valuesOf(
  shape: AppendShape,
  fence: readonly unknown[],
  { expectedHead, head, messages, newHead, records }: PreparedAppend,
  thread: Append['thread'],
): unknown[] {
  const values = [...fence]
  if (shape.isNext) values.push(newHead)
  else if (shape.records !== 'none') values.push(expectedHead, newHead)
  pushColumns(values, shape.columns, records)
  if (shape.replacesBatches) {
    const sealed = records.filter(({ replaces }) => replaces !== null)
    for (const name of ['first', 'seq', 'replaces'] as const) values.push(sealed.map((record) => record[name]))
  }
  if (shape.messages !== 'none') pushColumns(values, MESSAGE_COLUMNS.slice(shape.isMessageNext ? 1 : 0), messages)
  if (head !== null) values.push(head.version, head.json)
  if (thread?.updatedAt !== undefined) values.push(thread.updatedAt)
  return values
}

function pushColumns<Row extends object>(
  values: unknown[],
  columns: readonly (keyof Row)[],
  rows: readonly Row[],
): void {
  const [only] = rows
  const isOne = rows.length === 1 && only !== undefined
  for (const name of columns) values.push(isOne ? only[name] : rows.map((row) => row[name]))
}

/** The head before and after the append. */
function headsOf(
  { isNext, records }: AppendShape,
  place: (type: string) => string,
): { before?: string; after?: string } {
  if (records === 'none') return {}
  const first = place('bigint')
  return isNext ? { before: `${first} - 1`, after: first } : { before: first, after: place('bigint') }
}

function buildStatement(shape: AppendShape): string {
  let values = FENCE_VALUES
  const place = (type: string): string => `$${++values}::${type}`
  const { after, before } = headsOf(shape, place)
  // One conditional update, which also locks the stream until the end.
  const steps = [
    `s AS (UPDATE harness.streams SET ${after === undefined ? '' : `head_seq = ${after}, `}bytes = bytes + $4
      WHERE id = $1 AND deleted = 0 AND owner = $2 AND epoch = $3${before === undefined ? '' : ` AND head_seq = ${before}`}
      RETURNING no${after === undefined ? ', head_seq' : ''})`,
  ]
  let result = 'SELECT head_seq AS head FROM s'
  if (shape.records !== 'none') {
    const known = { ...(shape.isNext ? { seq: after ?? '' } : {}), ...(shape.isFirstVersion ? { v: '1' } : {}) }
    const names = [...Object.keys(known), ...shape.columns]
    const types = shape.columns.map((name) => RECORD_TYPES[name])
    // The number of its rows shows whether the fence held, so nothing needs to be read back.
    result = `INSERT INTO harness.records (stream_no, ${names.join(', ')})
      ${rowsOf(shape.records, Object.values(known), types, place)}`
  }
  if (shape.replacesBatches) {
    const columns = ['bigint[]', 'bigint[]', 'text[]'].map(place)
    steps.push(`d AS (DELETE FROM harness.records USING s, unnest(${columns.join(', ')}) AS p (first, last, part)
      WHERE records.stream_no = s.no AND records.seq BETWEEN p.first AND p.last AND records.part = p.part)`)
  }
  if (shape.messages !== 'none') {
    const replacing = 'ON CONFLICT (stream_no, seq) DO UPDATE SET id = excluded.id, json = excluded.json'
    const known = shape.isMessageNext && after !== undefined ? [after] : []
    steps.push(`m AS (INSERT INTO harness.messages (stream_no, seq, id, json)
      ${rowsOf(shape.messages, known, MESSAGE_TYPES.slice(known.length), place)} ${shape.areMessagesNew ? '' : replacing})`)
  }
  if (shape.hasHead) {
    steps.push(`h AS (INSERT INTO harness.heads (stream_no, version, json)
      SELECT s.no, ${place('integer')}, ${place('text')} FROM s
      ON CONFLICT (stream_no, version) DO UPDATE SET json = excluded.json)`)
  }
  if (shape.isTouched) {
    steps.push(`t AS (UPDATE harness.threads SET updated_at = greatest(updated_at, ${place('float8')})
      FROM s WHERE threads.stream_no = s.no)`)
  }
  return `WITH ${steps.join(', ')} ${result}`
}

/** Selects the rows to insert. `known`: the first columns, as far as the statement knows them. */
function rowsOf(
  count: 'one' | 'many',
  known: readonly string[],
  types: readonly string[],
  place: (type: string) => string,
): string {
  const first = ['s.no', ...known].join(', ')
  return count === 'one'
    ? `SELECT ${[first, ...types.map(place)].join(', ')} FROM s`
    : `SELECT ${first}, r.* FROM s, unnest(${types.map((type) => place(`${type}[]`)).join(', ')}) AS r`
}
