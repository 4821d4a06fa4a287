/** Opening, listing and forking must not depend on how long a thread is or how many there are. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NO_GRANTS, NO_RULES, type StoredMessage } from '@inspan/protocol'
import { rootLineage, type LogRecord } from '@inspan/protocol/log'
import type { Fence, Store, ThreadInfo } from '@inspan/protocol/store'
import { compare, report } from '@inspan/testing'
import { SqliteStore } from './sqlite-store.ts'

const SMALL = 100
const LARGE = 100_000
const PAGE = 50
const CALLS = 20
const ROUNDS = 40
const LIMIT = 2
const TEXT = 'Some words as people say them, neither many nor few. '.repeat(5)

const folder = mkdtempSync(join(tmpdir(), 'inspan-bench-'))

function infoOf(id: string, updatedAt: number): ThreadInfo {
  return { id, resourceId: 'bench', title: `Thread ${id}`, createdAt: 0, updatedAt, hidden: false, metadata: {} }
}

/** A store with `count` threads, the first of which has `count` messages. */
async function build(name: string, count: number): Promise<SqliteStore> {
  const store = await SqliteStore.open({ url: join(folder, `${name}.db`) })
  await store.createStream({ kind: 'thread', info: infoOf('long', 0), headSeq: 0, start: { owner: 'me', records: [] } })
  const fence: Fence = { owner: 'me', epoch: 1 }
  for (let seq = 1; seq <= count; seq += PAGE) {
    const orders = Array.from({ length: PAGE }, (_, index) => seq + index)
    await store.append({ stream: 'long', fence, records: orders.map(recordOf), messages: orders.map(messageOf) })
  }
  for (let i = 1; i < count; i++) {
    await store.createStream({ kind: 'thread', info: infoOf(`thread-${i}`, i), headSeq: 0 })
  }
  return store
}

function recordOf(seq: number): LogRecord {
  const parts = [{ id: '0', type: 'text', text: TEXT }] as const
  return {
    v: 1,
    stream: 'long',
    seq,
    at: seq,
    body: { type: 'message.added', messageId: `message-${seq}`, role: 'user', parts },
  }
}

function messageOf(order: number): StoredMessage {
  const parts = [{ id: '0', type: 'text', text: TEXT }] as const
  return { id: `message-${order}`, role: 'user', order, at: order, state: 'done', parts }
}

async function openLast(store: Store): Promise<void> {
  const { items } = await store.listMessages(rootLineage('long'), { order: 'newest', limit: PAGE })
  if (items.length !== PAGE) throw new Error('messages are missing')
}

async function listFirst(store: Store): Promise<void> {
  const { items } = await store.listThreads({ resourceId: 'bench', limit: PAGE })
  if (items.length !== PAGE) throw new Error('threads are missing')
}

let forks = 0

async function fork(store: Store, at: number): Promise<void> {
  const id = `fork-${++forks}`
  const lineage = [{ stream: 'long', from: 1, to: at }]
  const keep = {
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
  }
  const record: LogRecord = {
    v: 1,
    stream: id,
    seq: at + 1,
    at: 0,
    body: { type: 'fork', parent: 'long', at, lineage, keep },
  }
  await store.createStream({ kind: 'thread', info: infoOf(id, 0), headSeq: at })
  const { epoch } = await store.claim(id, 'me')
  await store.append({ stream: id, fence: { owner: 'me', epoch }, records: [record] })
}

const small = await build('small', SMALL)
const large = await build('large', LARGE)

function repeat(work: () => Promise<void>): () => Promise<number> {
  return async () => {
    for (let i = 0; i < CALLS; i++) await work()
    return CALLS
  }
}

const cases = {
  'the last 50 messages of a thread of 100,000 relative to one of 100': [() => openLast(small), () => openLast(large)],
  '50 of 100,000 threads relative to 50 of 100': [() => listFirst(small), () => listFirst(large)],
  'a fork of a thread of 100,000 relative to one of 100': [() => fork(small, SMALL), () => fork(large, LARGE)],
} as const
for (const [name, [floor, ours]] of Object.entries(cases)) {
  report(await compare({ name, limit: LIMIT, floor: repeat(floor), ours: repeat(ours), rounds: ROUNDS }))
}
await small.close()
await large.close()
rmSync(folder, { recursive: true })
