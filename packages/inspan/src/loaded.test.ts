import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const child = fileURLToPath(new URL('loaded.fixture.ts', import.meta.url))
const RECORD = '{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"Hi"}}\n'
let home = ''

before(async () => {
  home = await mkdtemp(join(tmpdir(), 'inspan-loaded-'))
})
after(() => rm(home, { recursive: true }))

/** Returns the modules that a command loaded. */
function modulesOf(input: string, ...args: readonly string[]): readonly string[] {
  const env = { ...process.env, INSPAN_HOME: home, INSPAN_CODEX_BIN: join(home, 'codex') }
  const { stderr } = spawnSync(process.execPath, [child, ...args], { input, env, encoding: 'utf8' })
  return JSON.parse(stderr.split('\n').at(-1) ?? '') as readonly string[]
}

/** Returns our packages that these modules belong to. */
function packagesOf(input: string, ...args: readonly string[]): readonly string[] {
  const names = modulesOf(input, ...args).map((url) => /\/packages\/(\w+)\/src\//.exec(url)?.[1])
  return [...new Set(names)].filter((name) => name !== undefined).toSorted()
}

suite('a command loads what it needs', () => {
  test('finding the version and the commands takes no other package', () => {
    assert.deepEqual(packagesOf('', '--version'), ['inspan', 'protocol'])
    assert.deepEqual(packagesOf('', 'help'), ['inspan', 'protocol'])
  })

  test('making activity of output takes neither the engine nor the demo agent', () => {
    const packages = packagesOf(RECORD, 'normalize', '--harness', 'codex')
    assert.deepEqual(packages, ['adapters', 'inspan', 'protocol', 'shell'])
  })

  test('looking for coding agents takes no engine where nothing was kept', () => {
    assert.deepEqual(packagesOf('', 'doctor'), ['adapters', 'inspan', 'protocol', 'shell'])
  })

  test('making activity of output takes no driver, and running a coding agent only its own', () => {
    const driversOf = (...args: readonly string[]): readonly string[] =>
      modulesOf(RECORD, ...args).flatMap((url) => /\/adapters\/src\/(.+\/driver)\.ts$/.exec(url)?.[1] ?? [])
    assert.deepEqual(driversOf('normalize', '--harness', 'codex'), [])
    assert.deepEqual(driversOf('doctor'), [])
    assert.deepEqual(driversOf('run', '--harness', 'codex', 'Hi'), ['codex/driver'])
  })

  test('running a coding agent takes no demo agent', () => {
    const packages = packagesOf('', 'run', '--harness', 'codex', 'Hi')
    assert.deepEqual(packages, [
      'adapters',
      'agent',
      'core',
      'inspan',
      'memory',
      'protocol',
      'shell',
      'stores',
      'tools',
    ])
  })
})
