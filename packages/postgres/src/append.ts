import { InspanError } from '@inspan/protocol'
import type { Append, Fence, NewStream, StreamStatus, ThreadInfo } from '@inspan/protocol/store'
import {
  checkId,
  checkSeq,
  checkTime,
  commandSettled,
  foreignStretches,
  noSuchBlob,
  noSuchCommand,
  noSuchStream,
  notContiguous,
  parentGone,
  prepareAppend,
  streamExists,
  toJsonText,
  type PreparedAppend,
} from '@inspan/stores/shared'
import type { PostgresConnection, SqlSession } from './connection.ts'
import { appendPlainly } from './plain-append.ts'
import { sqlState } from './postgres-errors.ts'
import { REFUSAL } from './schema/append-function.ts'
import { fencedBy, statusOf, STREAM_COLUMNS, type PostgresStreamRow } from './streams.ts'
import { insertThread } from './threads.ts'

const PARAMETERS = 43
const APPEND_SQL = `SELECT harness.append_1(${Array.from({ length: PARAMETERS }, (_, index) => `$${index + 1}`).join(', ')}) AS head`

export async function append(db: PostgresConnection, request: Append, now: number): Promise<number> {
  const { fence, stream, thread } = request
  const prepared = prepareAppend(stream, request)
  const head = await appendPlainly(db, stream, fence, prepared, thread, bytesOf(prepared))
  if (head !== undefined) return head
  return carryOut(db, db, appendCall(stream, fence, prepared, thread), now)
}

export interface NewStreamSettings {
  readonly format: number
  /** Labels that a machine needs for threads made here, besides their own. */
  readonly pinTo: readonly string[]
}

export async function createStream(
  db: PostgresConnection,
  stream: NewStream,
  { format, pinTo }: NewStreamSettings,
  now: number,
): Promise<StreamStatus> {
  const { info, start } = stream
  checkId('A stream id', info.id)
  checkSeq('`headSeq`', stream.headSeq, 0)
  if (start !== undefined) checkId('An owner id', start.owner)
  const fence = { owner: start?.owner ?? '', epoch: 1 }
  const call = start === undefined ? null : appendCall(info.id, fence, prepareAppend(info.id, start), start.thread)
  // Sessions go wherever their user is.
  const labels = stream.kind === 'thread' ? labelsOf(info, pinTo) : []
  return db.write(async (session) => {
    const [row] = await session.all<PostgresStreamRow>(
      `INSERT INTO harness.streams (id, kind, head_seq, owner, epoch, format, resource_id, labels)
       VALUES ($1, $2, $3, $4, $5, $6, $7, coalesce($8, (SELECT labels FROM harness.streams WHERE id = $9), '{}'))
       ON CONFLICT (id) DO NOTHING RETURNING ${STREAM_COLUMNS}`,
      info.id,
      stream.kind,
      stream.headSeq,
      start?.owner ?? null,
      start === undefined ? 0 : 1,
      format,
      info.resourceId,
      labels.length === 0 ? null : labels,
      // Without labels of its own, a thread stays with the one it comes from.
      info.forkedFrom?.thread ?? info.parent ?? null,
    )
    if (row === undefined) throw streamExists(info.id)
    await insertThread(session, row.no, stream)
    await session.run('SELECT harness.drop_strange_commands($1)', info.id)
    const headSeq = call === null ? row.head_seq : await carryOut(session, db, call, now)
    return statusOf({ ...row, head_seq: headSeq })
  })
}

/** What a machine needs to have to work on the thread: `metadata.machineLabels` of the thread, and `pinTo`. */
function labelsOf({ id, metadata }: ThreadInfo, pinTo: readonly string[]): readonly string[] {
  const own = metadata['machineLabels'] ?? []
  if (!Array.isArray(own) || !own.every((label): label is string => typeof label === 'string' && label !== '')) {
    throw new InspanError('invalid-input', `\`machineLabels\` in the metadata of ${id} must be a list of names.`)
  }
  return [...new Set([...own, ...pinTo])]
}

interface AppendCall {
  readonly stream: string
  readonly fence: Fence
  readonly firstSeq: number
  readonly values: readonly unknown[]
}

/** One call, so one round trip. Refusals are looked into on a connection of their own: the transaction is over. */
async function carryOut(db: SqlSession, aside: PostgresConnection, call: AppendCall, now: number): Promise<number> {
  try {
    const [row] = await db.all<{ head: number }>(APPEND_SQL, ...call.values)
    return row?.head ?? 0
  } catch (error) {
    throw await refusalOf(error, aside, call, now)
  }
}

