import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const CHILD = fileURLToPath(new URL('destroyed-child.fixture.ts', import.meta.url))

test('a harness that was destroyed leaves nothing, and its process ends by itself', { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'inspan-destroy-'))
  try {
    // A process that does not end is killed, which rejects.
    const { stdout } = await promisify(execFile)(process.execPath, [CHILD, `file:${join(folder, 'data.db')}`], {
      timeout: 100_000,
    })
    const { after, before, ...left } = JSON.parse(stdout) as Record<string, unknown>
    assert.deepEqual(left, {
      wereTimers: true,
      timers: 0,
      owners: 0,
      threads: 3,
      held: 0,
      waits: 1,
      programs: 0,
      locks: 0,
      ended: ['beat down', 'workspace down'],
    })
    assert.deepEqual(after, before)
  } finally {
    await rm(folder, { recursive: true })
  }
})
