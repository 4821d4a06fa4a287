import assert from 'node:assert/strict'
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { main } from '../main.ts'

test('inspan trust remembers folders, lists them and forgets them', async (t) => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'inspan-trust-command-')))
  t.after(() => rm(root, { recursive: true }))
  await mkdir(join(root, 'project'))
  const said: string[] = []
  const terminal = {
    out: (text: string) => void said.push(text),
    err: (text: string) => void said.push(`! ${text}`),
    cwd: root,
    env: { INSPAN_HOME: join(root, 'home') },
    isInteractive: false,
  }
  const run = (...args: string[]): Promise<number> => main(['trust', ...args], terminal as never)
  assert.deepEqual([await run(), await run('project'), await run('--list')], [0, 0, 0])
  assert.deepEqual(said.splice(0), [`Trusted: ${root}`, `Trusted: ${root}/project`, root, `${root}/project`])
  assert.deepEqual(
    [await run('project', '--revoke'), await run('project', '--revoke'), await run('nowhere')],
    [0, 1, 1],
  )
  assert.match(
    said.join('\n'),
    /No longer trusted: .*project\n! .* was not trusted\.\n! inspan trust: There is no folder/,
  )
  assert.equal(await run('a', 'b'), 2)
})
