import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { RECORD_FORMAT, type Owner } from '@inspan/protocol/store'
import { filesIn } from '../test/files.ts'
import { StoreProcess } from '../test/store-process.ts'
import { inTempDir } from '../test/temp-dir.ts'
import { infoOf, noteOf } from '../test/threads.ts'
import { SqliteConnection } from './sqlite/connection.ts'
import { removeIfEmpty } from './sqlite/file-inspection.ts'
import { SqliteStore } from './sqlite-store.ts'

function ownerOf(id: string, pid: number | undefined): Owner {
  return { id, host: 'here', pid: pid ?? 0, startTime: '1', bootId: 'b', until: 0, url: `http://127.0.0.1/${id}` }
}

async function everyRecord(store: SqliteStore, stream: string): Promise<number[]> {
  const seqs: number[] = []
  for (;;) {
    const { items, next } = await store.readRecords(stream, { after: seqs.at(-1) ?? 0, limit: 1000 })
    seqs.push(...items.map((record) => record.seq))
    if (next === null) return seqs
  }
}

function thrownBy(work: () => void): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  return assert.fail('nothing was thrown')
}

describe('an SQLite store shared by processes', () => {
  it(
    'names the holder to a second process and fences a holder that was taken for dead',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const holder = await StoreProcess.start(url)
      const second = await SqliteStore.open({ url })
      try {
        const owner = ownerOf('holder', holder.child.pid)
        await holder.call('putOwner', owner)
        await holder.call('createStream', { kind: 'thread', info: infoOf('t'), headSeq: 0 })
        const claim = await holder.call('claim', 't', 'holder')
        const fence = { owner: 'holder', epoch: claim.epoch }
        await holder.call('append', { stream: 't', fence, records: [noteOf('t', 1)] })

        const held = await second.claim('t', 'second')
        assert.deepEqual(held, { status: 'held', epoch: claim.epoch, owner: 'holder', holder: owner })

        // Stopped, not dead: it will go on and write, believing that it still owns the thread.
        holder.child.kill('SIGSTOP')
        assert.equal((await second.takeOver('t', 'second', claim.epoch)).status, 'owned')
        const late = holder.call('append', { stream: 't', fence, records: [noteOf('t', 2, 'late')] })
        holder.child.kill('SIGCONT')
        await assert.rejects(late, (error) => InspanError.is(error, 'fenced') && error.details['owner'] === 'second')

        await holder.kill()
        const newFence = { owner: 'second', epoch: claim.epoch + 1 }
        assert.equal(await second.append({ stream: 't', fence: newFence, records: [noteOf('t', 2)] }), 2)
      } finally {
        await holder.kill()
        await second.close()
      }
    }),
  )

  it(
    'lets a thread be taken over from a process that was killed',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const holder = await StoreProcess.start(url)
      await holder.call('createStream', { kind: 'thread', info: infoOf('t'), headSeq: 0 })
      const { epoch } = await holder.call('claim', 't', 'holder')
      await holder.call('append', { stream: 't', fence: { owner: 'holder', epoch }, records: [noteOf('t', 1)] })
      await holder.kill()
      const store = await SqliteStore.open({ url })
      assert.equal((await store.claim('t', 'me')).status, 'held')
      assert.deepEqual(await store.takeOver('t', 'me', epoch), { status: 'owned', epoch: epoch + 1, headSeq: 1 })
      await store.close()
    }),
  )

  it(
    'takes writes to different threads from all of them at once',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const processes = await Promise.all([1, 2, 3].map(() => StoreProcess.start(url)))
      try {
        const count = 100
        await Promise.all(
          processes.map(async (process, index) => {
            const stream = `t${index}`
            await process.call('createStream', {
              kind: 'thread',
              info: infoOf(stream),
              headSeq: 0,
              start: { owner: stream, records: [] },
            })
            const fence = { owner: stream, epoch: 1 }
            for (let seq = 1; seq <= count; seq++) {
              await process.call('append', { stream, fence, records: [noteOf(stream, seq)] })
            }
          }),
        )
        const store = await SqliteStore.open({ url })
        for (const stream of ['t0', 't1', 't2']) assert.equal((await everyRecord(store, stream)).length, count)
        await store.close()
      } finally {
        await Promise.all(processes.map((process) => process.kill()))
      }
    }),
  )

  it(
    'moves the log into the file though another has written to it since it was turned on',
    inTempDir(async (directory) => {
      const path = join(directory, 'data.db')
      const one = new DatabaseSync(path)
      const other = new DatabaseSync(path)
      one.exec('CREATE TABLE notes (text); PRAGMA journal_mode = WAL;')
      other.exec("INSERT INTO notes VALUES ('between')")
      assert.equal(new SqliteConnection(one, path, RECORD_FORMAT).truncateLog(), true)
      one.close()
      other.close()
    }),
  )

  it(
    'waits longer to open a file that another is laying out than a call waits',
    inTempDir(async (directory) => {
      const path = join(directory, 'data.db')
      await writeFile(path, '')
      // Opening blocks this process, so the other one has to release the lock by itself.
      const program = `
        const { DatabaseSync } = require('node:sqlite')
        const database = new DatabaseSync(${JSON.stringify(path)})
        database.exec('BEGIN IMMEDIATE')
        process.send('locked', () => setTimeout(() => database.exec('COMMIT'), 6000))`
      const other = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
      const over = once(other, 'exit')
      await once(other, 'message')
      await assert.rejects(SqliteStore.open({ url: path, busyTimeoutMs: 20 }), (error) => InspanError.is(error, 'io'))
      const store = await SqliteStore.open({ url: path })
      await store.close()
      other.disconnect()
      assert.deepEqual(await over, [0, null])
    }),
  )

  it(
    'a new file is taken away after a failure, but not from under another that is writing to it',
    inTempDir(async (directory) => {
      const path = join(directory, 'data.db')
      await writeFile(path, '')
      const writer = new DatabaseSync(path)
      writer.exec('BEGIN IMMEDIATE')
      const second = new DatabaseSync(path)
      const locked = thrownBy(() => second.exec('BEGIN IMMEDIATE'))
      second.close()
      removeIfEmpty(path, locked)
      writer.exec('CREATE TABLE notes (text)')
      removeIfEmpty(path, new InspanError('disk-full', 'There is no room.'))
      writer.exec('COMMIT')
      writer.close()
      assert.ok((await readFile(path)).length > 0)

      const unused = join(directory, 'unused.db')
      await writeFile(unused, '')
      removeIfEmpty(unused, new InspanError('disk-full', 'There is no room.'))
      assert.deepEqual([...(await filesIn(directory)).keys()], ['data.db'])
    }),
  )

  it(
    'can be created by several at the same moment',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const processes = await Promise.all([1, 2, 3].map(() => StoreProcess.start(url)))
      try {
        await Promise.all(
          processes.map((process, index) =>
            process.call('createStream', { kind: 'thread', info: infoOf(`t${index}`), headSeq: 0 }),
          ),
        )
        const lists = await Promise.all(processes.map((process) => process.call('listThreads', {})))
        for (const list of lists) assert.equal(list.items.length, 3)
      } finally {
        await Promise.all(processes.map((process) => process.kill()))
      }
    }),
  )
})

