import type { StoredMessage } from '@inspan/protocol'
import type { Lineage } from '@inspan/protocol/log'
import type { MessageQuery, Page } from '@inspan/protocol/store'
import { checkId, pageOf, parseOrDamaged, planMessages, stretchesOf } from '@inspan/stores/shared'
import type { SqlSession } from './connection.ts'
import { inStretch, readStretch } from './records.ts'

interface PostgresMessageRow {
  seq: number
  json: string
}

interface FoundMessageRow extends PostgresMessageRow {
  stream: string
}

export async function listMessages(
  db: SqlSession,
  lineage: Lineage,
  query: MessageQuery,
): Promise<Page<StoredMessage>> {
  const plan = planMessages(lineage, query)
  const order = plan.isDescending ? 'DESC' : 'ASC'
  const sql = inStretch(
    `SELECT seq, json FROM harness.messages
     WHERE stream_no = s.no AND seq BETWEEN $2 AND $3 ORDER BY seq ${order} LIMIT $4`,
    order,
  )
  const rows: FoundMessageRow[] = []
  for (const stretch of plan.stretches) {
    const found = await readStretch<PostgresMessageRow>(db, sql, stretch, plan.limit + 1 - rows.length)
    for (const row of found) rows.push({ ...row, stream: stretch.stream })
    if (rows.length > plan.limit) break
  }
  return pageOf(rows, plan.limit, messageOf, (last) => plan.cursorAfter(last.seq))
}

export async function getMessage(db: SqlSession, lineage: Lineage, messageId: string): Promise<StoredMessage | null> {
  checkId('A message id', messageId)
  const sql = inStretch(
    `SELECT seq, json FROM harness.messages
     WHERE stream_no = s.no AND id = $4 AND seq BETWEEN $2 AND $3 ORDER BY seq DESC LIMIT 1`,
  )
  for (const stretch of stretchesOf(lineage).reverse()) {
    const [row] = await readStretch<PostgresMessageRow>(db, sql, stretch, messageId)
    if (row !== undefined) return messageOf({ ...row, stream: stretch.stream })
  }
  return null
}

function messageOf({ stream, seq, json }: FoundMessageRow): StoredMessage {
  return parseOrDamaged(json, `The message at ${seq} of ${stream}`, { stream, seq }) as StoredMessage
}
