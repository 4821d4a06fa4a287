import type { StoredMessage } from '@inspan/protocol'
import type { Lineage, LogRecord, RecordType } from '@inspan/protocol/log'
import { storedTypes, type MessageQuery, type Page, type RecordQuery } from '@inspan/protocol/store'
import { checkId, checkSeq } from '../shared/input-checks.ts'
import { pageOf } from '../shared/paging.ts'
import type { PreparedMessage } from '../shared/prepared-append.ts'
import { planMessages, planRecords, type ReadPlan } from '../shared/read-plans.ts'
import { recordFromRow } from '../shared/record-row.ts'
import { stretchesOf } from '../shared/stretches.ts'
import type { MemoryState, MemoryStream } from './memory-state.ts'
import type { SortedRows } from './sorted-rows.ts'

export function readLineage(state: MemoryState, lineage: Lineage, query: RecordQuery): Page<LogRecord> {
  const plan = planRecords(lineage, query)
  return pageOf(
    follow(state, plan, (stream) => stream.records),
    plan.limit,
    ({ stream, row }) => recordFromRow(stream, row, state.format),
    (last) => plan.cursorAfter(last.row.seq),
  )
}

export function latestRecord(state: MemoryState, lineage: Lineage, type: RecordType, upTo: number): LogRecord | null {
  checkSeq('`upTo`', upTo, 0)
  const types = storedTypes(type, state.format)
  for (const stretch of stretchesOf(lineage, 1, upTo).reverse()) {
    const row = state
      .source(stretch)
      .records.findLast(stretch.from, stretch.to, (record) => types.includes(record.type))
    if (row !== undefined) return recordFromRow(stretch.stream, row, state.format)
  }
  return null
}

export function hasNamedRun(state: MemoryState, lineage: Lineage, runId: string): boolean {
  checkId('A run id', runId)
  return stretchesOf(lineage).some((stretch) => {
    const seq = state.source(stretch).namedRuns.get(runId) ?? 0
    return seq >= stretch.from && seq <= stretch.to
  })
}

export function listMessages(state: MemoryState, lineage: Lineage, query: MessageQuery): Page<StoredMessage> {
  const plan = planMessages(lineage, query)
  return pageOf(
    follow(state, plan, (stream) => stream.messages),
    plan.limit,
    ({ row }) => messageOf(row),
    (last) => plan.cursorAfter(last.row.order),
  )
}

export function getMessage(state: MemoryState, lineage: Lineage, messageId: string): StoredMessage | null {
  checkId('A message id', messageId)
  for (const stretch of stretchesOf(lineage).reverse()) {
    const row = state.source(stretch).messages.findLast(stretch.from, stretch.to, (found) => found.id === messageId)
    if (row !== undefined) return messageOf(row)
  }
  return null
}

/** Reads the stretches of a plan until it has one row more than a page holds, which shows that there is another page. */
function follow<Row>(
  state: MemoryState,
  plan: ReadPlan,
  rowsOf: (stream: MemoryStream) => SortedRows<Row>,
): { stream: string; row: Row }[] {
  const found: { stream: string; row: Row }[] = []
  for (const stretch of plan.stretches) {
    const rows = rowsOf(state.source(stretch))
    const wanted = plan.limit + 1 - found.length
    for (const row of rows.range(stretch.from, stretch.to, wanted, plan.isDescending)) {
      found.push({ stream: stretch.stream, row })
    }
    if (found.length > plan.limit) break
  }
  return found
}

function messageOf(row: PreparedMessage): StoredMessage {
  return JSON.parse(row.json) as StoredMessage
}
