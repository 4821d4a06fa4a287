import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { scratch, standInProfile } from '../launch/stand-in.ts'
import { installedCli } from './clis.ts'

const profile = standInProfile({ command: 'stand-in', npm: { package: 'stand-in-cli', version: '1.0.0' } })

interface Cache {
  readonly clis: string
  readonly asked: () => Promise<readonly string[]>
}

/** Makes a cache, and an npm that fails this many times before it installs something. */
async function cacheOf(t: TestContext, failures: number): Promise<Cache> {
  const dir = await scratch(t)
  const calls = join(dir, 'calls')
  await writeFile(calls, '')
  const npm = [
    '#!/bin/sh',
    `echo "$*" >> '${calls}'`,
    `if [ "$(wc -l < '${calls}')" -le ${failures} ]; then touch half; echo 'E503 not now' >&2; exit 1; fi`,
    'mkdir -p node_modules/.bin && touch node_modules/.bin/stand-in',
  ]
  await writeFile(join(dir, 'npm'), `${npm.join('\n')}\n`, { mode: 0o755 })
  const { PATH, XDG_CACHE_HOME } = process.env
  Object.assign(process.env, { PATH: `${dir}:${PATH}`, XDG_CACHE_HOME: dir })
  t.after(() => {
    process.env['PATH'] = PATH
    if (XDG_CACHE_HOME === undefined) delete process.env['XDG_CACHE_HOME']
    else process.env['XDG_CACHE_HOME'] = XDG_CACHE_HOME
  })
  const asked = async (): Promise<readonly string[]> => (await readFile(calls, 'utf8')).trim().split('\n')
  return { clis: join(dir, 'inspan', 'clis'), asked }
}

describe('the pinned version of a program', () => {
  it('is installed by its version, once', async (t) => {
    const { clis, asked } = await cacheOf(t, 0)
    const path = join(clis, 'stand-in@1.0.0', 'node_modules', '.bin', 'stand-in')
    assert.deepEqual(await Promise.all([installedCli(profile), installedCli(profile)]), [path, path])
    assert.equal(await installedCli(profile), path)
    const [first, ...more] = await asked()
    assert.match(first ?? '', / stand-in-cli@1\.0\.0$/)
    assert.deepEqual(more, [])
    assert.deepEqual(await readdir(clis), ['stand-in@1.0.0'])
  })

  it('is asked for again when npm fails, and nothing is left of the first attempt', async (t) => {
    const { clis, asked } = await cacheOf(t, 2)
    await installedCli(profile, 1)
    assert.equal((await asked()).length, 3)
    assert.deepEqual((await readdir(join(clis, 'stand-in@1.0.0'))).toSorted(), ['node_modules', 'package.json'])
  })

  it('is not there when npm never can, and the output of npm is reported', async (t) => {
    const { clis, asked } = await cacheOf(t, 99)
    await assert.rejects(installedCli(profile, 1), /stand-in-cli@1\.0\.0.*E503 not now/s)
    assert.equal((await asked()).length, 5)
    assert.ok(!(await readdir(clis)).includes('stand-in@1.0.0'))
  })

  it('is installed although an earlier attempt was killed', async (t) => {
    const { clis, asked } = await cacheOf(t, 0)
    const { pid } = spawnSync('true')
    const lock = join(clis, 'stand-in@1.0.0.lock')
    await mkdir(lock, { recursive: true })
    await writeFile(join(lock, 'pid'), String(pid))
    await installedCli(profile)
    assert.equal((await asked()).length, 1)
  })
})
