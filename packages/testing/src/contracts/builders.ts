import { createHash } from 'node:crypto'
import { NO_GRANTS, NO_RULES, type StoredMessage, type Wait } from '@inspan/protocol'
import { RECORD_VERSIONS, type StoredLineage, type LogRecord, type RecordBody } from '@inspan/protocol/log'
import type { Append, Fence, NewBlob, NewCommand, Owner, Store, ThreadInfo, WaitRow } from '@inspan/protocol/store'

export const AT = 1_700_000_000_000

export function threadInfo(id: string, more: Partial<ThreadInfo> = {}): ThreadInfo {
  return { id, resourceId: 'r', title: null, createdAt: AT, updatedAt: AT, hidden: false, metadata: {}, ...more }
}

export function record(stream: string, seq: number, body: RecordBody, more: Partial<LogRecord> = {}): LogRecord {
  return { v: RECORD_VERSIONS[body.type], stream, seq, at: AT + seq, ...more, body }
}

export function note(text: string): RecordBody {
  return { type: 'note', kind: 'info', text }
}

/** Notes with consecutive seqs. */
export function notes(stream: string, from: number, count: number): LogRecord[] {
  return Array.from({ length: count }, (_, index) => record(stream, from + index, note(`note ${from + index}`)))
}

export function batch(messageId: string, partId: string, text: string): RecordBody {
  return { type: 'batch', event: { type: 'text-delta', messageId, partId, text } }
}

export function sealedText(messageId: string, partId: string, text: string): RecordBody {
  return { type: 'text-delta', messageId, partId, text }
}

export function messageAdded(messageId: string, text: string): RecordBody {
  return { type: 'message.added', messageId, role: 'user', parts: [{ id: '0', type: 'text', text }] }
}

export function message(id: string, order: number, text = `text of ${id}`): StoredMessage {
  return { id, role: 'user', order, at: AT + order, state: 'done', parts: [{ id: '0', type: 'text', text }] }
}

export function forkBody(parent: string, at: number, lineage: StoredLineage): RecordBody {
  return {
    type: 'fork',
    parent,
    at,
    lineage,
    keep: {
      mode: null,
      model: null,
      agentId: null,
      rules: NO_RULES,
      yolo: false,
      settings: {},
      tasks: [],
      om: null,
      grants: NO_GRANTS,
      origins: {},
    },
  }
}

export function rewindBody(to: number, lineage: StoredLineage): RecordBody {
  return { type: 'rewind', to, lineage, tasks: [], om: null }
}

export function waitRow(stream: string, id: string, openedAt: number, more: Partial<WaitRow> = {}): WaitRow {
  const wait: Wait = { id, kind: 'approval', subject: { hash: 'h' }, description: `may ${id}`, openedAt, at: AT }
  return { stream, wait, state: 'pending', ...more }
}

export function blob(content: string | Uint8Array, seq: number, mime = 'text/plain'): NewBlob {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  return { hash: createHash('sha256').update(bytes).digest('hex'), mime, bytes, seq }
}

/** Returns a UUIDv7 made at the given time; the same for the same name. */
export function commandId(name: string, made: number = AT): string {
  const time = made.toString(16).padStart(12, '0')
  const rest = createHash('sha256').update(name).digest('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(0, 3)}-8${rest.slice(3, 6)}-${rest.slice(6, 18)}`
}

export function command(name: string, more: Partial<NewCommand> = {}): NewCommand {
  return {
    key: { principal: 'p', clientId: 'c', commandId: commandId(name) },
    bodyHash: `hash of ${name}`,
    target: 't',
    body: { say: name },
    at: AT,
    ...more,
  }
}

export function owner(id: string, more: Partial<Owner> = {}): Owner {
  return { id, host: 'example', pid: 1, startTime: '1', bootId: 'boot', until: AT, ...more }
}

/** Creates a thread that we own. */
export async function ownedThread(
  store: Store,
  id: string,
  more: Partial<ThreadInfo> = {},
  headSeq = 0,
): Promise<Writer> {
  await store.createStream({ kind: 'thread', info: threadInfo(id, more), headSeq })
  const claim = await store.claim(id, 'me')
  if (claim.status !== 'owned') throw new Error(`${id} is held by ${claim.owner}`)
  return new Writer(store, id, { owner: 'me', epoch: claim.epoch }, claim.headSeq)
}

/** Creates a fork of `parent` at `at`, whose lineage continues the given one. */
export async function forkedThread(
  store: Store,
  id: string,
  parent: string,
  at: number,
  lineage: StoredLineage,
): Promise<Writer> {
  await store.createStream({
    kind: 'thread',
    info: threadInfo(id, { forkedFrom: { thread: parent, at } }),
    headSeq: at,
    start: { owner: 'me', records: [record(id, at + 1, forkBody(parent, at, lineage))] },
  })
  return new Writer(store, id, { owner: 'me', epoch: 1 }, at + 1)
}

/** Appends bodies with the next seqs. */
export class Writer {
  readonly store: Store
  readonly stream: string
  readonly fence: Fence
  head: number

  constructor(store: Store, stream: string, fence: Fence, head: number) {
    this.store = store
    this.stream = stream
    this.fence = fence
    this.head = head
  }

  async write(bodies: readonly RecordBody[], more: Partial<Append> = {}): Promise<number> {
    const records = bodies.map((body, index) => record(this.stream, this.head + 1 + index, body))
    return this.append({ records, ...more })
  }

  async append(more: Omit<Append, 'stream' | 'fence'>): Promise<number> {
    this.head = await this.store.append({ stream: this.stream, fence: this.fence, ...more })
    return this.head
  }

  /** Appends `count` user messages, each as a record and a view row. */
  async say(count: number): Promise<void> {
    const orders = Array.from({ length: count }, (_, index) => this.head + 1 + index)
    const idOf = (order: number): string => `${this.stream}-${order}`
    await this.append({
      records: orders.map((order) => record(this.stream, order, messageAdded(idOf(order), `text of ${idOf(order)}`))),
      messages: orders.map((order) => message(idOf(order), order)),
    })
  }
}

/** Reads all pages of a list. Fails if the list never ends. */
export async function allPages<T>(
  read: (cursor: string | undefined) => Promise<{ readonly items: readonly T[]; readonly next: string | null }>,
): Promise<T[][]> {
  const pages: T[][] = []
  let cursor: string | undefined
  do {
    const page = await read(cursor)
    pages.push([...page.items])
    cursor = page.next ?? undefined
    if (pages.length > 10_000) throw new Error('The list does not end.')
  } while (cursor !== undefined)
  return pages
}
