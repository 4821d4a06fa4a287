import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const child = fileURLToPath(new URL('loaded.fixture.ts', import.meta.url))

/** The packages of ours whose modules a command took. */
function packagesOf(input: string, ...args: readonly string[]): readonly string[] {
  const { stderr, status } = spawnSync(process.execPath, [child, ...args], { input, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  const loaded = JSON.parse(stderr) as readonly string[]
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
})
