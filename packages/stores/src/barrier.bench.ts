/** Measures a barrier relative to the bare insertion of its rows: one record, its message, its command, the head. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { emptyHead, REDUCER_VERSION, storedHead } from '@inspan/protocol/log'
import type { Append, CommandKey, Fence } from '@inspan/protocol/store'
import { compare, report } from '@inspan/testing'
import { SqliteStore } from './sqlite-store.ts'

/** Many short rounds: the best one is undisturbed by whatever else the machine does. */
const BARRIERS = 50
const ROUNDS = 150
const THREAD = 'd3b07384-d113-4ec6-a3f5-2f0c2b3a9a11'
const TEXT = 'Look at the failing test, find out why it fails, and repair what is broken. '.repeat(4)
const FENCE: Fence = { owner: 'bench', epoch: 1 }

const folder = mkdtempSync(join(tmpdir(), 'inspan-bench-'))

function bareTables(): DatabaseSync {
  const db = new DatabaseSync(join(folder, 'bare.db'))
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE records (stream TEXT, seq INTEGER, type TEXT, v INTEGER, at INTEGER, body TEXT, PRIMARY KEY (stream, seq));
    CREATE TABLE messages (stream TEXT, id TEXT, "order" INTEGER, json TEXT, PRIMARY KEY (stream, id));
    CREATE TABLE commands (principal TEXT, client TEXT, command TEXT, hash TEXT, target TEXT, state TEXT, outcome TEXT,
      seq INTEGER, at INTEGER, PRIMARY KEY (principal, client, command));
    CREATE TABLE heads (stream TEXT PRIMARY KEY, version INTEGER, json TEXT);`)
  return db
}

/** Inserts the same rows with nothing around them: no fence, no check, not even building the JSON. */
function bareInserts(db: DatabaseSync): () => number {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const record = db.prepare('INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)')
  const message = db.prepare('INSERT INTO messages VALUES (?, ?, ?, ?)')
  const command = db.prepare('INSERT INTO commands VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const head = db.prepare('INSERT OR REPLACE INTO heads VALUES (?, ?, ?)')
  const commit = db.prepare('COMMIT')
  const example = barrier(1)
  const body = JSON.stringify(example.records[0]?.body)
  const json = JSON.stringify(example.messages?.[0])
  const headJson = JSON.stringify(example.head?.head)
  let seq = 0
  return () => {
    for (let i = 0; i < BARRIERS; i++) {
      seq++
      begin.run()
      record.run(THREAD, seq, 'message.added', 1, 1_700_000_000_000 + seq, body)
      message.run(THREAD, `message-${seq}`, seq, json)
      command.run('user', 'client', `command-${seq}`, 'hash', THREAD, 'done', '{}', seq, 1_700_000_000_000)
      head.run(THREAD, 1, headJson)
      commit.run()
    }
    return BARRIERS
  }
}

function keyOf(seq: number): CommandKey {
  const commandId = `00000000-0000-7000-8000-${String(seq).padStart(12, '0')}`
  return { principal: 'user', clientId: 'client', commandId }
}

function barrier(seq: number): Append {
  const at = 1_700_000_000_000 + seq
  const id = `message-${seq}`
  const parts = [{ id: '0', type: 'text', text: TEXT }] as const
  return {
    stream: THREAD,
    fence: FENCE,
    records: [
      {
        v: 1,
        stream: THREAD,
        seq,
        at,
        body: { type: 'message.added', messageId: id, role: 'user', parts, by: 'user' },
      },
    ],
    messages: [{ id, role: 'user', order: seq, at, state: 'done', by: 'user', parts }],
    outcomes: [{ key: keyOf(seq), outcome: {} }],
    head: {
      head: { ...storedHead(emptyHead(THREAD)), seq, mode: 'build', model: 'provider/model' },
      reducerVersion: REDUCER_VERSION,
    },
  }
}

async function storeWithCommands(): Promise<SqliteStore> {
  const store = await SqliteStore.open({ url: join(folder, 'store.db') })
  await store.createStream({
    kind: 'thread',
    info: { id: THREAD, resourceId: 'bench', title: null, createdAt: 0, updatedAt: 0, hidden: false, metadata: {} },
    headSeq: 0,
    start: { owner: 'bench', records: [] },
  })
  // A command is admitted in a transaction of its own; the barrier is the one that carries it out.
  for (let seq = 1; seq <= BARRIERS * (ROUNDS + 1); seq++) {
    await store.admitCommand({ key: keyOf(seq), bodyHash: 'hash', target: THREAD, body: { text: TEXT }, at: 0 })
  }
  return store
}

const bare = bareTables()
const store = await storeWithCommands()
let seq = 0
report(
  await compare({
    name: 'barrier transaction relative to bare inserts of its rows',
    limit: 1.5,
    floor: bareInserts(bare),
    ours: async () => {
      for (let i = 0; i < BARRIERS; i++) await store.append(barrier(++seq))
      return BARRIERS
    },
    rounds: ROUNDS,
  }),
)
await store.close()
bare.close()
rmSync(folder, { recursive: true })
