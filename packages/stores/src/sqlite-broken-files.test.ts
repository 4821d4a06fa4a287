import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, copyFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { InspanError, type ErrorCode } from '@inspan/protocol'
import { makeDatabase } from '../test/make-database.ts'
import { refused } from '../test/refused.ts'
import { StoreProcess, type ProcessOptions } from '../test/store-process.ts'
import { inTempDir } from '../test/temp-dir.ts'
import { infoOf, noteOf } from '../test/threads.ts'
import { SqliteStore } from './sqlite-store.ts'

/** Root has access to everything, so as root the test runs as another user. */
const asNobody = process.getuid?.() === 0 ? { uid: 65_534 } : {}

/** Returns the code of the error that opening fails with. */
async function codeOf(opening: Promise<unknown>): Promise<ErrorCode | undefined> {
  const error = await opening.then(
    () => assert.fail('it was opened'),
    (thrown: unknown) => thrown,
  )
  assert.ok(InspanError.is(error), String(error))
  return error.code
}

/** The same for a process with other permissions. */
async function codeOfOther(url: string, options: ProcessOptions): Promise<ErrorCode | undefined> {
  const other = await StoreProcess.start(url, options)
  try {
    return await codeOf(other.call('open'))
  } finally {
    await other.kill()
  }
}

/** Makes a file with the log of a killed process beside it. */
async function killed(directory: string): Promise<string> {
  const url = join(directory, 'data.db')
  const writer = await StoreProcess.start(url)
  const start = { owner: 'me', records: [noteOf('t', 1)] }
  try {
    await writer.call('createStream', { kind: 'thread', info: infoOf('t'), headSeq: 0, start })
  } finally {
    await writer.kill()
  }
  assert.ok((await readFile(`${url}-wal`)).length > 0)
  return url
}

describe('a path with something else than a database is refused and not touched:', () => {
  it(
    'a pipe, which would never answer',
    inTempDir(async (directory) => {
      const path = join(directory, 'pipe.db')
      assert.equal(spawnSync('/bin/sh', ['-c', 'mkfifo "$0"', path]).status, 0)
      assert.equal(await codeOf(SqliteStore.open({ url: path })), 'invalid-input')
    }),
  )

  it(
    'a socket',
    inTempDir(async (directory) => {
      const path = join(directory, 'socket.db')
      const server = createServer().listen(path)
      await once(server, 'listening')
      assert.equal(await codeOf(SqliteStore.open({ url: path })), 'invalid-input')
      server.close()
    }),
  )

  it(
    'a link to nothing, a link to itself, and a name that is too long',
    inTempDir(async (directory) => {
      await symlink('missing.db', join(directory, 'nothing.db'))
      await symlink('itself.db', join(directory, 'itself.db'))
      const cases = {
        'nothing.db': 'not-found',
        'itself.db': 'invalid-input',
        [`${'x'.repeat(300)}.db`]: 'invalid-input',
      }
      for (const [name, code] of Object.entries(cases)) {
        assert.equal(await codeOf(SqliteStore.open({ url: join(directory, name) })), code, name)
      }
    }),
  )

  it(
    'a folder that may not be entered',
    inTempDir(async (directory) => {
      await chmod(directory, 0o755)
      const folder = join(directory, 'closed')
      await mkdir(folder)
      await makeDatabase(join(folder, 'data.db'))
      await chmod(folder, 0o000)
      for (const name of ['data.db', 'new.db']) {
        assert.equal(await codeOfOther(join(folder, name), asNobody), 'read-only', name)
      }
      await chmod(folder, 0o755)
    }),
  )
})

describe('a file next to a database does not belong to SQLite because of its name:', () => {
  for (const suffix of ['-wal', '-journal']) {
    it(
      `a file of somebody else as ${suffix}`,
      inTempDir(async (directory) => {
        const url = join(directory, 'data.db')
        await makeDatabase(url)
        await writeFile(url + suffix, 'Dear reader, '.repeat(1000))
        await refused(directory, url, 'foreign-file')
      }),
    )
  }

  for (const suffix of ['-wal', '-journal', '-shm']) {
    it(
      `a folder as ${suffix}, also of a file that is yet to be made`,
      inTempDir(async (directory) => {
        for (const name of ['data.db', 'new.db']) {
          const folder = join(directory, name.slice(0, 3))
          await mkdir(join(folder, name + suffix), { recursive: true })
          if (name === 'data.db') await makeDatabaseBeside(folder, name)
          assert.equal(await codeOf(SqliteStore.open({ url: join(folder, name) })), 'foreign-file')
        }
      }),
    )
  }

  it(
    'a log whose file is gone, or empty: what it holds is all there is',
    inTempDir(async (directory) => {
      const url = await killed(directory)
      await rm(url)
      const error = await refused(directory, url, 'corrupt')
      assert.match(error.message, /data\.db-wal is there/)
      await writeFile(url, '')
      await refused(directory, url, 'corrupt')
    }),
  )

  it(
    'a log that was only begun belongs to its database',
    inTempDir(async (directory) => {
      const url = await killed(directory)
      for (const begun of [Buffer.alloc(0), Buffer.alloc(8192), (await readFile(`${url}-wal`)).subarray(0, 3)]) {
        const copy = join(directory, `copy-${begun.length}.db`)
        await copyFile(url, copy)
        await writeFile(`${copy}-wal`, begun)
        const store = await SqliteStore.open({ url: copy })
        assert.equal(await store.getStream('t'), null)
        await store.close()
      }
    }),
  )
})

it(
  'a disk that is too full to open a file is named as such, and the file stays as it was',
  inTempDir(async (directory) => {
    const url = join(directory, 'data.db')
    await makeDatabase(url)
    const before = await readFile(url)
    // No room for the index of the log, which needs 32 KB.
    assert.equal(await codeOfOther(url, { fileBlocks: 32 }), 'disk-full')
    assert.deepEqual(await readFile(url), before)
  }),
)

/** Makes a database elsewhere and moves it here, where it could not be made. */
async function makeDatabaseBeside(folder: string, name: string): Promise<void> {
  const workshop = join(folder, 'workshop')
  await mkdir(workshop)
  await makeDatabase(join(workshop, name))
  await copyFile(join(workshop, name), join(folder, name))
}
