import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { scriptedModel } from '@inspan/testing'
import { HarnessBench } from '../harness.fixture.ts'

const AGAIN = { text: JSON.stringify({ verdict: 'continue', reason: 'More.' }), repeat: true } as const

async function withGoal(): Promise<HarnessBench> {
  const judge = scriptedModel([AGAIN])
  const bench = new HarnessBench([{ text: 'Yes.', repeat: true }], {
    resolveModel: (modelId) => {
      if (modelId === 'judge/one') return judge
      throw new Error(`Nobody knows ${modelId}.`)
    },
  })
  await bench.harness.getCurrentAgent().setObjective('Go on.', { judgeModelId: 'judge/one', maxRuns: 2 })
  return bench
}

suite('changing an objective', () => {
  test('an objective that is resumed with no runs left is judged once and paused again, with the same limit', async () => {
    await using bench = await withGoal()
    const { harness } = bench
    await harness.sendMessage({ content: 'Go.', untilIdle: true })
    await harness.getCurrentAgent().updateObjectiveOptions({ status: 'active' })
    await harness.sendMessage({ content: 'Again.', untilIdle: true })
    const goal = await harness.getCurrentAgent().getObjective()
    assert.deepEqual(
      [goal?.runsUsed, goal?.status, goal?.pausedReason],
      [3, 'paused', 'The limit of 2 runs is reached.'],
    )
  })

  test('an unknown judge model is refused at once, and the old one stays', async () => {
    await using bench = await withGoal()
    const agent = bench.harness.getCurrentAgent()
    await assert.rejects(agent.updateObjectiveOptions({ judgeModelId: 'judge/two' }), /Nobody knows judge\/two/)
    assert.equal((await agent.getObjective())?.judgeModelId, 'judge/one')
  })
})
