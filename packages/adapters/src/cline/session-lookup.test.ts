import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { aRequest } from '../../test/launch/request.ts'
import { scratch } from '../../test/launch/stand-in.ts'
import type { Environment } from '../launch/find-cli.ts'
import { clineSessionOf } from './session-lookup.ts'

const cli = { path: 'cline', isKnown: true }

/** Writes sessions by id, as Cline leaves them. A string is written as a broken file. */
async function leave(folder: string, sessions: Readonly<Record<string, object | string>>): Promise<void> {
  for (const [id, session] of Object.entries(sessions)) {
    await mkdir(join(folder, id), { recursive: true })
    await writeFile(join(folder, id, `${id}.json`), typeof session === 'string' ? session : JSON.stringify(session))
  }
}

const ours = { cwd: '/work', prompt: 'Do it.' }

async function look(t: TestContext, sessions: Readonly<Record<string, object | string>>): Promise<string | undefined> {
  const home = await scratch(t)
  await leave(join(home, '.cline', 'data', 'sessions'), sessions)
  return clineSessionOf({ cli, request: aRequest(), env: { HOME: home } })
}

describe('the session that a run of Cline has left', () => {
  it('is the newest with this prompt in this directory', async (t) => {
    const found = await look(t, {
      '900_a': ours,
      '1000_b': ours,
      '1001_c': { cwd: '/elsewhere', prompt: 'Do it.' },
      '1002_d': { cwd: '/work', prompt: 'Do something else.' },
    })
    assert.equal(found, '1000_b')
  })

  it('is not found among broken files, foreign names, or none', async (t) => {
    assert.equal(await look(t, { '1_a': '{"cwd":', '2_b': '[]', x: 'null' }), undefined)
    assert.equal(await look(t, {}), undefined)
  })

  it('is looked for among the newest only', async (t) => {
    const others = Array.from({ length: 20 }, (_, n) => [`${2000 + n}_x`, { cwd: '/elsewhere', prompt: '' }] as const)
    assert.equal(await look(t, { '1000_a': ours, ...Object.fromEntries(others) }), undefined)
  })

  it('is where its environment variables point', async (t) => {
    const dir = await scratch(t)
    const places: readonly (readonly [string, Environment])[] = [
      ['d/data/sessions', { CLINE_DIR: join(dir, 'd') }],
      ['e/sessions', { CLINE_DATA_DIR: join(dir, 'e') }],
      ['f', { CLINE_SESSION_DATA_DIR: join(dir, 'f') }],
    ]
    for (const [folder, env] of places) {
      await leave(join(dir, folder), { '1_a': ours })
      assert.equal(await clineSessionOf({ cli, request: aRequest(), env }), '1_a', folder)
    }
  })
})
