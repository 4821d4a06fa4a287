import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, it } from 'node:test'
import type { JsonValue, StoredMessage } from '@inspan/protocol'
import { emptyState, reduce, type LogRecord } from '@inspan/protocol/log'
import type { CommandRow, Owner, ThreadInfo, WaitRow } from '@inspan/protocol/store'
import { PostgresStore } from './postgres-store.ts'
import { startPostgres, type PostgresServer } from './server.fixture.ts'

interface GoldenStream {
  readonly records: readonly LogRecord[]
  readonly head: JsonValue
  readonly messages: readonly StoredMessage[]
  readonly waits: readonly WaitRow[]
}

/** Every type of record, as a release of the first layout gave them. */
interface Golden {
  readonly threads: readonly ThreadInfo[]
  readonly streams: Readonly<Record<'main' | 'fork', GoldenStream>>
  readonly commands: readonly CommandRow[]
  readonly owners: readonly Owner[]
}

const GOLDEN = new URL('../../stores/src/fixtures/golden-v1.json', import.meta.url)

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.stop())

it('gives the golden threads back as they were written, and they fold to the same state', async () => {
  const golden = JSON.parse(await readFile(GOLDEN, 'utf8')) as Golden
  const store = await PostgresStore.open({ url: await server.emptyDatabase() })
  try {
    for (const id of ['main', 'fork'] as const) {
      const { records, messages, waits } = golden.streams[id]
      const info = golden.threads.find((thread) => thread.id === id)
      assert.ok(info !== undefined)
      const first = records[0]?.seq ?? 1
      // The messages of a fork begin with those it shares, which are rows of the other stream.
      const own = messages.filter(({ order }) => order >= first)
      const start = { owner: 'maker', records, messages: own, waits }
      await store.createStream({ kind: 'thread', info, headSeq: first - 1, start })
    }
    for (const { key, bodyHash, target, body, at } of golden.commands) {
      await store.admitCommand({ key, bodyHash, target, body, at })
    }
    for (const owner of golden.owners) await store.putOwner(owner)

    assert.deepEqual((await store.listThreads({ resourceId: 'golden' })).items, golden.threads)
    assert.deepEqual((await store.listCommands({ target: 'main', state: 'accepted' })).items, golden.commands)
    assert.deepEqual((await store.listOwners({})).items, golden.owners)
    for (const id of ['main', 'fork'] as const) {
      const expected = golden.streams[id]
      const records = (await store.readRecords(id, { limit: 1000 })).items
      assert.deepEqual(records, expected.records)
      assert.deepEqual((await store.listWaits({ stream: id })).items, expected.waits)
      const { head } = records.reduce((state, record) => reduce(state, record).state, emptyState(id))
      assert.partialDeepStrictEqual(JSON.parse(JSON.stringify(head)), expected.head)
      assert.deepEqual((await store.listMessages(head.lineage, { order: 'oldest' })).items, expected.messages)
    }
  } finally {
    await store.close()
  }
})
