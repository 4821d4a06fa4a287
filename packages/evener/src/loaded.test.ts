import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const child = fileURLToPath(new URL('loaded.fixture.ts', import.meta.url))
let home = ''

before(async () => {
  home = await mkdtemp(join(tmpdir(), 'evener-loaded-'))
})
after(() => rm(home, { recursive: true }))

/** The packages of ours whose modules a command took. */
function packagesOf(input: string, ...args: readonly string[]): readonly string[] {
  const env = { ...process.env, EVENER_HOME: home, EVENER_CODEX_BIN: join(home, 'codex') }
  const { stderr } = spawnSync(process.execPath, [child, ...args], { input, env, encoding: 'utf8' })
  const loaded = JSON.parse(stderr.split('\n').at(-1) ?? '') as readonly string[]
  const names = loaded.map((url) => /\/packages\/(\w+)\/src\//.exec(url)?.[1])
  return [...new Set(names)].filter((name) => name !== undefined).toSorted()
}

suite('a command loads what it needs', () => {
  test('which version this is, and what commands there are, takes no other package', () => {
    assert.deepEqual(packagesOf('', '--version'), ['evener', 'protocol'])
    assert.deepEqual(packagesOf('', 'help'), ['evener', 'protocol'])
  })

  test('making activity of output takes neither the engine nor the demo agent', () => {
    const record = '{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"Hi"}}\n'
    const packages = packagesOf(record, 'normalize', '--harness', 'codex')
    assert.deepEqual(packages, ['adapters', 'evener', 'protocol', 'shell'])
  })

  test('looking for coding agents takes no engine where nothing was kept', () => {
    assert.deepEqual(packagesOf('', 'doctor'), ['adapters', 'evener', 'protocol', 'shell'])
  })

  test('running a coding agent takes no demo agent', () => {
    const packages = packagesOf('', 'run', '--harness', 'codex', 'Hi')
    assert.deepEqual(packages, ['adapters', 'agent', 'core', 'evener', 'protocol', 'shell'])
  })
})
