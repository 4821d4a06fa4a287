import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startProvider } from '@inspan/testing'
import { main } from '../main.ts'
import { INSPAN } from './serving.fixture.ts'

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

test('inspan run follows AGENTS.md and the skills of a folder once that is trusted, and not before', async (t) => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'inspan-trust-run-')))
  t.after(() => rm(root, { recursive: true }))
  const folder = join(root, 'project')
  await mkdir(join(folder, '.agents/skills/greet'), { recursive: true })
  await writeFile(join(folder, 'AGENTS.md'), 'Speak plainly.')
  const skill = '---\nname: greet\ndescription: Greets people.\n---\nSay hello.'
  await writeFile(join(folder, '.agents/skills/greet/SKILL.md'), skill)
  await using provider = await startProvider([{ text: 'Hello.' }, { text: 'Hello again.' }])
  const env = {
    PATH: '/usr/bin:/bin',
    HOME: root,
    INSPAN_HOME: join(root, 'home'),
    ANTHROPIC_API_KEY: 'key',
    ANTHROPIC_BASE_URL: `${provider.url}/v1`,
  }
  const inspan = (...args: string[]): Promise<unknown> =>
    promisify(execFile)(process.execPath, [INSPAN, ...args], { cwd: folder, env })
  const run = ['run', 'Hi', '--model', 'anthropic/claude-sonnet-4-5']
  await inspan(...run)
  await inspan('trust')
  await inspan(...run)
  const asked = provider.requests.filter(({ route }) => route === 'main').map(({ text }) => text)
  for (const words of ['Speak plainly.', 'Greets people.']) {
    assert.deepEqual(
      asked.map((text) => text.includes(words)),
      [false, true],
    )
  }
})
