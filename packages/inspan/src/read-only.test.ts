import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { main } from './main.ts'

const CHILD = fileURLToPath(new URL('read-only.fixture.ts', import.meta.url))

/** Runs a command as somebody who may not write the file. */
async function asReader(cwd: string, temp: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, TMPDIR: temp }
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', CHILD, ...args], { env, cwd })
  return stdout
}

test('commands that only read work on a database that cannot be written, and leave nothing behind', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'inspan-read-only-'))
  t.after(async () => {
    await chmod(join(folder, 'data'), 0o755)
    await rm(folder, { recursive: true })
  })
  const [data, temp] = [join(folder, 'data'), join(folder, 'temp')]
  await Promise.all([mkdir(data), mkdir(temp)])
  const db = join(data, 'a.db')
  const terminal = { out: () => undefined, write: () => undefined, err: () => undefined }
  const place = { input: Readable.from([]), isTty: false, cwd: data, env: { INSPAN_HOME: data } }
  assert.equal(await main(['run', '--demo', 'Hello', '--db', db], { ...terminal, ...place }), 0)
  await chmod(folder, 0o755)
  await chmod(temp, 0o777)
  await chmod(db, 0o444)
  await chmod(data, 0o555)
  const before = await readdir(data)
  const listed = await asReader(data, temp, 'threads', '--db', db)
  assert.match(listed, /Hello/)
  const id = /[0-9a-f-]{36}/.exec(listed)?.[0] ?? ''
  assert.match(await asReader(data, temp, 'replay', id, '--db', db), /> Hello/)
  assert.deepEqual(await readdir(data), before)
  assert.deepEqual(await readdir(temp), [])
})
