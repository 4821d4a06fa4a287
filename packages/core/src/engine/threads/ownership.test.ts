import assert from 'node:assert/strict'
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { InspanError } from '@inspan/protocol'
import type { Member, Membership, Owner } from '@inspan/protocol/store'
import { SqliteStore } from '@inspan/stores'
import { isDead, ProcessOwner } from './ownership.ts'
import { ThreadLog } from '../log/thread-log.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { createThread } from './threads.ts'

const CHILD = fileURLToPath(new URL('owner-child.fixture.ts', import.meta.url))

class Holder implements AsyncDisposable {
  readonly process: ChildProcessByStdio<Writable, Readable, null>
  readonly #lines: Interface

  constructor(url: string) {
    this.process = spawn(process.execPath, [CHILD, url, 'thread'], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#lines = createInterface({ input: this.process.stdout })
  }

  async said(): Promise<string> {
    const [line] = (await once(this.#lines, 'line')) as [string]
    return line
  }

  async write(mode: string): Promise<string> {
    const said = this.said()
    this.process.stdin.write(`${mode}\n`)
    return said
  }

  async kill(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return
    const gone = once(this.process, 'exit')
    this.process.kill('SIGKILL')
    await gone
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}

async function withThread(use: (store: SqliteStore, owner: ProcessOwner, url: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'inspan-owner-'))
  const url = join(folder, 'data.db')
  const store = new SqliteStore({ url })
  try {
    await createThread(store, { id: 'thread', resourceId: 'test' })
    const owner = await ProcessOwner.register(store)
    await use(store, owner, url)
    await owner.close()
  } finally {
    await store.close()
    await rm(folder, { recursive: true })
  }
}

suite('two processes and one thread', () => {
  test('a thread of a process that crashed counts as an attempt, one of a process that was asked to end does not', async () => {
    await withThread(async (store, owner, url) => {
      for (const isAsked of [false, true]) {
        await using holder = new Holder(url)
        assert.equal(await holder.said(), 'holding')
        if (isAsked) assert.equal(await holder.write('leave'), 'left')
        await holder.kill()
        const { countsAsAttempt, ...fence } = await owner.claim('thread')
        assert.equal(countsAsAttempt, !isAsked)
        await store.release('thread', fence)
      }
    })
  })

  test('the second gets an error that names who holds it and where', async () => {
    await withThread(async (_store, owner, url) => {
      await using holder = new Holder(url)
      assert.equal(await holder.said(), 'holding')
      await assert.rejects(owner.claim('thread'), (error) => {
        assert.ok(InspanError.is(error, 'held'))
        assert.match(error.message, new RegExp(`process ${holder.process.pid} on ${hostname()}`))
        assert.match(error.message, /http:\/\/127\.0\.0\.1:1/)
        return true
      })
      assert.equal(await holder.write('still-mine'), 'written')
    })
  })

  test('a holder that was killed is taken over at once, and nothing it wrote is lost', async () => {
    await withThread(async (store, owner, url) => {
      await using holder = new Holder(url)
      await holder.said()
      assert.equal(await holder.write('mine'), 'written')
      await holder.kill()
      const log = await ThreadLog.open({ store, stream: 'thread', fence: await owner.claim('thread') })
      assert.equal(log.state.head.mode, 'mine')
      await log.commit([{ type: 'config.changed', mode: 'now ours' }])
    })
  })

  test('the late write of a holder that was replaced is refused', async () => {
    await withThread(async (store, owner, url) => {
      await using holder = new Holder(url)
      await holder.said()
      const status = await store.getStream('thread')
      assert.equal((await store.takeOver('thread', owner.id, status?.epoch ?? 0)).status, 'owned')
      assert.equal(await holder.write('too late'), 'fenced')
      const { items } = await store.readRecords('thread', {})
      assert.deepEqual(items, [])
    })
  })
})

test('an owner that was closed opens no thread, and explains why', async () => {
  await withThread(async (store) => {
    const owner = await ProcessOwner.register(store)
    await owner.close()
    await assert.rejects(
      ThreadRuntime.open({ store, owner, thread: 'thread', agents: {} }),
      (error) =>
        InspanError.is(error, 'closed') && /its owner is closed\. .*ProcessOwner\.register/.test(error.message),
    )
  })
})

test('an owner that closes leaves its row only for threads that it still owns and that others have to continue', async () => {
  await withThread(async (store) => {
    const [released, leaving] = [await ProcessOwner.register(store), await ProcessOwner.register(store)]
    await released.release('thread', await released.claim('thread'))
    released.leaveBehind('thread')
    await leaving.claim('thread')
    leaving.leaveBehind('thread')
    const ids = [released.id, leaving.id]
    await released.close()
    await leaving.close()
    assert.deepEqual(await Promise.all(ids.map(async (id) => (await store.getOwner(id))?.until)), [undefined, 0])
  })
})

suite('whether an owner is dead', () => {
  const me: Promise<Owner> = ownRow()

  test('this process is alive', async () => {
    assert.equal(isDead(await me, Date.now()), false)
  })

  test('a pid that another process has now is not the owner', async () => {
    assert.equal(isDead({ ...(await me), startTime: '1' }, Date.now()), true)
  })

  test('an owner in another container with the same name, or after another boot, is judged by its lease alone, because its pids are not ours', async () => {
    const { bootId, ...row } = await me
    const elsewhere = [bootId.replace(/pid:\[\d+\]/, 'pid:[1]'), 'an earlier boot']
    for (const other of elsewhere) {
      assert.notEqual(other, bootId)
      assert.equal(isDead({ ...row, bootId: other, pid: 2 ** 22, startTime: '1', until: 1000 }, 999), false)
      assert.equal(isDead({ ...row, bootId: other, until: 1000 }, 1001), true)
    }
  })

  test('where pids are ours a lease does not keep the dead alive, nor its end kill the living', async () => {
    assert.equal(isDead({ ...(await me), until: 0 }, Date.now()), false)
    assert.equal(isDead({ ...(await me), pid: 2 ** 22, until: Infinity }, Date.now()), true)
  })

  test('an owner on another machine is judged by its lease alone', async () => {
    const other = { ...(await me), host: 'elsewhere', pid: 1, until: 1000 }
    assert.equal(isDead(other, 999), false)
    assert.equal(isDead(other, 1001), true)
  })
})

test('a process that was taken for dead takes its own threads back, although nobody saw its old name die', async () => {
  const members: Member[] = []
  /** As on a store that machines share, of which none has been found dead yet. */
  class SharedStore extends SqliteStore {
    async join(member: Member): Promise<Membership> {
      members.push(member)
      return { isDead: () => false, leave: async () => undefined }
    }
  }
  const store = new SharedStore({ url: ':memory:' })
  await createThread(store, { id: 'thread', resourceId: 'test' })
  const owner = await ProcessOwner.register(store)
  const before = await owner.claim('thread')
  members[0]?.onLost()
  const after = await owner.claim('thread')
  assert.notEqual(after.owner, before.owner)
  assert.ok(after.epoch > before.epoch)
  await owner.close()
  await store.close()
})

async function ownRow(): Promise<Owner> {
  const store = new SqliteStore({ url: ':memory:' })
  const owner = await ProcessOwner.register(store)
  const row = await store.getOwner(owner.id)
  await owner.close()
  await store.close()
  assert.ok(row !== null)
  return row
}
