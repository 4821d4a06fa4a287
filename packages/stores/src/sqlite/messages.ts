import type { StoredMessage } from '@inspan/protocol'
import type { Lineage } from '@inspan/protocol/log'
import type { MessageQuery, Page } from '@inspan/protocol/store'
import { checkId } from '../shared/input-checks.ts'
import { pageOf } from '../shared/paging.ts'
import { planMessages } from '../shared/read-plans.ts'
import { parseOrDamaged } from '../shared/record-row.ts'
import { stretchesOf } from '../shared/stretches.ts'
import { wholeRow } from './blobs.ts'
import type { SqliteConnection } from './connection.ts'
import { IN_RANGE_SQL, SEQ_SQL } from './keys.ts'
import { readPlan, streamNumber } from './records.ts'

interface SqliteMessageRow {
  order: number
  json: string
  stream: string
}

const COLUMNS = `${SEQ_SQL} AS "order", json`

export function listMessages(db: SqliteConnection, lineage: Lineage, query: MessageQuery): Page<StoredMessage> {
  const plan = planMessages(lineage, query)
  const rows = readPlan<Omit<SqliteMessageRow, 'stream'>>(db, plan, `SELECT ${COLUMNS} FROM messages`)
  return pageOf(
    rows,
    plan.limit,
    (row) => messageOf(db, row),
    (last) => plan.cursorAfter(last.order),
  )
}

export function getMessage(db: SqliteConnection, lineage: Lineage, messageId: string): StoredMessage | null {
  checkId('A message id', messageId)
  for (const stretch of stretchesOf(lineage).reverse()) {
    const row = db.get(
      `SELECT ${COLUMNS} FROM messages WHERE id = ?4 AND ${IN_RANGE_SQL} ORDER BY key DESC LIMIT 1`,
      streamNumber(db, stretch),
      stretch.from,
      stretch.to,
      messageId,
    ) as Omit<SqliteMessageRow, 'stream'> | undefined
    if (row !== undefined) return messageOf(db, { ...row, stream: stretch.stream })
  }
  return null
}

function messageOf(db: SqliteConnection, row: SqliteMessageRow): StoredMessage {
  const { stream, order } = row
  const what = `The message at ${order} of ${stream}`
  return wholeRow(db, parseOrDamaged(row.json, what, { stream, seq: order }) as StoredMessage)
}
