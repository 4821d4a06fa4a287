/** Measures an append relative to a bare insert of the same rows, on a server that waits for the disk. */
import pg from 'pg'
import type { LogRecord } from '@inspan/protocol/log'
import { compare, report } from '@inspan/testing'
import { PostgresStore } from './postgres-store.ts'
import { installedPrograms } from './programs.fixture.ts'
import { startPostgres } from './server.fixture.ts'

const APPENDS = 5
const ROUNDS = 300
const THREAD = 'd3b07384-d113-4ec6-a3f5-2f0c2b3a9a11'
const TEXT = 'Look at the failing test, find out why it fails, and repair what is broken. '.repeat(4)

function recordOf(seq: number): LogRecord {
  const parts = [{ id: '0', type: 'text', text: TEXT }] as const
  const body = { type: 'message.added', messageId: `message-${seq}`, role: 'user', parts, by: 'user' } as const
  return { v: 1, stream: THREAD, seq, at: 1_700_000_000_000 + seq, body }
}

const BARE_TABLES = `CREATE SCHEMA bare;
  CREATE TABLE bare.records (stream_no bigint NOT NULL, seq bigint NOT NULL, first bigint, type text NOT NULL,
    v integer NOT NULL, at float8 NOT NULL, extra text, part text, body text NOT NULL, PRIMARY KEY (stream_no, seq));
  CREATE TABLE bare.messages (stream_no bigint NOT NULL, seq bigint NOT NULL, id text NOT NULL, json text NOT NULL,
    PRIMARY KEY (stream_no, seq));
  CREATE INDEX ON bare.messages (stream_no, id)`
/** Both rows in one statement, so in one round trip and one transaction, as cheap as Postgres makes it. */
const BARE_INSERT = `WITH record AS (INSERT INTO bare.records VALUES (1, $1, NULL, 'message.added', 1, $2, NULL, NULL, $3))
  INSERT INTO bare.messages VALUES (1, $1, $4, $5)`

async function measure(isDurable: boolean): Promise<void> {
  const server = await startPostgres({ isDurable })
  const url = await server.emptyDatabase()
  const pool = new pg.Pool({ connectionString: url, max: 10 })
  // Its connections may still be closing when the server stops.
  pool.on('error', () => undefined)
  await pool.query(BARE_TABLES)
  const store = await PostgresStore.open({ url })
  const info = { id: THREAD, resourceId: 'r', title: null, createdAt: 0, updatedAt: 0, hidden: false, metadata: {} }
  await store.createStream({ kind: 'thread', info, headSeq: 0 })
  const fence = { owner: 'bench', epoch: (await store.claim(THREAD, 'bench')).epoch }
  const parts = [{ id: '0', type: 'text', text: TEXT }] as const
  let bare = 0
  let seq = 0
  report(
    await compare({
      name: `an append of a message on Postgres relative to a bare insert of its rows${isDurable ? '' : ', without a disk'}`,
      limit: isDurable ? 1.3 : 2.5,
      rounds: ROUNDS,
      floor: async () => {
        for (let i = 0; i < APPENDS; i++) {
          bare++
          const { at, body } = recordOf(bare)
          const json = JSON.stringify({ id: `message-${bare}`, role: 'user', order: bare, at, state: 'done', parts })
          const values = [bare, at, JSON.stringify(body), `message-${bare}`, json]
          await pool.query({ name: 'bare', text: BARE_INSERT, values })
        }
        return APPENDS
      },
      ours: async () => {
        for (let i = 0; i < APPENDS; i++) {
          seq++
          const record = recordOf(seq)
          const message = {
            id: `message-${seq}`,
            role: 'user',
            order: seq,
            at: record.at,
            state: 'done',
            parts,
          } as const
          await store.append({ stream: THREAD, fence, records: [record], messages: [message] })
        }
        return APPENDS
      },
    }),
  )
  await store.close()
  await pool.end()
  await server.stop()
}

// Elsewhere nobody needs it to run the other benchmarks.
if (installedPrograms() !== undefined) {
  await measure(true)
  await measure(false)
}
