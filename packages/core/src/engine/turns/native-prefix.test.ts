import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool, toPrompt } from '@inspan/agent'
import { rootLineage } from '@inspan/protocol/log'
import type { ModelTurn } from '@inspan/testing'
import * as fc from 'fast-check'
import { AgentBench, type ModelScript } from '../agent-bench.fixture.ts'
import { requestPrefix } from '../context/request-prefix.ts'
import { forkThread } from '../threads/threads.ts'
import { ProcessOwner } from '../threads/ownership.ts'

const note = createTool({
  id: 'note',
  description: 'Notes.',
  idempotent: true,
  execute: async (input) => ({ noted: input, at: 'once', more: 'x'.repeat(50) }),
})
const large = createTool({ id: 'large', description: 'Says much.', execute: async () => 'y'.repeat(40_000) })
const tools = { note, large }

/** Removes cache markers, which move with the end of the conversation and are not compared. */
function withoutMarkers(prompt: readonly string[]): string[] {
  return prompt.map((message) =>
    JSON.stringify(JSON.parse(message), (key, value: unknown) =>
      key === 'cacheControl' ? undefined : value,
    ).replaceAll(/,?"providerOptions":\{"anthropic":\{\}\}/g, ''),
  )
}

/** Checks that every request begins with the whole one before it, byte for byte. */
function assertGrows(prompts: readonly (readonly string[])[]): void {
  for (const [index, prompt] of prompts.entries()) {
    const before = prompts[index - 1] ?? []
    assert.deepEqual(prompt.slice(0, before.length), before, `request ${index} does not go on from the one before`)
  }
}

const call = fc.record({
  name: fc.constantFrom('note', 'large', 'missing'),
  input: fc.oneof(
    fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<string>, { maxKeys: 2 }),
    fc.constant('{"cut'),
  ),
})

/** What a model may do in one call, good and bad. */
const words = fc.record(
  {
    text: fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.array(fc.string({ maxLength: 3 }), { maxLength: 4 }),
    ),
    toolCalls: fc.array(call, { maxLength: 3 }),
    usage: fc.constant({ inputTokens: 5, outputTokens: 2 }),
  },
  { requiredKeys: ['text'] },
)
const thought = fc.record({
  reasoning: fc.string({ maxLength: 6 }),
  signature: fc.string({ minLength: 1, maxLength: 8 }),
})
const modelCall: fc.Arbitrary<ModelTurn> = fc
  .tuple(words, fc.option(thought, { nil: undefined }))
  .map(([said, thinking]) => ({ ...said, ...thinking }))
const failure: fc.Arbitrary<ModelTurn> = fc.constantFrom<ModelTurn>(
  { error: { status: 500 } },
  { text: ['half', ' way'], cut: 'end' },
  { text: 'half', streamError: { status: 503 } },
  { toolCalls: [{ name: 'note', input: { a: 1 }, inputDeltas: 3 }], cutAfter: 1, cut: 'reset' },
)
const anyCall = fc.oneof({ weight: 4, arbitrary: modelCall }, { weight: 1, arbitrary: failure })

suite('requests only grow', () => {
  test('whatever is said, called, cut off, steered, cancelled or restarted in between', async () => {
    const plan = fc.record({
      calls: fc.array(anyCall, { minLength: 1, maxLength: 8 }),
      acts: fc.array(fc.constantFrom('say', 'steer', 'restart', 'cancel'), { minLength: 1, maxLength: 5 }),
      provider: fc.constantFrom('scripted', 'anthropic.messages'),
    })
    await fc.assert(
      fc.asyncProperty(plan, async ({ acts, calls, provider }) => {
        const script: ModelScript = [...calls, { text: 'Over.', repeat: true }]
        await using bench = await AgentBench.open(script, {
          agent: { tools, instructions: 'Be brief.', maxSteps: 6 },
          model: { provider },
        })
        for (const act of acts) {
          if (act === 'restart') {
            await bench.restart()
            await bench.runtime.idle()
            continue
          }
          const run = await bench.submit(`Please ${act}.`)
          if (act === 'steer') await bench.submit('And quickly.')
          if (act === 'cancel') await bench.runtime.cancel()
          await run.done
          await bench.runtime.idle()
        }
        assertGrows(bench.prompts().map(withoutMarkers))
      }),
      { numRuns: 60 },
    )
  })

  test('requests only grow, also over a crash in the middle of an answer and of a tool', async () => {
    const stuck = Promise.withResolvers<void>()
    let isStuck = true
    const hang = createTool({
      id: 'hang',
      description: 'Hangs once.',
      idempotent: true,
      execute: () => {
        if (!isStuck) return 'done'
        isStuck = false
        stuck.resolve()
        return new Promise(() => undefined)
      },
    })
    await using bench = await AgentBench.open(
      [
        { reasoning: 'Hm', signature: 's', text: 'First.', toolCalls: [{ name: 'hang' }, { name: 'note' }] },
        { text: ['Sec', 'ond'], hang: true },
        { text: 'Third.' },
        { text: 'Fourth.' },
      ],
      { agent: { tools: { ...tools, hang }, instructions: 'Be brief.' } },
    )
    await bench.submit('Go.')
    await stuck.promise
    await bench.restart()
    while (bench.model.calls < 2) await new Promise((resolve) => setImmediate(resolve))
    await bench.restart()
    await bench.runtime.idle()
    await bench.play('More.')
    assert.equal(bench.model.calls, 4)
    assertGrows(bench.prompts())
  })
})

