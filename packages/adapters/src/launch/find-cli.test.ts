import assert from 'node:assert/strict'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { describe, it } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { program, scratch, standInProfile } from '../../test/launch/stand-in.ts'
import { doctor } from './doctor.ts'
import { findCli, hasKey } from './find-cli.ts'

const profile = standInProfile()

/** A process that has exited and was not waited for yet has no command line. */
async function isAlive(pid: number): Promise<boolean> {
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')) !== ''
}

const refusal =
  (reason: string, ...says: RegExp[]) =>
  (error: unknown): boolean => {
    assert.ok(InspanError.is(error))
    assert.equal(error.details['reason'], reason)
    for (const pattern of says) assert.match(error.message, pattern)
    return true
  }

describe('a program is found', () => {
  it('on PATH, with its version', async (t) => {
    const dir = await scratch(t)
    const path = await program(dir, '')
    const env = { PATH: ['/nowhere', dir].join(delimiter) }
    assert.deepEqual(await findCli(profile, { env }), { path, version: '1.0.0', isKnown: true })
  })

  it('by another name that it goes by, if its first one is nowhere', async (t) => {
    const [a, b] = await Promise.all([scratch(t), scratch(t)])
    const other = await program(a, '', 'other')
    const named = standInProfile({ otherCommands: ['other.mjs'] })
    const env = { PATH: [a, b].join(delimiter) }
    assert.equal((await findCli(named, { env })).path, other)
    const first = await program(b, '')
    assert.equal((await findCli(named, { env })).path, first)
  })

  it('by its variable before PATH, and by the path given before both', async (t) => {
    const [a, b, c] = await Promise.all([scratch(t), scratch(t), scratch(t)])
    const [onPath, named, given] = await Promise.all([program(a, ''), program(b, ''), program(c, '')])
    assert.equal((await findCli(profile, { env: { PATH: a } })).path, onPath)
    const env = { PATH: a, INSPAN_STAND_IN_BIN: named }
    assert.equal((await findCli(profile, { env })).path, named)
    assert.equal((await findCli(profile, { env, bin: given })).path, given)
  })

  it('a program is found even if its version was not tested', async (t) => {
    const bin = await program(await scratch(t), '')
    const found = await findCli(standInProfile({ knownVersions: ['0.9.0'] }), { bin })
    assert.equal(found.version, '1.0.0')
    assert.equal(found.isKnown, false)
  })

  it('a program is found even if it prints no version', async (t) => {
    const bin = join(await scratch(t), 'mute')
    await writeFile(bin, '#!/bin/sh\nexit 0\n', { mode: 0o755 })
    assert.deepEqual(await findCli(profile, { bin }), { path: bin, isKnown: false })
  })

  for (const stdio of ['ignore', 'inherit']) {
    it(`ends processes that the program leaves behind when it prints its version (its output: ${stdio})`, async (t) => {
      const dir = await scratch(t)
      const path = join(dir, 'leaves.mjs')
      const note = join(dir, 'pid')
      const daemon = `spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: '${stdio}' })`
      await writeFile(
        path,
        `#!${process.execPath}
        import { spawn } from 'node:child_process'
        import { writeFileSync } from 'node:fs'
        const daemon = ${daemon}
        daemon.unref()
        writeFileSync(${JSON.stringify(note)}, String(daemon.pid))
        console.log('1.0.0')`,
      )
      await chmod(path, 0o755)
      assert.equal((await findCli(profile, { bin: path })).version, '1.0.0')
      const pid = Number(await readFile(note, 'utf8'))
      t.after(async () => (await isAlive(pid)) && process.kill(pid, 'SIGKILL'))
      assert.equal(await isAlive(pid), false)
    })
  }

  it('a program is found again after it was replaced', async (t) => {
    const bin = join(await scratch(t), 'changing')
    await writeFile(bin, '#!/bin/sh\necho 1.0.0\n', { mode: 0o755 })
    assert.equal((await findCli(profile, { bin })).version, '1.0.0')
    await writeFile(bin, '#!/bin/sh\necho 1.0.0-beta.22\n')
    assert.equal((await findCli(profile, { bin })).version, '1.0.0-beta.22')
  })
})

