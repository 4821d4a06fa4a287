import { InspanError } from '@inspan/protocol'
import { isSealedPart, type LogRecord, type StoredLineage } from '@inspan/protocol/log'
import type { Append, CommandKey, CommandOutcome, NewBlob, WaitRow } from '@inspan/protocol/store'
import { checkHash, checkId, checkSeq, checkTime, isSeq, toJsonText } from './input-checks.ts'
import type { RecordRow } from './record-row.ts'

export interface PreparedRecord extends RecordRow {
  /** Set on batches: the part that the batch belongs to. */
  readonly part: string | null
  /** Set on a sealed part with `first`: the part whose batches it replaces. */
  readonly replaces: string | null
  /** Set on the start of a run whose id the caller chose. */
  readonly named: string | null
  /** Set on forks, and on rewinds that have one: what the stream needs of others from now on. */
  readonly lineage: StoredLineage | null
}

export interface PreparedMessage {
  readonly order: number
  readonly id: string
  readonly json: string
}

export interface PreparedWait {
  readonly id: string
  readonly state: WaitRow['state']
  readonly openedAt: number
  readonly due: number | null
  readonly wait: string
  /** `answeredBy`, `settledAt` and `reason` as JSON, if there are any. */
  readonly settled: string | null
}

export interface PreparedOutcome {
  readonly key: CommandKey
  readonly outcome: string
}

/** An append that was checked and turned into text: writing it cannot fail because of its input. */
export interface PreparedAppend {
  /** The seq of the last record that the stream must have; `null` for an append without records. */
  readonly expectedHead: number | null
  readonly newHead: number | null
  readonly records: readonly PreparedRecord[]
  readonly messages: readonly PreparedMessage[]
  readonly waits: readonly PreparedWait[]
  readonly head: { readonly version: number; readonly json: string } | null
  readonly outcomes: readonly PreparedOutcome[]
  readonly blobs: readonly NewBlob[]
}

type AppendContent = Omit<Append, 'stream' | 'fence' | 'thread'>

export function prepareAppend(stream: string, append: AppendContent): PreparedAppend {
  checkId('A stream id', stream)
  const first = append.records[0]
  const records: PreparedRecord[] = []
  let before: LogRecord | undefined
  let extra: string | null = null
  for (const record of append.records) {
    if (before !== undefined && record.seq !== before.seq + 1) throw notContiguous(stream, before.seq, record.seq)
    // Reused, since nearly all records of a turn have the same origin.
    if (before === undefined || !isOfSameOrigin(before, record)) extra = extraText(record)
    records.push(prepareRecord(stream, record, extra))
    before = record
  }
  return {
    expectedHead: first === undefined ? null : first.seq - 1,
    newHead: records.at(-1)?.seq ?? null,
    records,
    messages: (append.messages ?? []).map((message) => {
      checkId('A message id', message.id)
      checkSeq(`The order of message ${message.id}`, message.order)
      return { order: message.order, id: message.id, json: toJsonText(`Message ${message.id}`, message) }
    }),
    waits: (append.waits ?? []).map((row) => prepareWait(stream, row)),
    head:
      append.head === undefined
        ? null
        : { version: append.head.reducerVersion, json: toJsonText(`The head of ${stream}`, append.head.head) },
    outcomes: prepareOutcomes(append.outcomes ?? []),
    blobs: (append.blobs ?? []).map(checkBlob),
  }
}

export function prepareOutcomes(outcomes: readonly CommandOutcome[]): PreparedOutcome[] {
  return outcomes.map(({ key, outcome }) => ({
    key: checkCommandKey(key),
    outcome: toJsonText('A command outcome', outcome),
  }))
}

function prepareRecord(stream: string, record: LogRecord, extra: string | null): PreparedRecord {
  if (record.stream !== stream) {
    throw new InspanError('misuse', `A record of ${record.stream} cannot be appended to ${stream}.`)
  }
  checkSeq('A record seq', record.seq)
  checkTime('A record time', record.at)
  const { body } = record
  return {
    seq: record.seq,
    first: record.first ?? null,
    type: body.type,
    v: record.v,
    at: record.at,
    extra,
    body: toJsonText(`Record ${record.seq} of ${stream}`, body),
    part: body.type === 'batch' ? partKey(body.event) : null,
    replaces: replacedPart(record),
    named: body.type === 'run.started' && body.named === true ? body.runId : null,
    lineage: (body.type === 'fork' || body.type === 'rewind' ? body.lineage : null) ?? null,
  }
}

function isOfSameOrigin(a: LogRecord, b: LogRecord): boolean {
  return a.run === b.run && a.turn === b.turn && a.cause === b.cause && a.by === b.by
}

function extraText(record: LogRecord): string | null {
  const { run, turn, cause, by } = record
  if (run === undefined && turn === undefined && cause === undefined && by === undefined) return null
  return JSON.stringify({ run, turn, cause, by })
}

function replacedPart(record: LogRecord): string | null {
  if (record.first === undefined) return null
  if (!isSealedPart(record.body) || !isSeq(record.first) || record.first > record.seq) {
    throw new InspanError('misuse', `Record ${record.seq} of ${record.stream} cannot stand for ${record.first} on.`, {
      hint: 'Only a sealed part has `first`: the seq of its oldest batch.',
    })
  }
  return partKey(record.body)
}

function partKey(address: { readonly messageId: string; readonly partId: string }): string {
  return JSON.stringify([address.messageId, address.partId])
}

function prepareWait(stream: string, row: WaitRow): PreparedWait {
  if (row.stream !== stream) throw new InspanError('misuse', `A wait of ${row.stream} cannot be kept with ${stream}.`)
  checkId('A wait id', row.wait.id)
  checkSeq(`The place of wait ${row.wait.id}`, row.wait.openedAt)
  if (row.wait.due !== undefined) checkTime(`The time at which wait ${row.wait.id} is due`, row.wait.due)
  const { answeredBy, settledAt, reason } = row
  const isSettled = answeredBy !== undefined || settledAt !== undefined || reason !== undefined
  return {
    id: row.wait.id,
    state: row.state,
    openedAt: row.wait.openedAt,
    due: row.wait.due ?? null,
    wait: toJsonText(`Wait ${row.wait.id}`, row.wait),
    settled: isSettled ? JSON.stringify({ answeredBy, settledAt, reason }) : null,
  }
}

export function checkCommandKey(key: CommandKey): CommandKey {
  checkId('A principal', key.principal)
  checkId('A client id', key.clientId)
  checkId('A command id', key.commandId)
  return key
}

function checkBlob(blob: NewBlob): NewBlob {
  checkHash(blob.hash)
  checkSeq('The seq of a blob', blob.seq)
  return blob
}

export function notContiguous(stream: string, head: number, got: number): InspanError {
  return new InspanError('misuse', `Stream ${stream} ends at ${head}, so its next record is ${head + 1}, not ${got}.`, {
    hint: 'Read the stream again: what was sent may have been written already.',
    details: { stream, headSeq: head, seq: got },
  })
}
