import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { InspanError, type ErrorCode } from '@inspan/protocol'
import { emptyHead, RECORD_VERSIONS, storedHead, type LogRecord } from '@inspan/protocol/log'
import type { Append, NewStream } from '@inspan/protocol/store'
import { PostgresStore, type PostgresStoreOptions } from './postgres-store.ts'
import { startProxy } from './proxy.fixture.ts'
import { startPostgres, withClient, type PostgresServer } from './server.fixture.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.stop())

type OpenStore = (options?: Partial<PostgresStoreOptions>) => Promise<PostgresStore>

/** Runs a test with an empty database, which any number of stores can open. */
function withDatabase(test: (open: OpenStore, url: string) => Promise<void>): () => Promise<void> {
  return async () => {
    const url = await server.emptyDatabase()
    const stores: PostgresStore[] = []
    const open: OpenStore = async (options = {}) => {
      const store = await PostgresStore.open({ url, ...options })
      stores.push(store)
      return store
    }
    try {
      await test(open, url)
    } finally {
      for (const store of stores) await store.close()
      await server.releaseDatabase(url)
    }
  }
}

function thread(id: string): NewStream {
  const info = { id, resourceId: 'r', title: null, createdAt: 1, updatedAt: 1, hidden: false, metadata: {} }
  return { kind: 'thread', info, headSeq: 0 }
}

function note(stream: string, seq: number): LogRecord {
  return { v: RECORD_VERSIONS.note, stream, seq, at: seq, body: { type: 'note', kind: 'info', text: `note ${seq}` } }
}

function rejectsWith(code: ErrorCode): (error: unknown) => boolean {
  return (error) => InspanError.is(error, code)
}