suite('the prefix of a request', () => {
  test('is a function of the log: system, tools and conversation of a step as they were sent', async () => {
    let version = 0
    await using bench = await AgentBench.open(
      [{ text: 'Look.', toolCalls: [{ name: 'large' }] }, { text: 'Done.' }, { text: 'Again.' }],
      { agent: { tools, instructions: () => `Version ${++version}.` } },
    )
    await bench.play()
    await bench.play('Again?')
    const steps = (await bench.records()).filter(({ body }) => body.type === 'step.started')
    assert.equal(steps.length, 3)
    const { lineage } = bench.runtime.state.head
    for (const [index, step] of steps.entries()) {
      const prefix = await requestPrefix(bench.store, lineage, step.seq)
      const prompt = toPrompt(prefix?.system, prefix?.messages ?? [], 'native')
      assert.deepEqual(
        prompt.map((message) => JSON.stringify(message)),
        bench.prompts()[index],
      )
      assert.equal(JSON.stringify(prefix?.tools), JSON.stringify(bench.model.requests[index]?.['tools']))
      assert.equal(prefix?.model, 'scripted/scripted-model')
    }
  })

  test('the prefix of a fork is that of its parent, byte for byte', async () => {
    await using bench = await AgentBench.open(
      [{ text: 'Look.', toolCalls: [{ name: 'note', input: { b: 1, a: 2 } }] }, { text: 'Done.' }],
      { agent: { tools, instructions: 'Be brief.' } },
    )
    await bench.play()
    const last = (await bench.records()).findLast(({ body }) => body.type === 'step.started')
    const at = last?.seq ?? 0
    const owner = await ProcessOwner.register(bench.store)
    const fork = await forkThread(bench.store, owner, bench.runtime.state, { id: 'fork', resourceId: 'test', at })
    const parent = await requestPrefix(bench.store, bench.runtime.state.head.lineage, at)
    const record = await bench.store.latestRecord(rootLineage(fork.id), 'fork', at + 1)
    const lineage = record?.body.type === 'fork' ? record.body.lineage : []
    const own = await requestPrefix(bench.store, lineage, at)
    assert.equal(JSON.stringify(own), JSON.stringify(parent))
    const prompt = toPrompt(own?.system, own?.messages ?? [], 'native').map((message) => JSON.stringify(message))
    assert.deepEqual(prompt, bench.prompts()[1])
    await owner.close()
  })
})

suite('what may be kept is marked', () => {
  test('for Anthropic: instructions, tools and the end of the conversation, now and in the request before', async () => {
    await using bench = await AgentBench.open([{ toolCalls: [{ name: 'note' }] }, { text: 'Done.' }], {
      agent: { tools, instructions: 'Be brief.' },
      model: { provider: 'anthropic.messages' },
    })
    await bench.play()
    const mark = '"cacheControl":{"type":"ephemeral"}'
    assert.deepEqual(
      bench.prompts().map((prompt) => prompt.map((message) => message.includes(mark))),
      [
        [true, true],
        [true, true, false, true],
      ],
    )
    const request = JSON.parse(bench.model.requestBodies[0] ?? '{}') as { tools?: unknown[] }
    assert.deepEqual(
      request.tools?.map((tool) => JSON.stringify(tool).includes(mark)),
      [false, true],
    )
  })

  test('for nobody else, and not where it is not wanted', async () => {
    for (const [provider, cache] of [
      ['openai.responses', true],
      ['anthropic.messages', false],
    ] as const) {
      await using bench = await AgentBench.open([{ text: 'Hi.' }], {
        agent: { tools, instructions: 'Be brief.', cache },
        model: { provider },
      })
      await bench.play()
      assert.ok(!bench.model.requestBodies[0]?.includes('cacheControl'))
    }
  })
})
