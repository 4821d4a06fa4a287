import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, beforeEach, afterEach, suite, test } from 'node:test'
import { InspanError, type ErrorCode } from '@inspan/protocol'
import { RECORD_VERSIONS, type LogRecord } from '@inspan/protocol/log'
import type { NewCommand, NewStream, Page } from '@inspan/protocol/store'
import { PostgresStore } from './postgres-store.ts'
import { startPostgres, withClient, type PostgresServer } from './server.fixture.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
  await withClient(await server.emptyDatabase(), async (client) => {
    for (const role of ['acme', 'globex']) await client.query(`CREATE ROLE "${role}" LOGIN`)
  })
})
after(() => server.stop())

function thread(id: string, resourceId: string): NewStream {
  const at = Date.now()
  const info = { id, resourceId, title: `about ${id}`, createdAt: at, updatedAt: at, hidden: false, metadata: {} }
  return { kind: 'thread', info, headSeq: 0 }
}

function note(stream: string, seq: number): LogRecord {
  return { v: RECORD_VERSIONS.note, stream, seq, at: seq, body: { type: 'note', kind: 'info', text: 'secret' } }
}

function rejectsWith(code: ErrorCode): (error: unknown) => boolean {
  return (error) => InspanError.is(error, code)
}

let lastCommand = 0
/** A UUIDv7 begins with its time in milliseconds. */
function command(target: string): NewCommand {
  const commandId = `01988c8e-0000-7000-8000-${String(++lastCommand).padStart(12, '0')}`
  const key = { principal: 'p', clientId: 'c', commandId }
  return { key, bodyHash: 'h', target, body: { secret: true }, at: 0x01988c8e0000 }
}

let url: string
/** The service, which sees all. */
let all: PostgresStore
let acme: PostgresStore
let globex: PostgresStore
const bytes = Buffer.from('a secret file')
const hash = createHash('sha256').update(bytes).digest('hex')

beforeEach(async () => {
  url = await server.emptyDatabase()
  all = await PostgresStore.open({ url })
  await all.setTenant({ resourceId: 'acme', role: 'acme' })
  await all.setTenant({ resourceId: 'globex', role: 'globex' })
  acme = await PostgresStore.open({ url: urlOf('acme') })
  globex = await PostgresStore.open({ url: urlOf('globex') })
})
afterEach(async () => {
  for (const store of [all, acme, globex]) await store.close()
  await server.releaseDatabase(url)
})

function urlOf(role: string): string {
  return url.replace('inspan@', `${role}@`)
}

/** A thread of acme's with a record, a message, a wait, a blob, a command and a named run. */
async function fill(): Promise<{ owner: string; epoch: number }> {
  await all.createStream(thread('mine', 'acme'))
  const fence = { owner: 'o', epoch: (await all.claim('mine', 'o')).epoch }
  const subject = { agentId: 'a', toolName: 't' }
  const wait = {
    id: 'w',
    kind: 'approval',
    description: 'secret',
    subject,
    resumable: true,
    openedAt: 1,
    at: 1,
    due: 5,
  } as const
  await all.append({
    stream: 'mine',
    fence,
    records: [note('mine', 1)],
    messages: [{ id: 'm', role: 'user', order: 1, at: 1, state: 'done', parts: [] }],
    waits: [{ stream: 'mine', wait, state: 'pending' }],
    blobs: [{ hash, mime: 'text/plain', bytes, seq: 1 }],
  })
  await all.admitCommand(command('mine'))
  return fence
}

