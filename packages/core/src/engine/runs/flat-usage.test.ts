import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentOptions } from '@inspan/agent'
import { AgentBench } from '../agent-bench.fixture.ts'

const usage = { inputTokens: 100, outputTokens: 9, totalTokens: 109, cachedInputTokens: 70 }

/** A V2 model, which reports flat numbers. Whether they include cached tokens depends on the provider. */
function olderModel(provider: string): AgentOptions['model'] {
  return {
    specificationVersion: 'v2',
    provider,
    modelId: 'older',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('It only streams.')),
    doStream: async () => ({
      stream: new ReadableStream({
        start(controller) {
          controller.enqueue({ type: 'text-start', id: '0' })
          controller.enqueue({ type: 'text-delta', id: '0', delta: 'Hi.' })
          controller.enqueue({ type: 'text-end', id: '0' })
          const providerMetadata = { [provider]: { cacheCreationInputTokens: null } }
          controller.enqueue({ type: 'finish', usage, finishReason: 'stop', providerMetadata })
          controller.close()
        },
      }),
    }),
  }
}

for (const [provider, inputTokens] of [
  ['openai', 30],
  ['anthropic', 100],
] as const) {
  test(`the uncached tokens of an older model of ${provider} are ${inputTokens}`, async () => {
    await using bench = await AgentBench.open([], { agent: { model: olderModel(provider) } })
    await bench.play()
    const [finish] = await bench.eventsOf('finish')
    assert.deepEqual(finish?.usage, { ...usage, inputTokens })
  })
}