interface Detail {
  readonly owner: string | null
  readonly epoch: number
  readonly head: number
  readonly hash: string
  readonly command: string
  readonly stream: string
  readonly from: number
  readonly to: number
}

async function refusalOf(error: unknown, db: PostgresConnection, call: AppendCall, now: number): Promise<unknown> {
  const { stream, fence, firstSeq } = call
  const detail = detailOf(error)
  switch (sqlState(error)) {
    case REFUSAL.noStream:
      return noSuchStream(stream)
    case REFUSAL.fenced:
      return fencedBy(db, { id: stream, owner: detail.owner, epoch: detail.epoch }, fence, now)
    case REFUSAL.notContiguous:
      return notContiguous(stream, detail.head, firstSeq)
    case REFUSAL.noBlob:
      return noSuchBlob(detail.hash)
    case REFUSAL.noCommand:
      return noSuchCommand(detail.command)
    case REFUSAL.commandSettled:
      return commandSettled(detail.command)
    case REFUSAL.parentGone:
      return parentGone(stream, detail)
    case REFUSAL.beyondHead:
      return new InspanError('misuse', `${detail.stream} ends at ${detail.head}, before ${detail.to}.`)
    default:
      return error
  }
}

function detailOf(error: unknown): Detail {
  const isRefusal = sqlState(error)?.startsWith('IN') === true
  const text = isRefusal && error instanceof Error && 'detail' in error ? error.detail : undefined
  return JSON.parse(typeof text === 'string' ? text : '{}') as Detail
}

/** The values in the order of the function's parameters. */
function appendCall(stream: string, fence: Fence, append: PreparedAppend, thread: Append['thread']): AppendCall {
  const { records, messages, waits, outcomes, head } = append
  const needs = records.flatMap(({ lineage }) => (lineage === null ? [] : foreignStretches(stream, lineage)))
  // In one order everywhere, so that two appends with the same blobs never wait for each other.
  const blobs = [...append.blobs].sort((a, b) => (a.hash < b.hash ? -1 : Number(a.hash > b.hash)))
  const values = [
    stream,
    fence.owner,
    fence.epoch,
    append.expectedHead,
    append.newHead,
    bytesOf(append),
    ...columns(records, 'seq', 'first', 'type', 'v', 'at', 'extra', 'part', 'body', 'replaces', 'named'),
    ...columns(needs, 'stream', 'from', 'to'),
    ...columns(messages, 'order', 'id', 'json'),
    ...columns(waits, 'id', 'state', 'openedAt', 'due', 'wait', 'settled'),
    ...columns(blobs, 'hash', 'seq', 'mime'),
    blobs.map(({ bytes }) => (bytes === undefined ? null : Buffer.from(bytes))),
    ...columns(
      outcomes.map(({ key }) => key),
      'principal',
      'clientId',
      'commandId',
    ),
    ...columns(outcomes, 'outcome'),
    head?.version ?? null,
    head?.json ?? null,
    ...threadChange(thread),
  ]
  return { stream, fence, firstSeq: (append.expectedHead ?? 0) + 1, values }
}

/** What quotas count. */
function bytesOf({ blobs, messages, records }: PreparedAppend): number {
  let sum = 0
  for (const { body } of records) sum += Buffer.byteLength(body)
  for (const { json } of messages) sum += Buffer.byteLength(json)
  for (const { bytes } of blobs) sum += bytes?.byteLength ?? 0
  return sum
}

/** A list per column, as Postgres takes them apart again. */
function columns<Row>(rows: readonly Row[], ...names: readonly (keyof Row)[]): unknown[][] {
  return names.map((name) => rows.map((row) => row[name]))
}

function threadChange(change: Append['thread'] = {}): unknown[] {
  if (change.resourceId !== undefined) checkId('A resource id', change.resourceId)
  if (change.updatedAt !== undefined) checkTime('`updatedAt`', change.updatedAt)
  return [
    change.title === undefined ? null : toJsonText('A title', change.title),
    change.updatedAt ?? null,
    change.metadata === undefined ? null : toJsonText('The metadata of a thread', change.metadata),
    change.hidden ?? null,
    change.resourceId ?? null,
  ]
}
