import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { SqliteStore } from '@inspan/stores'
import { HarnessBench } from '../harness.fixture.ts'

const call = (name: string, input: object): object => ({ toolCalls: [{ name, input }] })
const run = (command: string): object => call('execute_command', { command })
const DONE = { text: 'Done.' }

/** A project folder that has everything of ours in it: the database and what is kept for the user. */
function projectFor(t: TestContext): { readonly root: string; readonly storage: SqliteStore } {
  const root = mkdtempSync(join(tmpdir(), 'inspan-own-data-'))
  const before = process.env['INSPAN_HOME']
  process.env['INSPAN_HOME'] = join(root, '.inspan')
  const storage = new SqliteStore({ url: `file:${join(root, 'data', 'threads.db')}` })
  mkdirSync(join(root, 'data'))
  writeFileSync(join(root, 'a.txt'), 'one')
  t.after(async () => {
    if (before === undefined) delete process.env['INSPAN_HOME']
    else process.env['INSPAN_HOME'] = before
    await storage.close()
    rmSync(root, { recursive: true, force: true })
  })
  return { root, storage }
}

suite('our own data in the folder of a workspace', () => {
  test('is no change of a turn, and stays as it is when the files go back', async (t) => {
    const { root, storage } = projectFor(t)
    const script = [run('echo two > a.txt'), DONE, run('echo three > a.txt; echo b > b.txt'), DONE, DONE]
    await using bench = new HarnessBench(script, { storage, workspace: { root }, initialState: { yolo: true } })
    for (const content of ['1', '2']) await bench.harness.sendMessage({ content })
    const { thread } = bench.harness.session
    assert.deepEqual(
      (await thread.changes()).map(({ path, status }) => [path, status]),
      [
        ['a.txt', 'changed'],
        ['b.txt', 'created'],
      ],
    )
    const [first] = await thread.listActiveMessages()
    const report = await thread.restoreFiles({ messageId: first?.id ?? '' })
    assert.deepEqual([report.restored, report.removed, report.conflicts], [['a.txt'], ['b.txt'], []])
    assert.deepEqual(
      report.notCovered.filter((path) => !/-(wal|shm)$/.test(path)),
      ['.inspan', 'data/threads.db'],
    )
    assert.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'one')
    await bench.harness.sendMessage({ content: '3' })
    assert.equal((await thread.listActiveMessages()).at(-1)?.role, 'assistant')
  })

  test('cannot be read, changed or deleted by file tools', async (t) => {
    const { root, storage } = projectFor(t)
    const path = 'data/threads.db'
    const script = [
      call('read_file', { path }),
      call('write_file', { path: `${path}-wal`, content: '' }),
      call('edit_file', { path, old_string: 'a', new_string: 'b' }),
      call('delete', { path: `${path}-shm` }),
      call('delete', { path: 'data', recursive: true }),
      DONE,
    ]
    await using bench = new HarnessBench(script, { storage, workspace: { root }, initialState: { yolo: true } })
    await bench.harness.sendMessage({ content: 'Go.' })
    const ends = bench.all('tool_end')
    assert.equal(ends.length, 5)
    for (const { isError, result } of ends) {
      assert.equal(isError, true)
      assert.match(String(result), /is part of the database that this program keeps its data in/)
    }
    for (const suffix of ['', '-wal', '-shm']) assert.ok(existsSync(join(root, path + suffix)), suffix)
  })
})
