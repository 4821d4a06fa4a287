import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const command = fileURLToPath(new URL('../bin/inspan.js', import.meta.url))

suite('a command that gets a folder where it reads', () => {
  for (const args of [
    ['normalize', '--harness', 'codex'],
    ['run', '-'],
  ]) {
    test(`inspan ${args.join(' ')} < folder reports the folder, and does not treat it as empty input`, () => {
      const folder = openSync(tmpdir(), 'r')
      try {
        const { status, stderr, stdout } = spawnSync(process.execPath, [command, ...args], {
          stdio: [folder, 'pipe', 'pipe'],
          encoding: 'utf8',
        })
        assert.deepEqual([status, stdout], [1, ''])
        assert.match(stderr, /Standard input is a folder\./)
      } finally {
        closeSync(folder)
      }
    })
  }
})
