import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const CHILD = fileURLToPath(new URL('many-child.fixture.ts', import.meta.url))
/** How much the heap may vary with nothing kept. A kept thread would be about 10 KB, a delta 50 bytes. */
const NOISE_MB = 8

interface Measured {
  readonly long: { readonly seen: number; readonly before: number; readonly after: number }
  readonly many: { readonly before: number; readonly after: number }
  readonly timers: readonly string[]
}

test(
  'a million deltas and ten thousand threads leave nothing behind: no heap, no timer, nothing that keeps the process alive',
  { timeout: 280_000 },
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-many-'))
    try {
      const args = ['--expose-gc', CHILD, join(folder, 'data.db'), '1000000', '10000']
      // The process is not told to end: that it does shows that no handle is left.
      const { stdout } = await promisify(execFile)(process.execPath, args)
      const { long, many, timers } = JSON.parse(stdout) as Measured
      t.diagnostic(stdout.trim())
      assert.ok(long.seen >= 1_000_000)
      assert.ok(long.after - long.before < NOISE_MB, `${long.before} MB grew to ${long.after} MB`)
      assert.ok(many.after - many.before < NOISE_MB, `${many.before} MB grew to ${many.after} MB`)
      assert.deepEqual(timers, [])
    } finally {
      await rm(folder, { recursive: true })
    }
  },
)
