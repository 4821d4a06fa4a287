import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Agent } from '@inspan/agent'
import { scriptedModel } from '@inspan/testing'
import { readThread } from '../../engine/index.ts'
import { MemoryStore } from '@inspan/stores'
import { Harness } from '../harness.ts'

async function costOf(more: { readonly estimateCosts?: boolean }): Promise<readonly (number | undefined)[]> {
  const usage = { inputTokens: 100_000, outputTokens: 1000 }
  const model = scriptedModel([{ text: 'Hi.', usage }], {
    provider: 'anthropic.messages',
    modelId: 'claude-sonnet-4-5',
  })
  const storage = new MemoryStore()
  const agent = new Agent({ id: 'me', model })
  const harness = new Harness({ id: 'costs', agent, storage, modes: [{ id: 'build' }], ...more })
  await harness.init()
  await harness.sendMessage({ content: 'Hello.' })
  const thread = harness.session.thread.getId() ?? ''
  await harness.destroy()
  const { costUsd, estimatedUsd } = (await readThread(storage, thread)).head.usage.own
  return [costUsd, estimatedUsd]
}

suite('the cost of a run without a budget in dollars', () => {
  test('is recorded as an estimate where costs are wanted', async () => {
    const [cost = 0, estimated] = await costOf({ estimateCosts: true })
    assert.ok(cost > 0.3 && cost < 0.4, String(cost))
    assert.equal(estimated, cost)
  })

  test('is not looked up otherwise', async () => {
    assert.deepEqual(await costOf({}), [0, undefined])
  })
})