suite('a login role of one tenant', () => {
  test('reads its own threads through the store, and finds nothing of another tenant', async () => {
    await fill()
    const lineage = [{ stream: 'mine', from: 1, to: null }]
    const none: Page<never> = { items: [], next: null }
    const orNone = async <T>(page: Promise<Page<T>>): Promise<number> => {
      const { items } = await page.catch((error: unknown) => {
        if (InspanError.is(error, 'not-found')) return none
        throw error
      })
      return items.length
    }
    const view = async (store: PostgresStore): Promise<unknown[]> => [
      (await store.getStream('mine'))?.headSeq,
      (await store.getThread('mine'))?.title,
      (await store.listThreads({ resourceId: 'acme' })).items.length,
      (await store.listResourceIds({})).items,
      await orNone(store.readRecords('mine', {})),
      await orNone(store.readLineage(lineage, {})),
      await orNone(store.listMessages(lineage, { order: 'oldest' })),
      (await store.listWaits({ state: 'pending' })).items.length,
      (await store.listDue({ now: 10 })).items.length,
      (await store.getWait('mine', 'w'))?.state,
      (await store.listCommands({ state: 'accepted' })).items.length,
      (await store.readBlob(hash))?.hash,
    ]
    const own = [1, 'about mine', 1, ['acme'], 1, 1, 1, 1, 1, 'pending', 1, hash]
    assert.deepEqual(await view(acme), own)
    assert.deepEqual(await view(all), own)
    const nothing = [undefined, undefined, 0, [], 0, 0, 0, 0, 0, undefined, 0, undefined]
    assert.deepEqual(await view(globex), nothing)
  })

  test('works on its own threads, and cannot claim, write, delete or command those of another tenant', async () => {
    const fence = await fill()
    await globex.createStream(thread('theirs', 'globex'))
    const own = { owner: 'g', epoch: (await globex.claim('theirs', 'g')).epoch }
    assert.equal(await globex.append({ stream: 'theirs', fence: own, records: [note('theirs', 1)] }), 1)
    await assert.rejects(globex.createStream(thread('foisted', 'acme')), rejectsWith('read-only'))
    await assert.rejects(globex.claim('mine', 'g'), rejectsWith('not-found'))
    await assert.rejects(globex.takeOver('mine', 'g', fence.epoch), rejectsWith('not-found'))
    // Even with the true fence of the owner.
    const forged = { stream: 'mine', fence, records: [note('mine', 2)] }
    await assert.rejects(globex.append(forged), rejectsWith('not-found'))
    await assert.rejects(globex.erase('mine', fence, { from: 1, to: 1 }), rejectsWith('not-found'))
    assert.equal((await globex.deleteThread('mine', fence)).deleted, false)
    await assert.rejects(globex.admitCommand(command('mine')), rejectsWith('read-only'))
    const moved = { stream: 'theirs', fence: own, records: [], thread: { resourceId: 'acme' } }
    await assert.rejects(globex.append(moved), rejectsWith('read-only'))
    assert.equal((await all.getStream('mine'))?.headSeq, 1)
    assert.equal((await acme.append({ stream: 'mine', fence, records: [note('mine', 2)] })) === 2, true)
  })

  test('does not get at the bytes of another tenant by their hash', async () => {
    await fill()
    await globex.createStream(thread('theirs', 'globex'))
    const fence = { owner: 'g', epoch: (await globex.claim('theirs', 'g')).epoch }
    const refer = (given?: Uint8Array): Promise<number> =>
      globex.append({
        stream: 'theirs',
        fence,
        records: [note('theirs', 1)],
        blobs: [{ hash, mime: 'text/plain', seq: 1, ...(given === undefined ? {} : { bytes: given }) }],
      })
    await assert.rejects(refer(), rejectsWith('not-found'))
    assert.equal(await refer(bytes), 1)
    assert.equal((await globex.readBlob(hash))?.hash, hash)
  })

  test('sees and changes no row of another tenant with SQL of its own, whatever it sets', async () => {
    await fill()
    await withClient(urlOf('globex'), async (client) => {
      const { rows } = await client.query(
        `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'harness'
           AND table_name NOT IN ('meta', 'owners') ORDER BY 1`,
      )
      const tables = (rows as { name: string }[]).map(({ name }) => name)
      assert.ok(tables.includes('records') && tables.includes('blobs') && tables.includes('commands'))
      for (const name of tables) {
        const found = await client.query(`SELECT * FROM harness.${name}`)
        assert.deepEqual(found.rows, [], name)
        // No right to, or nothing to delete.
        const gone = await client.query(`DELETE FROM harness.${name}`).catch(() => ({ rowCount: 0 }))
        assert.equal(gone.rowCount, 0, name)
      }
      await assert.rejects(client.query('SELECT * FROM harness.tenants'), /permission denied/)
      await assert.rejects(client.query('SET SESSION AUTHORIZATION acme'), /permission denied/)
      await assert.rejects(client.query('SET ROLE acme'), /permission denied/)
      await assert.rejects(client.query('ALTER TABLE harness.records DISABLE ROW LEVEL SECURITY'), /must be owner/)
      const insert = `INSERT INTO harness.records (stream_no, seq, type, v, at, body)
        SELECT n, 99, 'note', 1, 1, '{}' FROM generate_series(1, 5) AS n`
      await assert.rejects(client.query(insert), /row-level security/)
    })
    assert.equal((await all.readRecords('mine', {})).items.length, 1)
  })

  test('loses everything when the tenant gets another role, and a role that sees all rows is refused', async () => {
    await fill()
    await all.setTenant({ resourceId: 'acme' })
    await withClient(urlOf('acme'), (client) =>
      assert.rejects(client.query('SELECT * FROM harness.records'), /permission denied/),
    )
    await assert.rejects(all.setTenant({ resourceId: 'acme', role: 'inspan' }), rejectsWith('invalid-input'))
    await assert.rejects(all.setTenant({ resourceId: 'acme', role: 'nobody here' }), rejectsWith('not-found'))
  })

  test('a command that a tenant sent to an id before there was a thread is dropped with the thread of another', async () => {
    await globex.admitCommand(command('later'))
    await all.createStream(thread('later', 'acme'))
    assert.deepEqual((await all.listCommands({ target: 'later', state: 'accepted' })).items, [])
  })
})

