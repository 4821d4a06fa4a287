import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { aRequest } from '../../test/launch/request.ts'
import { scratch } from '../../test/launch/stand-in.ts'
import type { SessionChoice } from '../launch/native-session.ts'
import type { PlaceRequest } from '../launch/print-driver.ts'
import { placePiSession } from './place-session.ts'

interface Placed {
  readonly placed: SessionChoice
  /** The original session file. */
  readonly file: string
  readonly dir: string
}

async function place(
  t: TestContext,
  session: PlaceRequest['session'],
  { cwd = '/work', where = 'PI_CODING_AGENT_DIR' }: { readonly cwd?: string; readonly where?: string } = {},
): Promise<Placed> {
  const dir = await scratch(t)
  const folders: Readonly<Record<string, string>> = {
    PI_CODING_AGENT_DIR: join(dir, 'sessions', '--work--'),
    PI_CODING_AGENT_SESSION_DIR: join(dir, 'any'),
    HOME: join(dir, '.pi/agent/sessions/--work--'),
  }
  const folder = folders[where] ?? ''
  const given = where === 'PI_CODING_AGENT_SESSION_DIR' ? folder : dir
  await mkdir(folder, { recursive: true })
  const file = join(folder, '2026-01-01T00-00-00-000Z_old.jsonl')
  const records = [
    { type: 'session', id: 'old', cwd: '/work' },
    { type: 'message', id: 'u', parentId: null, message: { role: 'user', timestamp: 1 } },
    { type: 'message', id: 'a', parentId: 'u', message: { role: 'assistant', timestamp: 2 } },
  ]
  await writeFile(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  const placed = await placePiSession({
    session,
    limits: aRequest(),
    cli: { path: 'pi', isKnown: true },
    env: { [where]: given },
    cwd,
    dir,
    signal: new AbortController().signal,
  })
  return { placed, file, dir }
}

describe('a session of Pi is placed', () => {
  for (const where of ['PI_CODING_AGENT_DIR', 'PI_CODING_AGENT_SESSION_DIR', 'HOME']) {
    it(`by its file, wherever ${where} says that it is`, async (t) => {
      const { placed, file } = await place(t, { kind: 'resume', nativeId: 'old', anchor: '2' }, { where })
      assert.deepEqual(placed, { kind: 'resume', nativeId: file, anchor: '2' })
    })
  }

  it('as a private copy that ends at the anchor, when it continues after it', async (t) => {
    const { placed, dir } = await place(t, { kind: 'resume', nativeId: 'old', anchor: '1' })
    assert.ok(placed.kind === 'fork')
    assert.equal(join(placed.nativeId, '..'), dir)
    assert.equal((await readFile(placed.nativeId, 'utf8')).trim().split('\n').length, 2)
  })

  it('as a copy, when it belongs to another directory', async (t) => {
    const { placed } = await place(t, { kind: 'resume', nativeId: 'old', anchor: '2' }, { cwd: '/elsewhere' })
    assert.equal(placed.kind, 'fork')
  })

  it('as a copy with the id that a fork wants', async (t) => {
    const { placed } = await place(t, { kind: 'fork', nativeId: 'old', anchor: '2', id: 'forked' })
    assert.equal(placed.kind === 'fork' && placed.id, 'forked')
  })

  it('nowhere, when it is gone or does not hold the anchor', async (t) => {
    const gone = await place(t, { kind: 'resume', nativeId: 'gone', anchor: '2' })
    assert.equal(gone.placed.kind === 'new' && gone.placed.because, 'its session is gone')
    const other = await place(t, { kind: 'resume', nativeId: 'old', anchor: '9' })
    assert.match((other.placed.kind === 'new' && other.placed.because) || '', /no longer holds/)
  })
})