/**
 * Writes until it is killed in the middle of it; returns the last seq that was acknowledged. It writes so little that
 * everything is in the log alone.
 */
async function writeAndKill(url: string): Promise<number> {
  const writer = await StoreProcess.start(url)
  await writer.call('createStream', {
    kind: 'thread',
    info: infoOf('t'),
    headSeq: 0,
    start: { owner: 'me', records: [] },
  })
  let acknowledged = 0
  const writing = (async () => {
    for (let seq = 1; ; seq++) {
      const record = noteOf('t', seq, `${seq} `.repeat(seq % 400))
      await writer.call('append', { stream: 't', fence: { owner: 'me', epoch: 1 }, records: [record] })
      acknowledged = seq
      if (seq === 80) void writer.kill()
    }
  })()
  await assert.rejects(writing, /gone/)
  return acknowledged
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1)

describe('a store whose process was killed', () => {
  it(
    'has everything that was acknowledged, and nothing torn',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const acknowledged = await writeAndKill(url)
      const store = await SqliteStore.open({ url })
      const seqs = await everyRecord(store, 't')
      assert.ok(seqs.length >= acknowledged)
      assert.deepEqual(seqs, upTo(seqs.length))
      assert.deepEqual(await store.check(), [])
      await store.append({ stream: 't', fence: { owner: 'me', epoch: 1 }, records: [noteOf('t', seqs.length + 1)] })
      await store.close()
    }),
  )

  it(
    'opens with what was committed before the tear, wherever its log is torn',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const acknowledged = await writeAndKill(url)
      const log = await readFile(`${url}-wal`)
      const whole = log.length
      const places = [0, 1, 31, 32, 33, 4096, whole - 1, whole - 4097, whole]
      for (let i = 1; i <= 25; i++) places.push(Math.floor((whole * i * 0.618_033_988) % whole))
      const lengths: number[] = []
      for (const [index, place] of places.toSorted((a, b) => a - b).entries()) {
        const copy = join(directory, `copy-${index}`)
        await mkdir(copy)
        await copyFile(url, join(copy, 'data.db'))
        await writeFile(join(copy, 'data.db-wal'), log)
        await truncate(join(copy, 'data.db-wal'), place)
        const store = await SqliteStore.open({ url: join(copy, 'data.db') })
        const isThere = (await store.getStream('t')) !== null
        const seqs = isThere ? await everyRecord(store, 't') : []
        assert.deepEqual(seqs, upTo(seqs.length))
        assert.equal((await store.getStream('t'))?.headSeq ?? 0, seqs.length)
        lengths.push(seqs.length)
        await store.close()
      }
      assert.deepEqual(
        lengths,
        lengths.toSorted((a, b) => a - b),
      )
      assert.ok((lengths.at(-1) ?? 0) >= acknowledged)
      assert.ok(new Set(lengths).size > 10, 'the tears were all in one place')
    }),
  )
})
