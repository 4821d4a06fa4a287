import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentDriver } from '@inspan/protocol/driver'
import { findTagged } from '@inspan/shell/run'
import { testDriver, type DriverBehaviour, type DriverSubject } from '@inspan/testing/contracts'
import { acpProgram } from '../test/acp/acp-program.ts'
import { fixtureProgram } from '../test/launch/fixture-program.ts'
import { standInProgram } from '../test/live/stand-in-program.ts'
import { acp } from './acp/driver.ts'
import { claudeCode } from './claude-code/agent.ts'
import { codex } from './codex/agent.ts'
import { clis } from './clis.ts'
import { pi } from './pi/agent.ts'

/** A driver of a program in a directory of its own, which must leave no process behind. */
async function subject(make: (dir: string) => Promise<AgentDriver>): Promise<DriverSubject> {
  const dir = await mkdtemp(join(tmpdir(), 'inspan-contract-'))
  const driver = await make(dir)
  const tags: string[] = []
  return {
    driver: {
      ...driver,
      open: (binding, host) => driver.open(binding, { ...host, noteProcess: ({ runTag }) => void tags.push(runTag) }),
    },
    turn: { cwd: dir },
    close: async () => {
      const left = await Promise.all(tags.map((tag) => findTagged(tag)))
      await rm(dir, { recursive: true, force: true, maxRetries: 5 })
      assert.deepEqual(left.flat(), [], 'no process is left')
    },
  }
}

for (const { profile, agent } of clis) {
  testDriver({
    name: `${profile.title}, a process for every turn,`,
    open: (behaviour) =>
      subject(async (dir) =>
        agent({
          bin: await fixtureProgram(dir, profile.id, behaviour),
          cwd: dir,
          env: { HOME: dir },
          permissions: 'full',
        }),
      ),
  })
}

const CLAUDE: Readonly<Record<DriverBehaviour, string>> = {
  answers: 't.say("Hello.")',
  hangs: 't.say("Well"); await t.interrupted',
  fails: 'process.exit(3)',
}
testDriver({
  name: 'Claude Code, one process for all turns,',
  open: (behaviour) =>
    subject(async (dir) => claudeCode({ bin: await standInProgram(dir, 'claude', CLAUDE[behaviour]), cwd: dir })),
})

testDriver({
  name: 'Codex, one process for all turns,',
  open: (behaviour) =>
    subject(async (dir) =>
      codex({ bin: await standInProgram(dir, 'codex', { ...CLAUDE, fails: 't.fail("No.")' }[behaviour]), cwd: dir }),
    ),
})

const PI: Readonly<Record<DriverBehaviour, string>> = { ...CLAUDE, hangs: 't.say("Well"); await t.aborted' }
testDriver({
  name: 'Pi, one process for all turns,',
  open: (behaviour) =>
    subject(async (dir) => pi({ bin: await standInProgram(dir, 'pi', PI[behaviour]), cwd: dir, env: { HOME: dir } })),
})

const ACP: Readonly<Record<DriverBehaviour, string>> = {
  answers: 't.text("Hello.")',
  hangs: 't.text("Well"); await t.cancelled',
  fails: 'process.exit(3)',
}
testDriver({
  name: 'an agent of the Agent Client Protocol',
  open: (behaviour) =>
    subject(async (dir) => acp({ command: await acpProgram(dir, ACP[behaviour]), cwd: dir, title: 'Agent' })),
})
