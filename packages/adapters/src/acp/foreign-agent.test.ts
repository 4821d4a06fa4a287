import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { AgentSession } from '@inspan/protocol/driver'
import { brief } from '../../test/brief.ts'
import { aTurn } from '../../test/launch/diary.ts'
import { scratch, survivors } from '../../test/launch/stand-in.ts'
import { finishOf, liveHost, take, type LiveHost, type Taking } from '../../test/live/live-host.ts'
import { acp, type AcpOptions } from './driver.ts'

const PROGRAM = fileURLToPath(import.meta.resolve('../../test/acp/sdk-agent.ts'))

interface Stage {
  readonly dir: string
  readonly host: LiveHost
  readonly session: AgentSession
  readonly say: (...lines: readonly string[]) => Taking
}

async function stage(t: TestContext, host: LiveHost, options: Partial<AcpOptions> = {}): Promise<Stage> {
  const dir = await scratch(t)
  await writeFile(join(dir, 'a.txt'), 'one\ntwo\n')
  const driver = acp({ command: process.execPath, args: [PROGRAM], cwd: dir, ...options })
  const session = await driver.open(null, host.host)
  t.after(async () => {
    await session.close()
    assert.equal(await survivors(host), 0)
  })
  const say = (...lines: readonly string[]): Taking =>
    take(session.run({ ...aTurn, input: [{ id: '0', type: 'text', text: lines.join('\n') }] }), host)
  return { dir, host, session, say }
}

describe('an agent on the protocol’s own library', () => {
  it('describes what it can do', async () => {
    const can = await acp({ command: process.execPath, args: [PROGRAM] }).describe()
    assert.deepEqual([can.version, can.resume, can.images, can.steer], ['0.3.1', 'none', false, 'restart'])
  })

  it('reads, searches, writes and runs, once that is allowed', async (t) => {
    const { dir, host, say } = await stage(
      t,
      liveHost(() => ({ policy: 'allow', reason: 'a test' })),
    )
    const events = await say('read a.txt', 'find two', 'write b.txt new', 'run echo bad; exit 3', 'say Done now.').all
    assert.equal(finishOf(events), 'stop')
    assert.deepEqual(brief(host.activity), [
      `read ${dir}/a.txt:1-`,
      `search two in ${dir}`,
      `write ${dir}/b.txt`,
      'command echo bad; exit 3 → 3 ✗',
      'agent: Done now.',
    ])
    assert.equal(await readFile(join(dir, 'b.txt'), 'utf8'), 'new')
  })

  it('does not do what is denied', async (t) => {
    const { dir, host, say } = await stage(
      t,
      liveHost(() => ({ policy: 'deny', reason: 'No.' })),
    )
    await say('write b.txt new', 'say As you like.').all
    assert.deepEqual(brief(host.activity), [`write ${dir}/b.txt ✗`, 'agent: As you like.'])
    await assert.rejects(readFile(join(dir, 'b.txt')))
  })
})
