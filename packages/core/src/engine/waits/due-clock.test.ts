import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const CHILD = fileURLToPath(new URL('due-clock-child.fixture.ts', import.meta.url))

test('a program that only waits for an approval lives until nobody has given it in time', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [CHILD])
  assert.equal(stdout, 'complete\n')
})
