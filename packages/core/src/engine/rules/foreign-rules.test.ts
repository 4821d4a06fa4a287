import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { pi } from '@inspan/adapters'
import { NO_RULES, type PermissionRules } from '@inspan/protocol'
import { createPolicy } from '../../policy/index.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'

/** Rules that pi cannot enforce: it can leave a tool out, but not forbid a single command. */
const RULES: PermissionRules = {
  ...NO_RULES,
  patterns: [{ tool: 'execute_command', pattern: 'rm *', policy: 'deny' }],
}

/** A program that prints its version, and creates a file when it is started for more. */
async function program(folder: string): Promise<string> {
  const bin = join(folder, 'pi')
  const script = `#!/bin/sh\nif [ "$1" = --version ]; then echo 1.5.0; exit 0; fi\ntouch "${join(folder, 'started')}"\n`
  await writeFile(bin, script, { mode: 0o755 })
  return bin
}

suite('an agent that cannot keep the rules in force', () => {
  async function play(allowUngoverned: boolean): Promise<{ outcome: string; error: string; isStarted: boolean }> {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-rules-'))
    try {
      const bin = await program(folder)
      const driver = pi({ bin, transport: 'print', permissions: 'full', cwd: folder, allowUngoverned })
      const rules = { policy: createPolicy({ rules: RULES }) }
      await using bench = await RuntimeBench.open({ [driver.id]: { driver } }, rules)
      const { done } = await bench.submit('go', { agentId: driver.id })
      const outcome = await done
      const error = JSON.stringify([await bench.bodies('error'), await bench.bodies('run.ended')])
      return { outcome, error, isStarted: (await readdir(folder)).includes('started') }
    } finally {
      await rm(folder, { recursive: true })
    }
  }

  test('does not start under them, and the rules are named', async () => {
    const { outcome, error, isStarted } = await play(false)
    assert.equal(outcome, 'error')
    assert.match(error, /policy-unsupported/)
    assert.match(error, /rm \*/)
    assert.ok(!isStarted)
  })

  test('starts when somebody has said that it may', async () => {
    assert.ok((await play(true)).isStarted)
  })
})
