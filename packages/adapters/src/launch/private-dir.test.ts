import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { it, type TestContext } from 'node:test'
import { scratch } from '../../test/launch/stand-in.ts'
import { makePrivateDir } from './private-dir.ts'

interface Host {
  readonly child: ChildProcess
  readonly dir: string
}

/** Starts a process with a private directory, which runs until it is killed. */
async function startHost(t: TestContext, temporary: string): Promise<Host> {
  const module = new URL('private-dir.ts', import.meta.url).href
  const body = `
    const dir = await (await import(${JSON.stringify(module)})).makePrivateDir()
    await dir.write([{ name: 'secret', content: 'abc' }])
    console.log(dir.path)
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', body], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: temporary },
  })
  t.after(() => child.kill('SIGKILL'))
  const [dir] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { child, dir }
}

it('the next host removes what a killed host left behind, and leaves the files of others alone', async (t) => {
  const temporary = await scratch(t)
  const killed = await startHost(t, temporary)
  const living = await startHost(t, temporary)
  assert.equal(await readFile(join(killed.dir, 'secret'), 'utf8'), 'abc')
  killed.child.kill('SIGKILL')
  await once(killed.child, 'exit')
  const dead = basename(killed.dir).replace(/\w+$/, '')
  const others = ['inspan-test-abc', 'inspan-', dead.replace(/^inspan-\d+/, 'inspan-1') + 'elsewhere']
  for (const name of others) await mkdir(join(temporary, name))
  await writeFile(join(temporary, `${dead}file`), '')
  await symlink('/', join(temporary, `${dead}link`))
  const next = await startHost(t, temporary)
  assert.deepEqual(
    (await readdir(temporary)).toSorted(),
    [...others, `${dead}file`, `${dead}link`, basename(living.dir), basename(next.dir)].toSorted(),
  )
})

it('the directory of a dead process is removed even if another process has its pid now', async (t) => {
  const temporary = await scratch(t)
  const { dir } = await startHost(t, temporary)
  const old = dir.replace(/-\d+-(\w+)$/, '-1-$1')
  await mkdir(old)
  await startHost(t, temporary)
  assert.equal(existsSync(old), !existsSync('/proc/self/stat'))
  assert.ok(existsSync(dir))
})

it('only its owner can read it, and removing it removes everything in it', async () => {
  const dir = await makePrivateDir()
  await dir.write([{ name: 'secret', content: Buffer.from('abc') }])
  assert.equal((await stat(dir.path)).mode & 0o777, 0o700)
  assert.equal((await stat(join(dir.path, 'secret'))).mode & 0o777, 0o600)
  await dir.remove()
  assert.equal(existsSync(dir.path), false)
})
