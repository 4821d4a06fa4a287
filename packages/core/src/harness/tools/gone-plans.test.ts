import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { MemoryStore } from '@inspan/stores'
import { ForeignAgent, says } from '../../engine/foreign-agent.fixture.ts'
import { HarnessBench } from '../harness.fixture.ts'
import { PLAN, plans } from './planners.fixture.ts'

suite('a plan of a foreign program that is gone when it is approved', () => {
  for (const steer of ['inject', 'none'] as const) {
    test(`is carried out by the agent of the next mode, though the program would go on without asking (${steer})`, async () => {
      const storage = new MemoryStore()
      const modes = (planner: ForeignAgent, builder: ForeignAgent) => [
        { id: 'plan', agent: planner, transitionsTo: 'build' },
        { id: 'build', agent: builder },
      ]
      const first = new HarnessBench([], {
        storage,
        modes: modes(new ForeignAgent('planner', [plans], { steer }), new ForeignAgent('builder', [])),
      })
      await first.harness.sendMessage({ content: 'Plan.' })
      await first.harness.destroy()
      // The planner has forgotten its question and would just work on.
      const planner = new ForeignAgent('planner', [says('The planner goes on.')], { steer })
      const builder = new ForeignAgent('builder', [says('Built.')])
      await using bench = new HarnessBench([], { storage, modes: modes(planner, builder) })
      await bench.harness.selectOrCreateThread()
      const runId = bench.harness.session.getCurrentRunId()
      await bench.harness.respondToToolSuspension({ resumeData: { action: 'approved', feedback: 'Mind the tests.' } })
      assert.equal(bench.harness.session.mode.get(), 'build')
      assert.deepEqual(
        bench.all('text').map(({ text }) => text),
        ['Built.'],
      )
      const [turn] = builder.turns
      assert.equal(turn?.runId, runId)
      const said = JSON.stringify(turn?.input)
      for (const word of [PLAN, 'approved', 'Mind the tests.']) assert.ok(said.includes(word), word)
      assert.equal(bench.all('agent_end').at(-1)?.reason, 'complete')
    })
  }
})
