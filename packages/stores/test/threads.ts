import type { StoredMessage } from '@inspan/protocol'
import { RECORD_VERSIONS, type LogRecord, type RecordBody } from '@inspan/protocol/log'
import type { Fence, Store, ThreadInfo } from '@inspan/protocol/store'

export function infoOf(id: string, more: Partial<ThreadInfo> = {}): ThreadInfo {
  return { id, resourceId: 'r', title: null, createdAt: 1000, updatedAt: 1000, hidden: false, metadata: {}, ...more }
}

export function recordOf(stream: string, seq: number, body: RecordBody): LogRecord {
  return { v: RECORD_VERSIONS[body.type], stream, seq, at: 1000 + seq, body }
}

export function noteOf(stream: string, seq: number, text = `note ${seq}`): LogRecord {
  return recordOf(stream, seq, { type: 'note', kind: 'info', text })
}

export function saidOf(stream: string, seq: number, text: string): LogRecord {
  const messageId = `${stream}-${seq}`
  return recordOf(stream, seq, {
    type: 'message.added',
    messageId,
    role: 'user',
    parts: [{ id: '0', type: 'text', text }],
  })
}

export function messageOf(stream: string, seq: number, text: string): StoredMessage {
  const id = `${stream}-${seq}`
  return { id, role: 'user', order: seq, at: 1000 + seq, state: 'done', parts: [{ id: '0', type: 'text', text }] }
}

/** A new thread with records from 1 on, owned by `me`. */
export async function startThread(store: Store, id: string, records: readonly LogRecord[] = []): Promise<Fence> {
  await store.createStream({ kind: 'thread', info: infoOf(id), headSeq: 0, start: { owner: 'me', records } })
  return { owner: 'me', epoch: 1 }
}
