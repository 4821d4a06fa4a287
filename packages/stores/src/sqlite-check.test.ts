import assert from 'node:assert/strict'
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { InspanError } from '@inspan/protocol'
import type { Store } from '@inspan/protocol/store'
import { makeDatabase } from '../test/make-database.ts'
import { inTempDir } from '../test/temp-dir.ts'
import { messageOf, saidOf, startThread } from '../test/threads.ts'
import { SqliteStore } from './sqlite-store.ts'

const THREADS = Array.from({ length: 12 }, (_, index) => `thread-${index}`)

async function makeThreads(url: string): Promise<void> {
  const store = await SqliteStore.open({ url })
  for (const id of THREADS) {
    const records = Array.from({ length: 20 }, (_, index) => saidOf(id, index + 1, `text ${index} `.repeat(5)))
    const large = saidOf(id, 21, `${id} `.repeat(5_000))
    const fence = await startThread(store, id, [...records, large])
    const messages = [...records, large].map(({ seq }) => messageOf(id, seq, 'text'))
    await store.append({ stream: id, fence, records: [], messages })
  }
  await store.close()
}

/** Reads everything that a program can see of the threads. */
async function readAll(store: Store): Promise<unknown> {
  const threads = await store.listThreads({})
  const seen: unknown[] = []
  for (const { damaged, id } of threads.items.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const records = await store.readRecords(id, { limit: 1000 })
    const messages = await store.listMessages([{ stream: id, from: 1, to: null }], { order: 'oldest', limit: 1000 })
    seen.push([id, damaged, records.items.map(({ seq }) => seq), messages.items.map(({ order }) => order)])
  }
  return seen
}

async function outcomeOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work()
  } catch (error) {
    assert.ok(InspanError.is(error), String(error))
    return error.code
  }
}

/** Numbers that are the same in every run. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    yield state / 2 ** 32
  }
}

describe('the check of an SQLite store', () => {
  it(
    'finds nothing in 300 damaged files only where everything can still be read',
    inTempDir(async (directory) => {
      const sound = join(directory, 'sound.db')
      await makeThreads(sound)
      const bytes = await readFile(sound)
      const whole = await SqliteStore.open({ url: sound })
      const expected = await readAll(whole)
      assert.deepEqual(await whole.check(), [])
      await whole.close()
      const random = numbers(14)
      const next = (below: number): number => Math.floor(random.next().value * below)
      let found = 0
      for (let file = 0; file < 300; file++) {
        const damaged = Buffer.from(bytes)
        const at = 100 + next(bytes.length - 100)
        const length = [1, 1, 4, 64][file % 4] ?? 1
        for (let i = at; i < Math.min(at + length, bytes.length); i++) damaged[i] = next(256)
        const url = join(directory, `${file}.db`)
        await writeFile(url, damaged)
        const store = new SqliteStore({ url })
        const problems = await outcomeOf(() => store.check())
        if (Array.isArray(problems) && problems.length === 0) {
          assert.deepEqual(await outcomeOf(() => readAll(store)), expected, `${length} bytes at ${at}`)
        } else found++
        await store.close()
        await rm(url)
      }
      assert.ok(found > 30, `${found} of 300`)
    }),
  )

  it(
    'finds a damaged index that hides threads',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      await makeThreads(url)
      const db = new DatabaseSync(url)
      const found = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'threads_by_update'").get()
      db.close()
      const bytes = await readFile(url)
      // The number of entries in the page.
      const at = (Number(found?.['rootpage']) - 1) * 4096 + 4
      assert.equal(bytes[at], THREADS.length)
      bytes[at] = 5
      await writeFile(url, bytes)
      const store = await SqliteStore.open({ url })
      assert.equal((await store.listThreads({})).items.length, 5)
      assert.match((await store.check()).join('\n'), /index threads_by_update/)
      await store.close()
    }),
  )

  const damages: Readonly<Record<string, readonly [sql: string, said: RegExp]>> = {
    'a record that is missing': ['DELETE FROM records WHERE (key & 4294967295) = 7', /records from 7 to 7 are missing/],
    'records missing at the end': [
      'DELETE FROM records WHERE (key & 4294967295) > 150',
      /end at 150, but its head is 200/,
    ],
    'a record that is no JSON': [
      `UPDATE records SET body = '{' WHERE (key & 4294967295) = 7`,
      /Record 7 of t is damaged/,
    ],
    'a record of another type': [`UPDATE records SET type = 'note' WHERE (key & 4294967295) = 7`, /Record 7 of t/],
    'a message that is no JSON': [`UPDATE messages SET json = '{' WHERE (key & 4294967295) = 7`, /message at 7 of t/],
    'a thread that is not listed': ['DELETE FROM threads', /Thread t is not listed/],
    'contents that are not what they were': ['UPDATE blobs SET bytes = zeroblob(40000)', /The content \w+ is damaged/],
    'contents that are gone': ['PRAGMA foreign_keys = OFF; DELETE FROM blobs', /refers to one of blobs/],
  }
  for (const [what, [sql, said]] of Object.entries(damages)) {
    it(
      `finds ${what}`,
      inTempDir(async (directory) => {
        const url = join(directory, 'data.db')
        await makeDatabase(url)
        const maker = await SqliteStore.open({ url })
        await startThread(maker, 'large', [saidOf('large', 1, 'large '.repeat(10_000))])
        await maker.close()
        const db = new DatabaseSync(url)
        db.exec(sql)
        db.close()
        const store = await SqliteStore.open({ url })
        assert.match((await store.check()).join('\n'), said)
        await store.close()
      }),
    )
  }

  it(
    'is content with forks, deleted threads and every type of record',
    inTempDir(async (directory) => {
      const url = join(directory, 'golden.db')
      await copyFile(new URL('fixtures/golden-v1.db', import.meta.url), url)
      const store = await SqliteStore.open({ url })
      assert.deepEqual(await store.check(), [])
      await store.close()
    }),
  )
})
