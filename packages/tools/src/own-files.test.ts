import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { databaseFiles } from '@inspan/protocol/internal'
import { LocalFiles } from './workspace/local-files.ts'

/** Returns the locks that this process has on a file, without their numbers, which count those of all processes. */
function locksOn(path: string): string[] {
  const inode = `:${statSync(path).ino} `
  const lines = readFileSync('/proc/locks', 'utf8').split('\n')
  const own = lines.filter((line) => line.includes(` ${process.pid} `) && line.includes(inode))
  return own.map((line) => line.slice(line.indexOf(': '))).toSorted()
}

test(
  'an open database in the workspace keeps its locks while files are read and searched',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const base = mkdtempSync(join(tmpdir(), 'inspan-own-files-'))
    const root = join(base, 'root')
    const path = join(root, 'threads.db')
    mkdirSync(root)
    writeFileSync(join(root, 'a.txt'), 'one')
    symlinkSync(root, join(base, 'link'))
    const database = new DatabaseSync(path)
    t.after(() => {
      database.close()
      rmSync(base, { recursive: true })
    })
    database.exec('PRAGMA journal_mode = WAL; CREATE TABLE words (word TEXT); SELECT * FROM words')
    // Under another name than the one that the search finds.
    const opened = join(base, 'link', 'threads.db')
    databaseFiles.add(opened)
    t.after(() => databaseFiles.remove(opened))
    const before = [locksOn(path), locksOn(`${path}-shm`)]
    assert.ok(before.every((locks) => locks.length > 0))
    const files = new LocalFiles(root)
    for (const useRipgrep of [true, false]) {
      const options = { pattern: /SQLite|words|one/, source: 'SQLite|words|one', honourIgnore: false, useRipgrep }
      const found = await Array.fromAsync(files.grep('.', options))
      assert.deepEqual(found, [{ path: 'a.txt', line: 1, text: 'one' }])
    }
    for (const name of ['threads.db', 'threads.db-wal', 'threads.db-shm']) {
      await assert.rejects(files.read(name, 1_000_000), /is part of the database/)
      assert.deepEqual(await Array.fromAsync(files.grep(name, { pattern: /./, source: '.', honourIgnore: false })), [])
    }
    assert.deepEqual([locksOn(path), locksOn(`${path}-shm`)], before)
  },
)
