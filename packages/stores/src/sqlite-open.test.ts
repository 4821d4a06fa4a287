import assert from 'node:assert/strict'
import { copyFile, mkdir, readFile, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { InspanError } from '@inspan/protocol'
import { RECORD_FORMAT } from '@inspan/protocol/store'
import { filesIn } from '../test/files.ts'
import { makeDatabase } from '../test/make-database.ts'
import { refused } from '../test/refused.ts'
import { inTempDir } from '../test/temp-dir.ts'
import { messageOf, noteOf, saidOf, startThread } from '../test/threads.ts'
import { sharedFileSystemOf } from './sqlite/file-system.ts'
import { openDatabase } from './sqlite/open-database.ts'
import { SqliteStore, type SqliteStoreOptions } from './sqlite-store.ts'

const GOLDEN_V1 = fileURLToPath(new URL('fixtures/golden-v1.db', import.meta.url))

describe('opening an SQLite store', () => {
  it(
    'construction touches nothing; the first call opens',
    inTempDir(async (directory) => {
      const store = new SqliteStore({ url: join(directory, 'data.db') })
      assert.equal((await filesIn(directory)).size, 0)
      assert.equal(await store.getStream('t'), null)
      assert.ok((await filesIn(directory)).has('data.db'))
      await store.close()
    }),
  )

  it(
    'nobody else may read the file',
    inTempDir(async (directory) => {
      const store = await SqliteStore.open({ url: join(directory, 'data.db') })
      await startThread(store, 't', [noteOf('t', 1)])
      for (const name of (await filesIn(directory)).keys()) {
        assert.equal((await stat(join(directory, name))).mode & 0o777, 0o600, name)
      }
      await store.close()
      assert.deepEqual([...(await filesIn(directory)).keys()], ['data.db'])
    }),
  )

  it(
    'a file is named by a path or a url, and is the same file',
    inTempDir(async (directory) => {
      const path = join(directory, 'a file.db')
      await makeDatabase(path)
      for (const url of [path, `file:${path}`, pathToFileURL(path).href]) {
        const store = await SqliteStore.open({ url })
        assert.equal((await store.getStream('t'))?.headSeq, 200)
        await store.close()
      }
    }),
  )

  it('a durability that is misspelt is refused: it would be the lesser one', () => {
    for (const [options, message] of [
      [{ durabilty: 'power' }, /Did you mean "durability"\?/],
      [{ durability: 'powr' }, /`durability` of a SQLite store has to be one of process, power/],
    ] as const) {
      assert.throws(
        () => new SqliteStore({ url: ':memory:', ...options } as SqliteStoreOptions),
        (error) => InspanError.is(error, 'invalid-input') && message.test(error.message),
      )
    }
  })

  it('a url that SQLite cannot open is refused at once', () => {
    for (const url of ['', 'postgres://localhost/x', 'https://example.com/x.db', 'file:x.db?mode=memory', 'a\0b']) {
      assert.throws(
        () => new SqliteStore({ url }),
        (error) => InspanError.is(error, 'invalid-input'),
      )
    }
    const wrong: SqliteStoreOptions[] = [
      { url: ':memory:', busyTimeoutMs: -1 },
      { url: ':memory:', maxBytes: NaN },
    ]
    for (const options of wrong) {
      assert.throws(
        () => new SqliteStore(options),
        (error) => InspanError.is(error, 'invalid-input'),
      )
    }
  })

  it(
    'an empty file, or a database without tables, becomes a store',
    inTempDir(async (directory) => {
      await writeFile(join(directory, 'empty.db'), '')
      const tableless = new DatabaseSync(join(directory, 'tableless.db'))
      tableless.exec('CREATE TABLE t (a); DROP TABLE t; VACUUM;')
      tableless.close()
      for (const name of ['empty.db', 'tableless.db']) {
        const store = await SqliteStore.open({ url: join(directory, name) })
        await startThread(store, 't')
        await store.close()
      }
    }),
  )

  it(
    'a file system of this machine alone is fine, and memory is on none',
    inTempDir(async (directory) => {
      assert.equal(sharedFileSystemOf(join(directory, 'missing.db')), undefined)
      assert.equal(sharedFileSystemOf(join(directory, 'missing', 'missing.db')), undefined)
      await makeDatabase(join(directory, 'data.db'))
      const store = await SqliteStore.open({ url: ':memory:', fileSystemOf: () => 'nfs' })
      await store.close()
    }),
  )

  for (const [durability, synchronous, meaning] of [
    ['process', 1, 'leaves the disk its time'],
    ['power', 2, 'waits for the disk with every commit'],
  ] as const) {
    it(
      `with durability '${durability}' it ${meaning}`,
      inTempDir(async (directory) => {
        const path = join(directory, 'data.db')
        const given = { format: RECORD_FORMAT, busyTimeoutMs: 7, openTimeoutMs: 8, bootId: 'boot' }
        const opened = openDatabase({ path, durability, ...given, fileSystemOf: () => undefined })
        assert.equal(opened.db.value('PRAGMA busy_timeout'), 7)
        assert.equal(opened.db.value('PRAGMA journal_mode'), 'wal')
        assert.equal(opened.db.value('PRAGMA synchronous'), synchronous)
        opened.close()
      }),
    )
  }

  it(
    "durability is 'process' unless 'power' is asked for",
    inTempDir(async (directory) => {
      const asked: readonly Partial<SqliteStoreOptions>[] = [{}, { durability: 'process' }, { durability: 'power' }]
      const noted: unknown[] = []
      for (const [index, options] of asked.entries()) {
        const path = join(directory, `${index}.db`)
        const store = await SqliteStore.open({ url: path, ...options })
        const look = new DatabaseSync(path, { readOnly: true })
        noted.push(look.prepare('SELECT durability FROM opens').get()?.['durability'])
        look.close()
        await store.close()
      }
      assert.deepEqual(noted, ['process', 'process', 'power'])
    }),
  )

  describe('is refused without touching anything when', () => {
    it(
      'the file is no database',
      inTempDir(async (directory) => {
        for (const [name, content] of [
          ['letter.txt', 'Dear reader, '.repeat(100)],
          ['short.txt', 'x'],
          ['zeros.bin', Buffer.alloc(8192)],
          ['cut.db', 'SQLite format 3\0'],
        ] as const) {
          await writeFile(join(directory, name), content)
          const error = await refused(directory, join(directory, name), 'foreign-file')
          assert.match(error.message, new RegExp(name))
        }
      }),
    )

    it(
      'the database belongs to another program',
      inTempDir(async (directory) => {
        for (const [name, pragma] of [
          ['plain.db', ''],
          ['named.db', 'PRAGMA application_id = 42;'],
          ['wal.db', 'PRAGMA journal_mode = WAL;'],
        ] as const) {
          const foreign = new DatabaseSync(join(directory, name))
          foreign.exec(`${pragma} CREATE TABLE theirs (a); INSERT INTO theirs VALUES ('precious');`)
          foreign.close()
          await refused(directory, join(directory, name), 'foreign-file')
        }
      }),
    )

    it(
      'the tables of another program are only in its log',
      inTempDir(async (directory) => {
        const path = join(directory, 'theirs.db')
        const foreign = new DatabaseSync(path)
        foreign.exec('PRAGMA journal_mode = WAL; CREATE TABLE theirs (a);')
        await writeFile(join(directory, 'copy.db'), await readFile(path))
        await writeFile(join(directory, 'copy.db-wal'), await readFile(`${path}-wal`))
        foreign.close()
        await refused(directory, join(directory, 'copy.db'), 'foreign-file')
      }),
    )

    it(
      'a newer version of Inspan wrote it',
      inTempDir(async (directory) => {
        const path = join(directory, 'data.db')
        await makeDatabase(path)
        const bytes = await readFile(path)
        bytes.writeUInt32BE(1000, 60)
        await writeFile(path, bytes)
        const error = await refused(directory, path, 'newer-version')
        assert.equal(error.details['version'], 1000)
      }),
    )

    for (const name of ['nfs', 'smb2']) {
      it(
        `it is on a file system that other machines may have mounted: ${name}`,
        inTempDir(async (directory) => {
          await makeDatabase(join(directory, 'data.db'))
          for (const path of [join(directory, 'data.db'), join(directory, 'new.db')]) {
            const asked: string[] = []
            const fileSystemOf = (place: string): string => {
              asked.push(place)
              return name
            }
            const error = await refused(directory, path, 'unsupported', { fileSystemOf })
            assert.deepEqual(asked, [path])
            assert.match(error.message, new RegExp(`network file system \\(${name}\\)`))
            assert.match(error.hint ?? '', /local disk/)
          }
        }),
      )
    }

    it(
      'the file was cut off',
      inTempDir(async (directory) => {
        const path = join(directory, 'data.db')
        await makeDatabase(path)
        const { size } = await stat(path)
        await truncate(path, Math.floor(size / 2))
        await refused(directory, path, 'corrupt')
      }),
    )

    it(
      'the table that describes the file is damaged',
      inTempDir(async (directory) => {
        const path = join(directory, 'data.db')
        await makeDatabase(path)
        const bytes = await readFile(path)
        const database = new DatabaseSync(path)
        const { rootpage } = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'meta'").get() as {
          rootpage: number
        }
        database.close()
        bytes.fill(0xa5, (rootpage - 1) * 4096, rootpage * 4096)
        await writeFile(path, bytes)
        await refused(directory, path, 'corrupt')
      }),
    )

    for (const [what, table] of [
      ['the index of what is left to be removed', 'streams_to_purge'],
      ['the table that describes a file of an older layout', 'meta'],
    ] as const) {
      it(
        `${what} is damaged`,
        inTempDir(async (directory) => {
          const path = join(directory, 'data.db')
          if (table === 'meta') await copyFile(GOLDEN_V1, path)
          else await makeDatabase(path)
          const database = new DatabaseSync(path)
          const { rootpage } = database
            .prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?')
            .get(table) as unknown as { rootpage: number }
          database.close()
          const bytes = await readFile(path)
          bytes.fill(0xa5, (rootpage - 1) * 4096, rootpage * 4096)
          await writeFile(path, bytes)
          await refused(directory, path, 'corrupt')
        }),
      )
    }

    it(
      'its header is damaged',
      inTempDir(async (directory) => {
        const path = join(directory, 'data.db')
        await makeDatabase(path)
        const sound = await readFile(path)
        // The format of its schema, and the number of its layout.
        for (const [at, value] of [
          [44, 0x7f],
          [60, 0],
        ] as const) {
          const bytes = Buffer.from(sound)
          bytes.writeUInt32BE(value, at)
          await writeFile(path, bytes)
          await refused(directory, path, 'corrupt')
        }
      }),
    )

    it(
      'its layout is older, and its header damaged so that only a write would find it, or something else would seem wrong',
      inTempDir(async (directory) => {
        const path = join(directory, 'data.db')
        // The read and write versions, the bytes reserved per page, and the text encoding.
        for (const at of [18, 19, 20, 59]) {
          const bytes = await readFile(GOLDEN_V1)
          bytes.writeUInt8(63, at)
          await writeFile(path, bytes)
          await refused(directory, path, 'corrupt')
        }
      }),
    )

    for (const layout of ['present', 'older']) {
      it(
        `a table of ours is missing in a file of the ${layout} layout`,
        inTempDir(async (directory) => {
          const path = join(directory, 'data.db')
          if (layout === 'older') await copyFile(GOLDEN_V1, path)
          else await makeDatabase(path)
          const database = new DatabaseSync(path)
          database.exec('DROP TABLE commands')
          database.close()
          await refused(directory, path, 'corrupt')
        }),
      )
    }

    it(
      'the path is a directory, or is below a file',
      inTempDir(async (directory) => {
        await mkdir(join(directory, 'sub'))
        await assert.rejects(SqliteStore.open({ url: join(directory, 'sub') }), (error) =>
          InspanError.is(error, 'invalid-input'),
        )
        await writeFile(join(directory, 'file'), 'x')
        await refused(join(directory, 'sub'), join(directory, 'file', 'data.db'), 'invalid-input')
      }),
    )

    it(
      'the directory does not exist',
      inTempDir(async (directory) => {
        const error = await refused(directory, join(directory, 'missing', 'data.db'), 'not-found')
        assert.match(error.hint ?? '', /missing/)
      }),
    )

    it(
      'the path is no regular file',
      inTempDir(async (directory) => {
        await symlink('/dev/null', join(directory, 'null.db'))
        const store = new SqliteStore({ url: join(directory, 'null.db') })
        await assert.rejects(store.open(), (error) => InspanError.is(error, 'invalid-input'))
      }),
    )
  })

  it(
    'damage that is met later is named as such and stays where it is',
    inTempDir(async (directory) => {
      const path = join(directory, 'data.db')
      await makeDatabase(path)
      const bytes = await readFile(path)
      // The last page belongs to the long thread; the small tables come first.
      bytes.fill(0xa5, bytes.length - 20 * 4096)
      await writeFile(path, bytes)
      const store = await SqliteStore.open({ url: path })
      const lineage = [{ stream: 't', from: 1, to: null }]
      const readAll = async (): Promise<void> => {
        await store.readRecords('t', { limit: 1000 })
        await store.listMessages(lineage, { order: 'oldest', limit: 1000 })
      }
      await assert.rejects(readAll(), (error) => InspanError.is(error, 'corrupt'))
      assert.ok((await store.check()).length > 0)
      await startThread(store, 'another', [noteOf('another', 1)])
      assert.equal((await store.readRecords('another', {})).items.length, 1)
      await store.close()
    }),
  )

  it(
    'whichever page is damaged, nothing but our own errors comes out',
    inTempDir(async (directory) => {
      const sound = join(directory, 'sound.db')
      const maker = await SqliteStore.open({ url: sound })
      const records = Array.from({ length: 20 }, (_, index) => saidOf('t', index + 1, `text ${index}`))
      const fence = await startThread(maker, 't', records)
      await maker.append({ stream: 't', fence, records: [], messages: [messageOf('t', 1, 'text')] })
      await maker.close()
      const bytes = await readFile(sound)
      const outcomes = new Set<string>()
      for (let page = 0; page * 4096 < bytes.length; page++) {
        const path = join(directory, `${page}.db`)
        await writeFile(path, Buffer.from(bytes).fill(0xa5, page * 4096, (page + 1) * 4096))
        const store = new SqliteStore({ url: path })
        const lineage = [{ stream: 't', from: 1, to: null }]
        const calls: readonly (() => Promise<unknown>)[] = [
          () => store.open(),
          () => store.getStream('t'),
          () => store.readRecords('t', {}),
          () => store.listMessages(lineage, { order: 'oldest' }),
          () => store.listThreads({}),
          () => store.listForks({ stream: 't', from: 1, to: 20 }),
          () => store.listWaits({ stream: 't' }),
          () => store.listCommands({ target: 't', state: 'accepted' }),
          () => store.listOwners({}),
          () => store.deleteThread('t', fence),
          () => store.close(),
        ]
        for (const call of calls) {
          const error: unknown = await call().then(
            () => undefined,
            (thrown: unknown) => thrown,
          )
          assert.ok(error === undefined || InspanError.is(error), `page ${page + 1}, ${String(call)}: ${String(error)}`)
          outcomes.add(error?.code ?? 'fine')
        }
      }
      assert.ok(outcomes.has('corrupt') && outcomes.has('fine'), [...outcomes].join())
    }),
  )

  it(
    'a sound database has nothing to report',
    inTempDir(async (directory) => {
      await makeDatabase(join(directory, 'data.db'))
      const store = await SqliteStore.open({ url: join(directory, 'data.db') })
      assert.deepEqual(await store.check(), [])
      await store.close()
    }),
  )
})
