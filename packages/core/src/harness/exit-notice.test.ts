import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

test('a program that only waits for an approval reports that once, explains what to do, and fails', () => {
  const program = fileURLToPath(new URL('waiting-child.fixture.ts', import.meta.url))
  const { status, stderr, stdout } = spawnSync(process.execPath, [program], { encoding: 'utf8' })
  assert.equal(status, 1)
  assert.equal(stdout, '')
  assert.match(
    stderr,
    /wait for an answer that nobody gives:\n {2}- look: who: Ann \(no rule allows `look`\) \(call \S+\)\n/,
  )
  assert.match(stderr, /respondToToolApproval.*\n.*`permissions`/)
  assert.equal(stderr.split('wait for an answer').length, 2)
  assert.doesNotMatch(stderr, /unsettled/)
})