describe('a program that cannot be used explains what to do', () => {
  it('when it is not installed', async () => {
    await assert.rejects(
      findCli(profile, { env: { PATH: '/nowhere' } }),
      refusal('not-installed', /npm install -g stand-in@1\.0\.0/, /INSPAN_STAND_IN_BIN/),
    )
  })

  it('when its variable leads nowhere', async () => {
    const env = { INSPAN_STAND_IN_BIN: '/nowhere/stand-in' }
    await assert.rejects(
      findCli(profile, { env }),
      refusal('wrong-path', /INSPAN_STAND_IN_BIN says .*\/nowhere\/stand-in/),
    )
  })

  it('when what is there is a directory or may not be executed', async (t) => {
    const dir = await scratch(t)
    await mkdir(join(dir, 'stand-in.mjs'))
    await assert.rejects(findCli(profile, { env: { PATH: dir } }), refusal('not-installed'))
    const other = await scratch(t)
    const bin = await program(other, '')
    await chmod(bin, 0o644)
    await assert.rejects(findCli(profile, { env: { PATH: other } }), refusal('not-installed'))
    await assert.rejects(findCli(profile, { bin }), refusal('not-executable', /may not be executed/, /chmod \+x/))
    await assert.rejects(findCli(profile, { bin: dir }), refusal('wrong-path'))
  })

  it('when it is broken', async (t) => {
    const bin = join(await scratch(t), 'broken')
    await writeFile(bin, '#!/bin/sh\necho native binary not installed >&2\nexit 1\n', { mode: 0o755 })
    await assert.rejects(
      findCli(profile, { bin }),
      refusal('broken', /native binary not installed/, /install it again/),
    )
  })

  it('when its interpreter is missing', async (t) => {
    const bin = join(await scratch(t), 'foreign')
    await writeFile(bin, '#!/nowhere/interpreter\n', { mode: 0o755 })
    await assert.rejects(findCli(profile, { bin }), refusal('broken', /interpreter/))
  })
})

describe('a key is there', () => {
  const withLogin = standInProfile({
    key: {
      variables: ['A_KEY', 'B_KEY'],
      logins: [{ variable: 'STAND_IN_HOME', directory: '.stand-in', file: 'auth.json' }],
      hint: 'Set A_KEY.',
    },
  })

  it('when one of its variables is set', async () => {
    assert.equal(await hasKey(withLogin, { B_KEY: 'x' }), true)
    assert.equal(await hasKey(withLogin, { A_KEY: '' }), false)
    assert.equal(await hasKey(withLogin, {}), false)
  })

  it('when somebody has logged in, at home or in the folder that the variable names', async (t) => {
    const home = await scratch(t)
    assert.equal(await hasKey(withLogin, { HOME: home }), false)
    await mkdir(join(home, '.stand-in'))
    await writeFile(join(home, '.stand-in', 'auth.json'), '{"provider":{"key":"x"}}')
    assert.equal(await hasKey(withLogin, { HOME: home }), true)
    assert.equal(await hasKey(withLogin, { HOME: home, STAND_IN_HOME: '/nowhere' }), false)
    assert.equal(await hasKey(withLogin, { STAND_IN_HOME: join(home, '.stand-in') }), true)
  })

  it('a key is missing if the program has only made the file for it, or somebody has logged out', async (t) => {
    const home = await scratch(t)
    await mkdir(join(home, '.stand-in'))
    for (const content of ['', '{}', '{\n}\n']) {
      await writeFile(join(home, '.stand-in', 'auth.json'), content)
      assert.equal(await hasKey(withLogin, { HOME: home }), false)
    }
  })
})

it('the doctor looks at all of them and fails because of none', async (t) => {
  const dir = await scratch(t)
  const path = await program(dir, '')
  await writeFile(join(dir, 'broken'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  const rows = await doctor(
    [
      standInProfile({ npm: { package: 'stand-in', version: '1.0.0' } }),
      standInProfile({ id: 'absent', command: 'absent' }),
      standInProfile({ id: 'broken', command: 'broken' }),
    ],
    { PATH: dir, STAND_IN_KEY: 'x' },
  )
  const [good, absent, broken] = rows
  assert.deepEqual(good, {
    id: 'stand-in',
    title: 'Stand-in',
    tested: '1.0.0',
    hasKey: true,
    keySource: 'environment variable STAND_IN_KEY',
    key: 'Set STAND_IN_KEY.',
    install: 'npm install -g stand-in@1.0.0',
    found: true,
    path,
    version: '1.0.0',
    isKnown: true,
  })
  assert.equal(absent?.found, false)
  assert.match(absent?.problem ?? '', /no "absent" on PATH/)
  assert.equal(broken?.found, true)
  assert.match(broken?.problem ?? '', /does not work/)
})
