import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { after, before, suite, test } from 'node:test'
import { ProcessOwner } from '@inspan/core/engine'
import { InspanError } from '@inspan/protocol'
import { RECORD_VERSIONS } from '@inspan/protocol/log'
import type { Member, NewStream } from '@inspan/protocol/store'
import { PostgresStore } from '../postgres-store.ts'
import { startProxy } from '../proxy.fixture.ts'
import { startPostgres, withClient, type PostgresServer } from '../server.fixture.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.stop())

function thread(id: string): NewStream {
  const info = { id, resourceId: 'r', title: null, createdAt: 1, updatedAt: 1, hidden: false, metadata: {} }
  return { kind: 'thread', info, headSeq: 0 }
}

interface OwnerProcess {
  readonly child: ChildProcess
  /** Resolves when it has learned that others took it for dead. */
  readonly isLost: Promise<void>
}

/** A process that owns the thread `t` until it is ended. */
async function startOwner(url: string): Promise<OwnerProcess> {
  const program = fileURLToPath(new URL('owner-child.fixture.ts', import.meta.url))
  const child = spawn(process.execPath, [program, url], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const [ready, lost] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  child.on('message', (message) => (message === 'ready' ? ready : lost).resolve())
  await ready.promise
  return { child, isLost: lost.promise }
}

interface Watcher {
  readonly owner: ProcessOwner
  /** Resolves when a thread was offered. */
  readonly isOffered: Promise<string>
}

/** This process among the others. Like any, it comes back if it was so slow that it counts as dead itself. */
async function watch(store: PostgresStore): Promise<Watcher> {
  const offered = Promise.withResolvers<string>()
  const owner = await ProcessOwner.register(store, { onWake: offered.resolve })
  return { owner, isOffered: offered.promise }
}

/** Takes the thread `t` from an owner that this process saw die. */
async function takeOver({ owner }: Watcher): Promise<void> {
  await until(() =>
    owner.claim('t').then(
      () => true,
      (error: unknown) => {
        if (InspanError.is(error, 'held')) return false
        throw error
      },
    ),
  )
}

interface Seen extends Member {
  readonly woken: string[]
  readonly isLost: Promise<void>
  /** Resolves when a thread was offered. */
  readonly isOffered: Promise<string>
}

function member(owner: string): Seen {
  const woken: string[] = []
  const lost = Promise.withResolvers<void>()
  const offered = Promise.withResolvers<string>()
  return {
    owner,
    woken,
    isLost: lost.promise,
    isOffered: offered.promise,
    onWake: (id) => {
      woken.push(id)
      offered.resolve(id)
    },
    onLost: lost.resolve,
  }
}

async function putOwner(store: PostgresStore, id: string): Promise<void> {
  await store.putOwner({ id, host: 'h', pid: 1, startTime: '1', bootId: 'b', until: Date.now() + 30_000 })
}

suite('the processes of a shared store', () => {
  test('a killed process is found dead, its thread offered, and its row removed once it owns nothing', async () => {
    const url = await server.emptyDatabase()
    await using store = disposable(await PostgresStore.open({ url }))
    await store.createStream(thread('t'))
    const watcher = await watch(store)
    const { child } = await startOwner(url)
    await assert.rejects(watcher.owner.claim('t'), (error) => InspanError.is(error, 'held'))
    child.kill('SIGKILL')
    assert.equal(await watcher.isOffered, 't')
    await takeOver(watcher)
    await until(async () => (await store.getOwner('child')) === null)
    await watcher.owner.close()
  })

  test('a stopped process counts as dead although its connection lives, and learns it when it continues', async () => {
    const url = await server.emptyDatabase()
    await using store = disposable(await PostgresStore.open({ url }))
    await store.createStream(thread('t'))
    const watcher = await watch(store)
    const { child, isLost } = await startOwner(url)
    child.kill('SIGSTOP')
    assert.equal(await watcher.isOffered, 't')
    await takeOver(watcher)
    child.kill('SIGCONT')
    await isLost
    child.kill('SIGKILL')
    await watcher.owner.close()
  })

  test('a process that is cut off from the database stops before others take its threads', async () => {
    const url = await server.emptyDatabase()
    const proxy = await startProxy(url)
    await using store = disposable(await PostgresStore.open({ url }))
    await store.createStream(thread('t'))
    await using cutOff = disposable(await PostgresStore.open({ url: proxy.url }))
    await putOwner(cutOff, 'cut-off')
    await cutOff.claim('t', 'cut-off')
    const watcher = await watch(store)
    const isolated = member('cut-off')
    const membership = await cutOff.join(isolated)
    await until(async () => (await beatOf(url, 'cut-off')) !== undefined)
    proxy.hang()
    const order: string[] = []
    await Promise.all([
      isolated.isLost.then(() => order.push('stopped')),
      watcher.isOffered.then(() => order.push('offered')),
    ])
    assert.deepEqual(order, ['stopped', 'offered'])
    proxy.cut()
    await membership.leave()
    await watcher.owner.close()
    await proxy.close()
  })

  test('the owner of a thread learns of commands that another process admitted', async () => {
    const url = await server.emptyDatabase()
    await using owner = disposable(await PostgresStore.open({ url }))
    await using other = disposable(await PostgresStore.open({ url }))
    await owner.createStream(thread('t'))
    await putOwner(owner, 'owner')
    await putOwner(other, 'other')
    await owner.claim('t', 'owner')
    const first = member('owner')
    const second = member('other')
    const memberships = [await owner.join(first), await other.join(second)]
    await until(async () => (await listeners(url)) === 2)
    // A UUIDv7 begins with its time in milliseconds.
    const key = { principal: 'p', clientId: 'c', commandId: '01988c8e-0000-7000-8000-000000000001' }
    await other.admitCommand({ key, bodyHash: 'h', target: 't', body: {}, at: 0x01988c8e0000 })
    assert.equal(await first.isOffered, 't')
    await Promise.all(memberships.map((each) => each.leave()))
  })
})

test('a reader learns that a stream has grown, whichever process wrote it, until it unsubscribes', async () => {
  const url = await server.emptyDatabase()
  await using writer = disposable(await PostgresStore.open({ url }))
  await using reader = disposable(await PostgresStore.open({ url }))
  await writer.createStream(thread('t'))
  await putOwner(writer, 'writer')
  const { epoch } = await writer.claim('t', 'writer')
  const membership = await writer.join(member('writer'))
  const heard = Promise.withResolvers<[string, number]>()
  const stop = reader.onChange((stream, seq) => heard.resolve([stream, seq]))
  await until(async () => (await lines(url, 'LISTEN%')) === 1)
  const body = { type: 'note', kind: 'info', text: 'new' } as const
  const record = { v: RECORD_VERSIONS.note, stream: 't', seq: 1, at: 1, body }
  await writer.append({ stream: 't', fence: { owner: 'writer', epoch }, records: [record] })
  assert.deepEqual(await heard.promise, ['t', 1])
  stop()
  await until(async () => (await lines(url, 'LISTEN%')) === 0)
  await membership.leave()
})

test('an append notifies nobody: signals are sent by themselves, once this process is one of several', async () => {
  const url = await server.emptyDatabase()
  await using store = disposable(await PostgresStore.open({ url }))
  await store.createStream(thread('t'))
  await putOwner(store, 'me')
  const { epoch } = await store.claim('t', 'me')
  const body = { type: 'note', kind: 'info', text: 'new' } as const
  const append = (seq: number, title?: string): Promise<number> =>
    store.append({
      stream: 't',
      fence: { owner: 'me', epoch },
      records: [{ v: RECORD_VERSIONS.note, stream: 't', seq, at: 1, body }],
      ...(title === undefined ? {} : { thread: { title } }),
    })
  await withClient(url, async (client) => {
    const heard: string[] = []
    const signalled = Promise.withResolvers<void>()
    client.on('notification', ({ payload = '' }) => {
      heard.push(payload)
      if (payload === '["t",3]') signalled.resolve()
    })
    await client.query('LISTEN inspan')
    // Both ways in which an append is written. What a transaction notifies is heard in the order of the commits.
    await append(1)
    await append(2, 'with a title')
    await client.query(`SELECT pg_notify('inspan', 'after both')`)
    assert.deepEqual(heard, ['after both'])
    const membership = await store.join(member('me'))
    await append(3)
    await signalled.promise
    await membership.leave()
  })
})

test('a dump whose restoring outlasts the patience of a direct line is noticed by its next beat', async () => {
  const url = await server.emptyDatabase()
  await using store = disposable(await PostgresStore.open({ url }))
  await store.putOwner({ id: 'me', host: 'h', pid: 1, startTime: '1', bootId: 'b', until: Date.now() + 30_000 })
  const me = member('me')
  const membership = await store.join(me)
  await until(async () => (await beatOf(url, 'me')) !== undefined)
  const dump = await server.run('pg_dump', '--inserts', '--schema=harness', url)
  const statements = dump.replaceAll(/^\\.*$/gm, '')
  await withClient(url, async (client) => {
    await client.query(`BEGIN; DROP SCHEMA harness CASCADE; ${statements}`)
    // The line gives up on the beat that waits for the tables. The next one waits for the lock of the first.
    await until(async () => (await lines(url, 'SELECT pg_advisory_lock%')) > 0)
    await client.query('COMMIT')
  })
  const restored = (await beatOf(url, 'me')) ?? 0
  let isLost = false
  void me.isLost.then(() => (isLost = true))
  await until(async () => isLost || ((await beatOf(url, 'me')) ?? 0) > restored + 3)
  assert.ok(isLost, 'it went on as if nothing had happened')
  await membership.leave()
})

/** The number of sessions that listen. */
async function listeners(url: string): Promise<number> {
  return lines(url, 'WITH mine%')
}

/** The number of direct lines whose last statement looks like this. */
async function lines(url: string, statement: string): Promise<number> {
  return withClient(url, async (client) => {
    const { rows } = await client.query(
      `SELECT count(*)::int AS n FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'inspan line' AND query LIKE $1`,
      [statement],
    )
    return (rows as { n: number }[])[0]?.n ?? 0
  })
}

async function beatOf(url: string, owner: string): Promise<number | undefined> {
  return withClient(url, async (client) => {
    const { rows } = await client.query('SELECT beat::int FROM harness.owners WHERE id = $1 AND beat > 0', [owner])
    return (rows as { beat: number }[])[0]?.beat
  })
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20))
}

function disposable(store: PostgresStore): PostgresStore & AsyncDisposable {
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() })
}
