import assert from 'node:assert/strict'
import { copyFile, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { StoreProcess } from '../test/store-process.ts'
import { inTempDir } from '../test/temp-dir.ts'
import { infoOf, noteOf, startThread } from '../test/threads.ts'
import { SqliteStore, type SqliteStoreOptions } from './sqlite-store.ts'

async function epochOf(options: SqliteStoreOptions): Promise<string> {
  const store = await SqliteStore.open(options)
  const { epoch } = store
  await store.close()
  return epoch
}

describe('the epoch of an SQLite store', () => {
  it(
    'stays as long as nothing can have been lost',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const epoch = await epochOf({ url, bootId: 'first boot' })
      assert.equal(await epochOf({ url, bootId: 'first boot' }), epoch)
      assert.equal(await epochOf({ url, bootId: 'second boot' }), epoch)
      await rename(url, join(directory, 'renamed.db'))
      assert.equal(await epochOf({ url: join(directory, 'renamed.db') }), epoch)
    }),
  )

  it(
    'is another one in a copy, and stays in the original',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const copy = join(directory, 'copy.db')
      const epoch = await epochOf({ url })
      await copyFile(url, copy)
      const epochOfCopy = await epochOf({ url: copy })
      assert.notEqual(epochOfCopy, epoch)
      assert.equal(await epochOf({ url: copy }), epochOfCopy)
      assert.equal(await epochOf({ url }), epoch)
    }),
  )

  it(
    'changes when a backup takes the place of the file',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const epoch = await epochOf({ url })
      const backup = join(directory, 'backup.db')
      await copyFile(url, backup)
      // The new file may well get the inode of the old one.
      await rm(url)
      await copyFile(backup, url)
      const restored = await epochOf({ url })
      assert.notEqual(restored, epoch)
      await rename(backup, url)
      assert.notEqual(await epochOf({ url }), restored)
    }),
  )

  it(
    'changes when the machine went down while the file was open',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const leftOpen = await SqliteStore.open({ url, bootId: 'first boot' })
      const after = await epochOf({ url, bootId: 'second boot' })
      assert.notEqual(after, leftOpen.epoch)
      assert.equal(await epochOf({ url, bootId: 'third boot' }), after)
      await leftOpen.close()
    }),
  )

  it(
    'stays over a loss of power when commits survive it',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const leftOpen = await SqliteStore.open({ url, bootId: 'first boot', durability: 'power' })
      assert.equal(await epochOf({ url, bootId: 'second boot' }), leftOpen.epoch)
      await leftOpen.close()
    }),
  )

  it(
    'stays when a process was killed, on this boot and later ones',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const epoch = await epochOf({ url })
      const other = await StoreProcess.start(url)
      await other.call('open')
      await other.kill()
      assert.equal(await epochOf({ url }), epoch)
      assert.equal(await epochOf({ url, bootId: 'another boot' }), epoch)
    }),
  )

  it(
    'is the same for all that have the file open',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const one = await SqliteStore.open({ url })
      const two = await SqliteStore.open({ url })
      const { epoch } = one
      assert.equal(two.epoch, epoch)
      await one.close()
      await startThread(two, 't')
      await two.close()
      assert.equal(await epochOf({ url }), epoch)
    }),
  )

  it('is a new one for every store in memory', async () => {
    assert.notEqual(await epochOf({ url: ':memory:' }), await epochOf({ url: ':memory:' }))
  })
})

describe('the epoch of an SQLite store whose process was killed', () => {
  /** Leaves a log with 20 commits behind. */
  async function killed(url: string): Promise<string> {
    const epoch = await epochOf({ url })
    const writer = await StoreProcess.start(url)
    for (let n = 0; n < 20; n++) {
      const start = { owner: 'me', records: [noteOf(`t${n}`, 1)] }
      await writer.call('createStream', { kind: 'thread', info: infoOf(`t${n}`), headSeq: 0, start })
    }
    await writer.kill()
    return epoch
  }

  async function threadsOf(url: string): Promise<number> {
    const store = await SqliteStore.open({ url })
    const { items } = await store.listThreads({})
    await store.close()
    return items.length
  }

  it(
    'stays when its log is whole',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const epoch = await killed(url)
      assert.equal(await epochOf({ url }), epoch)
      assert.equal(await threadsOf(url), 20)
    }),
  )

  const damages: Readonly<Record<string, (wal: string) => Promise<void>>> = {
    'was cut in half': async (wal) => truncate(wal, Math.floor((await stat(wal)).size / 2)),
    'is gone': (wal) => rm(wal),
    'is empty': (wal) => truncate(wal, 0),
    'is damaged in the middle': async (wal) => {
      const bytes = await readFile(wal)
      const at = Math.floor(bytes.length / 2)
      await writeFile(wal, bytes.fill(0xa5, at, at + 100))
    },
  }
  for (const [what, damage] of Object.entries(damages)) {
    it(
      `changes when its log ${what}, and then stays`,
      inTempDir(async (directory) => {
        const url = join(directory, 'data.db')
        const epoch = await killed(url)
        await damage(`${url}-wal`)
        const after = await epochOf({ url })
        assert.notEqual(after, epoch)
        assert.equal(await epochOf({ url }), after)
        assert.ok((await threadsOf(url)) < 20, 'commits were lost')
      }),
    )
  }
})
