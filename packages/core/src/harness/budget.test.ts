import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Agent, createTool } from '@evener/agent'
import { scriptedModel } from '@evener/testing'
import { MemoryStore } from '../stores/memory-store.ts'
import { Harness } from './harness.ts'

const note = createTool({ id: 'note', description: 'Notes.', category: 'read', execute: () => 'noted' })

for (const [what, budget, provider, modelId] of [
  ['tokens', { tokens: 250_000 }, 'scripted', 'scripted-model'],
  ['money, by the price list', { usd: 0.5 }, 'anthropic.messages', 'claude-sonnet-4-5'],
] as const) {
  test(`the budget of an agent holds in a harness: ${what}`, async () => {
    const usage = { inputTokens: 100_000, outputTokens: 1 }
    const model = scriptedModel([{ toolCalls: [{ name: 'note' }], usage, repeat: true }], { provider, modelId })
    const harness = new Harness({
      id: 'budget',
      storage: new MemoryStore(),
      agent: new Agent({ id: 'agent', model, tools: { note }, budget, maxSteps: 20 }),
      modes: [{ id: 'build' }],
      permissions: { categories: { read: 'allow' } },
    })
    await harness.init()
    await harness.sendMessage({ content: 'Go.' })
    await harness.destroy()
    assert.ok(model.calls >= 2 && model.calls <= 4, `${model.calls} calls`)
  })
}
