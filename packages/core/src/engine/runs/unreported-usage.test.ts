import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { AgentOptions } from '@inspan/agent'
import type { UsageMetadata } from '@inspan/protocol'
import { AgentBench } from '../agent-bench.fixture.ts'

const NOTHING = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined }

/** A model that answers one word and reports only the given usage. */
function modelTelling(input: Partial<Record<keyof typeof NOTHING, number>>, output?: number): AgentOptions['model'] {
  const usage = {
    inputTokens: { ...NOTHING, ...input },
    outputTokens: { total: output, text: undefined, reasoning: undefined },
  }
  return {
    specificationVersion: 'v3',
    provider: 'local',
    modelId: 'quiet',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('It only streams.')),
    doStream: async () => ({
      stream: new ReadableStream({
        start(controller) {
          controller.enqueue({ type: 'stream-start', warnings: [] })
          controller.enqueue({ type: 'text-start', id: '0' })
          controller.enqueue({ type: 'text-delta', id: '0', delta: 'Hi.' })
          controller.enqueue({ type: 'text-end', id: '0' })
          controller.enqueue({ type: 'finish', usage, finishReason: { unified: 'stop', raw: 'stop' } })
          controller.close()
        },
      }),
    }),
  }
}

suite('what a provider does not report about the usage of a turn', () => {
  for (const [what, model, told] of [
    ['all of it', modelTelling({}), undefined],
    ['some of it', modelTelling({ total: 7 }, 0), { inputTokens: 7, outputTokens: 0, totalTokens: 7 }],
  ] as const) {
    test(`is not reported as zero: ${what}`, async () => {
      const hooked: UsageMetadata[] = []
      const hooks = { afterTurn: ({ usage }: { usage: UsageMetadata }): void => void hooked.push(usage) }
      await using bench = await AgentBench.open([], { agent: { model, hooks } })
      await bench.play()
      const [finish] = await bench.eventsOf('finish')
      assert.equal(finish?.finishReason, 'stop')
      assert.deepEqual(finish.usage, told)
      assert.deepEqual(hooked, [told ?? {}])
    })
  }
})
