import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { startProvider, type Provider, type ScriptedModel } from '@inspan/testing'
import { AgentBench, AT_ONCE } from '../agent-bench.fixture.ts'

type Call = Parameters<ScriptedModel['doStream']>[0]

const agent = { idleTimeoutMs: 8 }

suite('a model that is called and then sends nothing', () => {
  test('is asked again in the same step, and the record explains why', async () => {
    await using bench = await AgentBench.open([{ hang: true }, { text: 'Here.' }], { agent })
    assert.equal(await bench.play(), 'complete')
    assert.equal(bench.model.requestBodies[0], bench.model.requestBodies[1])
    assert.deepEqual(
      (await bench.events()).map(({ type }) => type),
      ['start', 'step-start', 'text-delta', 'step-finish', 'finish'],
    )
    const [retry, ...more] = await bench.notes('warning')
    assert.deepEqual(more, [])
    assert.equal(retry?.data?.['type'], 'llm-retry')
    assert.match(retry.text, /Nothing came from the model for 8 ms/)
  })

  test('after it has begun: what it said stays, as a step of its own that failed', async () => {
    await using bench = await AgentBench.open([{ text: 'I am', hang: true }, { text: 'Here.' }], { agent })
    assert.equal(await bench.play(), 'complete')
    const steps = await bench.eventsOf('step-finish')
    assert.deepEqual(
      steps.map(({ finishReason }) => finishReason),
      ['error', 'stop'],
    )
    const texts = (await bench.eventsOf('text-delta')).map(({ text }) => text)
    assert.deepEqual(texts, ['I am', 'Here.'])
    assert.equal((await bench.eventsOf('finish')).length, 1)
    assert.doesNotMatch(bench.model.requestBodies[1] ?? '', /I am/)
  })

  test('for good ends the turn with an error that names the reason', async () => {
    const script = [{ hang: true as const, repeat: true as const }]
    await using bench = await AgentBench.open(script, { agent: { ...agent, retry: { ...AT_ONCE, maxRetries: 2 } } })
    assert.equal(await bench.play(), 'error')
    assert.equal(bench.model.calls, 3)
    const [error, ...more] = await bench.eventsOf('error')
    assert.deepEqual(more, [])
    assert.equal(error?.code, 'stream-idle')
  })

  test('is asked to stop, also one that does not react', async () => {
    const signals: (AbortSignal | undefined)[] = []
    await using bench = await AgentBench.open([{ text: 'Here.' }], {
      agent: {
        ...agent,
        model: () => ({
          ...bench.model,
          doStream: (call: Call) => {
            signals.push(call.abortSignal)
            return signals.length === 1 ? Promise.withResolvers<never>().promise : bench.model.doStream(call)
          },
        }),
      },
    })
    assert.equal(await bench.play(), 'complete')
    assert.deepEqual(
      signals.map((signal) => signal?.aborted),
      [true, false],
    )
  })

  test('a model that had finished has answered, though its stream stays open', async () => {
    await using bench = await AgentBench.open([{ text: 'Here.' }], {
      agent: {
        ...agent,
        model: () => ({
          ...bench.model,
          doStream: async (call: Call) => {
            const { stream, ...more } = await bench.model.doStream(call)
            const open = new TransformStream({ flush: () => Promise.withResolvers<void>().promise })
            return { ...more, stream: stream.pipeThrough(open) }
          },
        }),
      },
    })
    assert.equal(await bench.play(), 'complete')
    assert.equal(bench.model.calls, 1)
    assert.deepEqual(await bench.notes('warning'), [])
  })
})

test('the connection to a provider that sends nothing is closed, and the request repeated', async () => {
  const models = [
    ({ url }: Provider) => createAnthropic({ baseURL: `${url}/v1`, apiKey: 'any' })('claude-sonnet-4-5'),
    ({ url }: Provider) => createOpenAI({ baseURL: `${url}/v1`, apiKey: 'any' })('gpt-5'),
    ({ url }: Provider) => createOpenAI({ baseURL: `${url}/v1`, apiKey: 'any' }).chat('gpt-5'),
  ]
  const silent = [{ hang: true }, { text: 'I am', hang: true }] as const
  const plays = models.flatMap((open) => silent.map((first) => ({ open, first })))
  await Promise.all(
    plays.map(async ({ first, open }) => {
      await using provider = await startProvider([first, { text: 'Here.' }])
      // Long enough for a slow machine to answer in.
      await using bench = await AgentBench.open([], { agent: { model: open(provider), idleTimeoutMs: 1000 } })
      assert.equal(await bench.play(), 'complete')
      assert.deepEqual(
        provider.requests.map(({ outcome }) => outcome),
        ['client-gone', 'answered'],
      )
    }),
  )
})
