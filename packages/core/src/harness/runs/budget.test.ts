import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Agent, createTool } from '@inspan/agent'
import type { InspanError } from '@inspan/protocol'
import type { Budget } from '@inspan/protocol/driver'
import { MemoryStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { ForeignAgent, type Act } from '../../engine/foreign-agent.fixture.ts'
import { Harness } from '../harness.ts'
import type { HarnessMode } from '../harness-config.ts'

const note = createTool({ id: 'note', description: 'Notes.', category: 'read', execute: () => 'noted' })

/** Returns the messages about the budget during a run of the mode. */
async function told(mode: Omit<HarnessMode, 'id'>): Promise<string[]> {
  const harness = new Harness({
    id: 'budget',
    storage: new MemoryStore(),
    modes: [{ id: 'build', ...mode }],
    permissions: { categories: { read: 'allow' } },
  })
  const lines: string[] = []
  harness.subscribe((event) => {
    if (event.type === 'info') lines.push(event.message)
  })
  await harness.init()
  await harness.sendMessage({ content: 'Go.' })
  await harness.destroy()
  return lines
}

suite('a budget holds in a harness, and is reported before and at its limit', () => {
  for (const [what, budget, provider, modelId] of [
    ['tokens', { tokens: 250_000 }, 'scripted', 'scripted-model'],
    ['money, by the price list', { usd: 0.5 }, 'anthropic.messages', 'claude-sonnet-4-5'],
  ] as const) {
    for (const where of ['its agent', 'the mode'] as const) {
      test(`${what}, as ${where} says`, async () => {
        const usage = { inputTokens: 100_000, outputTokens: 1 }
        const model = scriptedModel([{ toolCalls: [{ name: 'note' }], usage, repeat: true }], { provider, modelId })
        const own = where === 'its agent' ? { budget } : {}
        const agent = new Agent({ id: 'agent', model, tools: { note }, maxSteps: 20, ...own })
        const lines = await told({ agent, ...(where === 'the mode' ? { budget } : {}) })
        assert.ok(model.calls >= 2 && model.calls <= 4, `${model.calls} calls`)
        assert.equal(lines.length, 2)
        assert.match(lines[0] ?? '', /^Near the limit/)
        assert.match(lines[1] ?? '', /^At the limit/)
      })
    }
  }

  const works: Act = async function* () {
    for (let stepIndex = 0; ; stepIndex++) {
      yield { type: 'step-start', stepIndex }
      yield { type: 'text-delta', text: `step ${stepIndex} ` }
      const usage = { totalTokens: 40, costUsd: 0.04 }
      yield { type: 'step-finish', stepIndex, finishReason: 'tool-calls', usage }
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  for (const budget of [{ tokens: 100 }, { usd: 0.1 }, { ms: 100 }] satisfies Budget[]) {
    test(`${Object.keys(budget).join()} of a foreign agent, as the mode says`, async () => {
      const lines = await told({ agent: new ForeignAgent('cli', [works]), budget })
      assert.match(lines[0] ?? '', /^Near the limit/)
      assert.match(lines[1] ?? '', /^At the limit/)
    })
  }

  test('one that means nothing is refused when the harness is made', () => {
    assert.throws(
      () => new Harness({ id: 'h', modes: [{ id: 'build', defaultModelId: 'a/b', budget: { tokens: -1 } }] }),
      (error: InspanError) => error.code === 'invalid-input' && error.message.includes('mode "build"'),
    )
  })
})
