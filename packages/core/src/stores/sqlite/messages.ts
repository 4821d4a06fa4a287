import type { StoredMessage } from '@inspan/protocol'
import type { Lineage } from '@inspan/protocol/log'
import type { MessageQuery, Page } from '@inspan/protocol/store'
import { checkId } from '../input-checks.ts'
import { pageOf } from '../paging.ts'
import { planMessages } from '../read-plans.ts'
import { parseOrDamaged } from '../record-row.ts'
import { stretchesOf } from '../stretches.ts'
import { wholeRow } from './blobs.ts'
import type { Connection } from './connection.ts'
import { IN_RANGE_SQL, limitSql, SEQ_SQL } from './keys.ts'
import { streamNumber } from './records.ts'

interface MessageRow {
  order: number
  json: string
  stream: string
}

const COLUMNS = `${SEQ_SQL} AS "order", json`

export function listMessages(db: Connection, lineage: Lineage, query: MessageQuery): Page<StoredMessage> {
  const plan = planMessages(lineage, query)
  const rows: MessageRow[] = []
  for (const stretch of plan.stretches) {
    const found = db.all<MessageRow>(
      `SELECT ${COLUMNS} FROM messages WHERE ${IN_RANGE_SQL} ORDER BY key ${plan.isDescending ? 'DESC' : 'ASC'} ${limitSql('?4')}`,
      streamNumber(db, stretch),
      stretch.from,
      stretch.to,
      plan.limit + 1 - rows.length,
    )
    for (const row of found) rows.push(Object.assign(row, { stream: stretch.stream }))
    if (rows.length > plan.limit) break
  }
  return pageOf(
    rows,
    plan.limit,
    (row) => messageOf(db, row),
    (last) => plan.cursorAfter(last.order),
  )
}

export function getMessage(db: Connection, lineage: Lineage, messageId: string): StoredMessage | null {
  checkId('A message id', messageId)
  for (const stretch of stretchesOf(lineage).reverse()) {
    const row = db.get(
      `SELECT ${COLUMNS} FROM messages WHERE id = ?4 AND ${IN_RANGE_SQL} ORDER BY key DESC LIMIT 1`,
      streamNumber(db, stretch),
      stretch.from,
      stretch.to,
      messageId,
    ) as Omit<MessageRow, 'stream'> | undefined
    if (row !== undefined) return messageOf(db, { ...row, stream: stretch.stream })
  }
  return null
}

function messageOf(db: Connection, row: MessageRow): StoredMessage {
  const { stream, order } = row
  const what = `The message at ${order} of ${stream}`
  return wholeRow(db, parseOrDamaged(row.json, what, { stream, seq: order }) as StoredMessage)
}