describe('a Postgres store', () => {
  it(
    'claims in one round trip, and appends in one, whatever the append holds',
    withDatabase(async (open, url) => {
      const proxy = await startProxy(url)
      try {
        const store = await open({ url: proxy.url, maxConnections: 1 })
        await store.createStream(thread('t'))
        const beforeClaim = proxy.roundTrips()
        const { epoch } = await store.claim('t', 'me')
        assert.equal(proxy.roundTrips() - beforeClaim, 1)
        const bytes = Buffer.from('bytes')
        const hash = createHash('sha256').update(bytes).digest('hex')
        // A UUIDv7 begins with its time in milliseconds.
        const key = { principal: 'p', clientId: 'c', commandId: '01988c8e-0000-7000-8000-000000000001' }
        await store.admitCommand({ key, bodyHash: 'h', target: 't', body: {}, at: 0x01988c8e0000 })
        const message = { id: 'm', role: 'user', order: 2, at: 1, state: 'done', parts: [] } as const
        const head = { head: storedHead(emptyHead('t')), reducerVersion: 1 }
        const wait = {
          id: 'w',
          kind: 'approval',
          description: '',
          subject: {},
          resumable: true,
          openedAt: 3,
          at: 1,
        } as const
        const appends: Omit<Append, 'stream' | 'fence'>[] = [
          { records: [note('t', 1)] },
          { records: [note('t', 2)], messages: [message], head, thread: { updatedAt: 5 } },
          {
            records: [note('t', 3), note('t', 4)],
            messages: [{ ...message, id: 'n', order: 3 }],
            head,
            thread: { title: 'new' },
            blobs: [{ hash, mime: 'text/plain', bytes, seq: 3 }],
            waits: [{ stream: 't', wait, state: 'pending' }],
            outcomes: [{ key, outcome: { status: 'done' } }],
          },
        ]
        for (const [index, each] of appends.entries()) {
          const before = proxy.roundTrips()
          await store.append({ stream: 't', fence: { owner: 'me', epoch }, ...each })
          assert.equal(proxy.roundTrips() - before, 1, `append ${index}`)
        }
        assert.equal((await store.getCommand(key))?.state, 'done')
      } finally {
        await proxy.close()
      }
    }),
  )

  it(
    'replaces a message that was written before its record, and keeps the newer text of one that is replaced later',
    withDatabase(async (open) => {
      const store = await open()
      await store.createStream(thread('t'))
      const fence = { owner: 'me', epoch: (await store.claim('t', 'me')).epoch }
      const message = { id: 'm', role: 'user', order: 2, at: 1, state: 'done', parts: [] } as const
      const append = (seq: number, at: number): Promise<number> =>
        store.append({ stream: 't', fence, records: [note('t', seq)], messages: [{ ...message, at }] })
      const times: (number | undefined)[] = []
      for (const seq of [1, 2, 3]) {
        assert.equal(await append(seq, seq * 10), seq)
        times.push((await store.getMessage([{ stream: 't', from: 1, to: seq }], 'm'))?.at)
      }
      assert.equal((await store.getStream('t'))?.headSeq, 3)
      assert.deepEqual(times.slice(1), [20, 30])
      assert.deepEqual(
        (await store.readRecords('t', { limit: 10 })).items.map(({ seq }) => seq),
        [1, 2, 3],
      )
    }),
  )

  it(
    'gives a dead owner’s thread to one of many claimants, and fences the owner when it comes back',
    withDatabase(async (open) => {
      const stores = await Promise.all(Array.from({ length: 5 }, () => open({ maxConnections: 2 })))
      const [first] = stores
      assert.ok(first !== undefined)
      await first.createStream(thread('t'))
      const { epoch } = await first.claim('t', 'dead')
      const claims = await Promise.all(stores.map((store, index) => store.takeOver('t', `owner-${index}`, epoch)))
      assert.equal(claims.filter(({ status }) => status === 'owned').length, 1)
      assert.deepEqual(new Set(claims.map((claim) => claim.epoch)), new Set([epoch + 1]))
      const late = first.append({ stream: 't', fence: { owner: 'dead', epoch }, records: [note('t', 1)] })
      await assert.rejects(late, rejectsWith('fenced'))
      assert.equal((await first.getStream('t'))?.headSeq, 0)
    }),
  )

  it(
    'keeps leases in the time of the database: machines whose clocks are minutes apart agree',
    withDatabase(async (open) => {
      const minutes = 60_000
      const ahead = await open({ clock: () => Date.now() + 7 * minutes })
      const behind = await open({ clock: () => Date.now() - 5 * minutes })
      const lease = 30_000
      const owner = { id: 'o', host: 'h', pid: 1, startTime: '1', bootId: 'b' }
      await ahead.putOwner({ ...owner, until: Date.now() + 7 * minutes + lease })
      const seen = await behind.getOwner('o')
      const left = (seen?.until ?? 0) - (Date.now() - 5 * minutes)
      assert.ok(left > 0 && left <= lease + 10_000, `the lease has ${left} ms left`)
      await behind.heartbeat('o', Date.now() - 5 * minutes - lease)
      const ended = await ahead.getOwner('o')
      assert.ok((ended?.until ?? Infinity) < Date.now() + 7 * minutes, 'the lease is over')
    }),
  )

  it(
    'never gives a stream to a release that is older than one that wrote it',
    withDatabase(async (open) => {
      const older = await open({ streamFormat: 1 })
      const newer = await open({ streamFormat: 2 })
      await older.createStream(thread('t'))
      const { epoch } = await older.claim('t', 'older')
      await older.release('t', { owner: 'older', epoch })
      const claim = await newer.claim('t', 'newer')
      await newer.release('t', { owner: 'newer', epoch: claim.epoch })
      await assert.rejects(older.claim('t', 'older'), rejectsWith('newer-version'))
      assert.deepEqual((await older.readRecords('t', {})).items, [])
      assert.equal((await newer.claim('t', 'newer')).status, 'owned')
    }),
  )

  it(
    'keeps a head per reducer version, so that two releases do not overwrite each other’s',
    withDatabase(async (open) => {
      const store = await open()
      await store.createStream(thread('t'))
      const fence = { owner: 'me', epoch: (await store.claim('t', 'me')).epoch }
      const head = storedHead(emptyHead('t'))
      await store.append({ stream: 't', fence, records: [], head: { head, reducerVersion: 1 } })
      await store.append({ stream: 't', fence, records: [], head: { head, reducerVersion: 2 } })
      assert.deepEqual(await store.readHead('t', 1), head)
      assert.deepEqual(await store.readHead('t', 2), head)
      assert.equal(await store.readHead('t', 3), null)
    }),
  )

  it(
    'opens a newer layout that still serves this release, and refuses one that does not',
    withDatabase(async (open, url) => {
      await open()
      const layout = (name: string, value: number): Promise<unknown> =>
        withClient(url, (client) => client.query('UPDATE harness.meta SET value = $2 WHERE name = $1', [name, value]))
      await layout('layout', 1000)
      await (await open()).createStream(thread('t'))
      await layout('oldest', 1000)
      await assert.rejects(open(), rejectsWith('newer-version'))
    }),
  )

  it(
    'is created once when many processes open an empty database at the same time',
    withDatabase(async (open) => {
      const stores = await Promise.all(Array.from({ length: 8 }, () => open({ maxConnections: 1 })))
      assert.equal(new Set(stores.map(({ epoch }) => epoch)).size, 1)
    }),
  )

  it(
    'has another epoch after it was restored from a dump, and all its data',
    withDatabase(async (open, url) => {
      const store = await open()
      await store.createStream(thread('t'))
      const fence = { owner: 'me', epoch: (await store.claim('t', 'me')).epoch }
      await store.append({ stream: 't', fence, records: [note('t', 1)] })
      assert.equal((await open()).epoch, store.epoch)
      const dump = await server.run('pg_dump', '--inserts', url)
      const copy = await server.emptyDatabase()
      const statements = dump.replaceAll(/^\\.*$/gm, '')
      await withClient(copy, (client) => client.query(statements))
      const restored = await open({ url: copy })
      assert.notEqual(restored.epoch, store.epoch)
      assert.deepEqual((await restored.readRecords('t', {})).items, [note('t', 1)])
      await restored.append({ stream: 't', fence, records: [note('t', 2)] })
      await restored.close()
      await server.releaseDatabase(copy)
    }),
  )

  it(
    'keeps a blob that one thread refers to anew while another one erases the last reference',
    withDatabase(async (open) => {
      const store = await open()
      const bytes = Buffer.from('shared')
      const hash = createHash('sha256').update(bytes).digest('hex')
      await Promise.all(
        ['a', 'b', 'c'].map(async (id) => {
          await store.createStream(thread(id))
          const fence = { owner: 'me', epoch: (await store.claim(id, 'me')).epoch }
          for (let seq = 1; seq <= 20; seq++) {
            const blobs = [{ hash, mime: 'text/plain', bytes, seq }]
            await store.append({ stream: id, fence, records: [note(id, seq)], blobs })
            const lineage = [{ stream: id, from: 1, to: null }]
            assert.deepEqual(Buffer.from((await store.readBlob(hash, lineage))?.bytes ?? []), bytes)
            await store.erase(id, fence, { from: seq, to: seq })
          }
        }),
      )
      assert.equal(await store.readBlob(hash), null)
    }),
  )

  it(
    'connects again after its connections were cut',
    withDatabase(async (open, url) => {
      const proxy = await startProxy(url)
      try {
        const store = await open({ url: proxy.url, maxConnections: 1 })
        await store.createStream(thread('t'))
        const [holding] = await Promise.allSettled([
          store.getStream('t'),
          // On the way when the line is cut.
          Promise.resolve().then(() => proxy.cut()),
        ])
        if (holding.status === 'rejected') assert.ok(InspanError.is(holding.reason, 'io'), String(holding.reason))
        let found = null
        while (found === null) {
          found = await store.getStream('t').catch((error: unknown) => {
            if (InspanError.is(error, 'io')) return null
            throw error
          })
        }
        assert.equal(found.stream, 't')
      } finally {
        await proxy.close()
      }
    }),
  )

  it(
    'names what is wrong with its url',
    withDatabase(async (open, url) => {
      await assert.rejects(open({ url: 'mysql://localhost/x' }), rejectsWith('invalid-input'))
      await assert.rejects(open({ url: `${url}_missing` }), rejectsWith('not-found'))
      await assert.rejects(open({ url: 'postgres://inspan@%2Fnowhere/x' }), rejectsWith('io'))
    }),
  )
})
