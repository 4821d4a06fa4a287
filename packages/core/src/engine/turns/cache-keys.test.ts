import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { Agent, createTool, type AgentOptions, type LanguageModel } from '@inspan/agent'
import { startProvider, type Provider } from '@inspan/testing'
import { AgentBench } from '../agent-bench.fixture.ts'
import { boundaryAt } from '../threads/boundaries.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { runtimeAgent } from './runtime-agent.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { createThread, forkThread } from '../threads/threads.ts'

const openai = ({ url }: Provider): ReturnType<typeof createOpenAI> =>
  createOpenAI({ baseURL: `${url}/v1`, apiKey: 'any' })

const note = createTool({ id: 'note', description: 'Notes.', execute: () => 'noted' })
const ANSWERS = [{ toolCalls: [{ name: 'note' }] }, ...['One.', 'Two.', 'Three.'].map((text) => ({ text }))]

function keysOf({ requests }: Provider): unknown[] {
  return requests.map(({ body }) => body['prompt_cache_key'])
}

/** Asks on another thread of the same store. */
async function ask(bench: AgentBench, thread: string, model: LanguageModel): Promise<void> {
  const owner = await ProcessOwner.register(bench.store)
  const agents = { native: runtimeAgent(new Agent({ id: 'native', model })) }
  const runtime = await ThreadRuntime.open({ store: bench.store, owner, thread, agents })
  const run = await runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'And here?' }] })
  assert.equal(await run.done, 'complete')
  await runtime.close()
  await owner.close()
}

suite('OpenAI gets a key that shows which requests continue one another', () => {
  test('one that steps, runs, processes and forks of a conversation share', async () => {
    await using provider = await startProvider([...ANSWERS, { text: 'Another.' }])
    const model = openai(provider)('gpt-5')
    await using bench = await AgentBench.open([], { agent: { tools: [note], model } })
    assert.equal(await bench.play(), 'complete')
    await bench.restart()
    assert.equal(await bench.play('And now?'), 'complete')
    const { head } = bench.runtime.state
    const at = await boundaryAt(bench.store, head.lineage, head.seq)
    const owner = await ProcessOwner.register(bench.store)
    await forkThread(bench.store, owner, bench.runtime.state, { id: 'fork', resourceId: 'test', at })
    await owner.close()
    await ask(bench, 'fork', model)
    await createThread(bench.store, { id: 'other', resourceId: 'test' })
    await ask(bench, 'other', model)
    const [key, ...more] = keysOf(provider)
    const other = more.pop()
    assert.ok(typeof key === 'string' && key !== '')
    // OpenAI refuses longer keys.
    assert.ok(key.length <= 64)
    assert.deepEqual(more, [key, key, key])
    assert.equal(typeof other, 'string')
    assert.notEqual(other, key)
  })

  const own = { openai: { promptCacheKey: 'mine' } }
  for (const [what, agent, sent] of [
    ['one that its caller chose is sent as it is', { providerOptions: own }, 'mine'],
    ['none is sent where nothing is to be kept', { cache: false }, undefined],
  ] as readonly (readonly [string, Omit<AgentOptions, 'id' | 'model'>, unknown])[]) {
    test(what, async () => {
      await using provider = await startProvider([{ text: 'Hi.' }])
      await using bench = await AgentBench.open([], { agent: { ...agent, model: openai(provider)('gpt-5') } })
      assert.equal(await bench.play(), 'complete')
      assert.deepEqual(keysOf(provider), [sent])
    })
  }

  const others: { readonly [name: string]: (provider: Provider) => LanguageModel } = {
    'servers that speak its chat API': (provider) => openai(provider).chat('gpt-5'),
    Anthropic: ({ url }) => createAnthropic({ baseURL: `${url}/v1`, apiKey: 'any' })('claude-sonnet-4-5'),
  }
  for (const [name, open] of Object.entries(others)) {
    test(`none is sent to ${name}`, async () => {
      await using provider = await startProvider([{ text: 'Hi.' }])
      await using bench = await AgentBench.open([], { agent: { model: open(provider) } })
      assert.equal(await bench.play(), 'complete')
      assert.deepEqual(keysOf(provider), [undefined])
    })
  }
})