suite('quotas and retention of a tenant', () => {
  test('limits threads exactly, also when many are made at once', async () => {
    await all.setTenant({ resourceId: 'acme', role: 'acme', maxThreads: 3 })
    const made = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) => all.createStream(thread(`t${index}`, 'acme'))),
    )
    assert.equal(made.filter(({ status }) => status === 'fulfilled').length, 3)
    await assert.rejects(acme.createStream(thread('more', 'acme')), (error: unknown) => {
      assert.ok(InspanError.is(error, 'quota-exceeded'))
      assert.match(error.hint ?? '', /Delete threads .* or raise the quota/)
      assert.deepEqual(error.details, { resourceId: 'acme', quota: 'threads', limit: 3, used: 3 })
      return true
    })
    await globex.createStream(thread('other', 'globex'))
    const [first] = (await all.listThreads({ resourceId: 'acme' })).items
    const id = first?.id ?? ''
    await all.deleteThread(id, { owner: 'o', epoch: (await all.claim(id, 'o')).epoch })
    await acme.createStream(thread('again', 'acme'))
  })

  test('refuses new work of a tenant over its bytes or its commands, and lets current runs continue', async () => {
    await all.setTenant({ resourceId: 'acme', maxBytes: 100, maxCommands: 2 })
    await all.createStream(thread('t', 'acme'))
    const fence = { owner: 'o', epoch: (await all.claim('t', 'o')).epoch }
    await all.admitCommand(command('t'))
    const second = command('t')
    await all.admitCommand(second)
    await assert.rejects(all.admitCommand(command('t')), (error: unknown) => {
      assert.ok(InspanError.is(error, 'quota-exceeded'))
      assert.match(error.hint ?? '', /Wait until the commands before it were carried out/)
      return true
    })
    assert.equal((await all.admitCommand(second)).status, 'duplicate')
    await all.settleCommand({ key: second.key, outcome: {} })
    await all.admitCommand(command('t'))
    for (let seq = 1; seq <= 10; seq++) await all.append({ stream: 't', fence, records: [note('t', seq)] })
    await assert.rejects(all.createStream(thread('u', 'acme')), rejectsWith('quota-exceeded'))
  })

  test('deletes what a tenant no longer keeps: at rest, without work to do, and older than it wants', async () => {
    const old = Date.now() - 10_000
    const aged = (id: string, resourceId: string): NewStream => {
      const stream = thread(id, resourceId)
      return { ...stream, info: { ...stream.info, createdAt: old, updatedAt: old } }
    }
    for (const id of ['old', 'held', 'asked']) await all.createStream(aged(id, 'acme'))
    await all.createStream(thread('new', 'acme'))
    await all.createStream(aged('elsewhere', 'globex'))
    await all.claim('held', 'somebody')
    await all.admitCommand(command('asked'))
    assert.deepEqual(await all.expireThreads(), [])
    await all.setTenant({ resourceId: 'acme', keepMs: 5000 })
    assert.deepEqual(await all.listTenants(), [
      { resourceId: 'acme', keepMs: 5000 },
      { resourceId: 'globex', role: 'globex' },
    ])
    assert.deepEqual(await all.expireThreads(), ['old'])
    const left = (await all.listThreads({})).items.map(({ id }) => id).sort()
    assert.deepEqual(left, ['asked', 'elsewhere', 'held', 'new'])
    assert.equal(await all.getStream('old'), null)
  })
})
