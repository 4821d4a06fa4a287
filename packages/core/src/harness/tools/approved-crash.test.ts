import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { SqliteStore } from '@inspan/stores'
import { says } from '../../engine/foreign-agent.fixture.ts'
import { ProcessOwner } from '../../engine/index.ts'
import { HarnessBench } from '../harness.fixture.ts'
import { PLAN, planners } from './planners.fixture.ts'

const CHILD = fileURLToPath(new URL('approved-crash-child.fixture.ts', import.meta.url))

/** Lets another process approve the plan, which is killed when the approval, and nothing after it, is on disk. */
async function approveAndDie(file: string, how: 'live' | 'gone' | 'found'): Promise<void> {
  const child = spawn(process.execPath, [CHILD, file, how], { stdio: ['ignore', 'ignore', 'inherit'] })
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
  assert.equal(signal, 'SIGKILL')
}

async function database(t: TestContext): Promise<{ file: string; storage: SqliteStore }> {
  const folder = await mkdtemp(join(tmpdir(), 'inspan-approved-'))
  const file = join(folder, 'data.db')
  const storage = new SqliteStore({ url: `file:${file}` })
  t.after(async () => {
    await storage.close()
    await rm(folder, { recursive: true })
  })
  return { file, storage }
}

async function killedAtTheApproval(t: TestContext, how: 'live' | 'gone'): Promise<SqliteStore> {
  const { file, storage } = await database(t)
  await approveAndDie(file, how)
  return storage
}

suite('a plan of a foreign program whose approval was the last thing before a crash', { timeout: 120_000 }, () => {
  for (const how of ['live', 'gone'] as const) {
    test(`is carried out by the agent that builds, in the same run (the program that asked was ${how})`, async (t) => {
      const storage = await killedAtTheApproval(t, how)
      const { builder, modes, planner } = planners([says('The planner goes on.')])
      await using bench = new HarnessBench([], { storage, modes })
      const ended = bench.next('agent_end')
      await bench.harness.selectOrCreateThread()
      assert.equal((await ended).reason, 'complete')
      assert.equal(bench.harness.session.mode.get(), 'build')
      assert.deepEqual([planner.turns.length, builder.turns.length], [0, 1])
      const said = JSON.stringify(builder.turns[0]?.input)
      for (const word of [PLAN, 'approved', 'Mind the tests.']) assert.ok(said.includes(word), word)
    })
  }

  test('is carried out also by who had the thread open before, and looks at it again', async (t) => {
    const { file, storage } = await database(t)
    const first = new HarnessBench([], { storage, modes: planners().modes })
    await first.harness.sendMessage({ content: 'Plan.' })
    await first.harness.destroy()
    const { builder, modes, planner } = planners([says('The planner goes on.')])
    await using bench = new HarnessBench([], { storage, modes })
    const { id } = await bench.harness.selectOrCreateThread()
    // An idle harness lets others claim its thread.
    const owner = await ProcessOwner.register(storage)
    await owner.release(id, await owner.claim(id))
    await owner.close()
    await approveAndDie(file, 'found')
    const ended = bench.next('agent_end')
    await bench.harness.renameThread({ title: 'Looked again' })
    assert.equal((await ended).reason, 'complete')
    assert.equal(bench.harness.session.mode.get(), 'build')
    assert.deepEqual([planner.turns.length, builder.turns.length], [0, 1])
    const said = JSON.stringify(builder.turns[0]?.input)
    for (const word of [PLAN, 'approved', 'Mind the tests.']) assert.ok(said.includes(word), word)
  })
})
