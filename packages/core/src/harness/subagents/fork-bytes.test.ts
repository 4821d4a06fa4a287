import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { Agent, createTool, toPrompt, type LanguageModel } from '@inspan/agent'
import type { JsonObject, JsonValue } from '@inspan/protocol'
import { rootLineage } from '@inspan/protocol/log'
import { MemoryStore } from '@inspan/stores'
import { startProvider, type Provider } from '@inspan/testing'
import { requestPrefix } from '../../engine/index.ts'
import { Harness } from '../harness.ts'

const MODELS: { readonly [name: string]: (provider: Provider) => LanguageModel } = {
  Anthropic: ({ url }) => createAnthropic({ baseURL: `${url}/v1`, apiKey: 'any' })('claude-sonnet-4-5'),
  'OpenAI Responses': ({ url }) => createOpenAI({ baseURL: `${url}/v1`, apiKey: 'any' })('gpt-5'),
  'OpenAI chat': ({ url }) => createOpenAI({ baseURL: `${url}/v1`, apiKey: 'any' }).chat('gpt-5'),
}

interface Body {
  /** Everything but the conversation: model, instructions, tools, settings. */
  readonly rest: string
  /** The conversation as JSON text, without the brackets that end it: Anthropic's package joins messages of one role. */
  readonly said: string
}

/** Returns a body as the server received it, without cache markers. */
function bodyOf(text: string): Body {
  const unmarked = JSON.parse(text, (key, value: JsonValue) =>
    key === 'cache_control' ? undefined : value,
  ) as JsonObject
  const { input, messages, ...rest } = unmarked
  return { rest: JSON.stringify(rest), said: JSON.stringify(messages ?? input).replace(/[\]}]+$/, '') }
}

const look = createTool({
  id: 'look',
  description: 'Looks.',
  category: 'read',
  inputSchema: { type: 'object', properties: { z: { type: 'string' }, a: { type: 'string' } } },
  execute: () => ({ b: 1, a: ['ä', '🦊'] }),
})

async function talk(provider: Provider, model: LanguageModel, storage: MemoryStore): Promise<string> {
  let version = 0
  const harness = new Harness({
    id: 'fork',
    storage,
    // Computed anew for every step: the fork has to send what was sent, not what would be sent today.
    agent: new Agent({ id: 'agent', model, instructions: () => `Be brief. Version ${version++}.`, tools: { look } }),
    modes: [{ id: 'build' }],
    permissions: { tools: { look: 'allow' } },
    subagents: [{ id: 'twin', name: 'Twin', description: 'Knows it all.', instructions: 'Not used.', forked: true }],
  })
  try {
    await harness.sendMessage({ content: 'The door is blue. 🦊' })
    await harness.sendMessage({ content: 'Ask the twin.' })
    assert.deepEqual(provider.problems, [])
    return harness.session.thread.requireId()
  } finally {
    await harness.destroy()
  }
}

suite('what a provider receives from a parent and its fork', () => {
  for (const [name, open] of Object.entries(MODELS)) {
    test(`${name}: the same bytes up to the task of the fork`, async () => {
      await using provider = await startProvider([
        {
          reasoning: 'Hm.',
          signature: 'EqQB+/=',
          text: 'Looking.',
          toolCalls: [{ name: 'look', input: { z: '1', a: '2' } }],
        },
        { text: 'Blue.' },
        {
          text: 'A moment.',
          toolCalls: [{ name: 'subagent', input: { agentType: 'twin', task: 'Recall the door.' } }],
        },
        { text: 'It was blue.' },
        { text: 'Blue, it says.' },
      ])
      const storage = new MemoryStore()
      const model = open(provider)
      const threadId = await talk(provider, model, storage)
      const bodies = provider.requests.map(({ text }) => bodyOf(text))
      assert.equal(bodies.length, 5)
      const [, , parent, fork, after] = bodies
      assert.ok(parent !== undefined && fork !== undefined && after !== undefined)
      assert.equal(fork.rest, parent.rest, 'model, instructions, tools and settings')
      assert.ok(fork.said.startsWith(parent.said), 'the conversation')
      const more = fork.said.slice(parent.said.length)
      assert.match(more, /Recall the door\./)
      assert.doesNotMatch(more, /A moment\./, 'it forks before the answer that called it')
      assert.doesNotMatch(after.said, /It was blue\..*It was blue\./, 'the parent hears the answer once, as a result')

      // The same bytes again, from the log alone: through the real package, to the same server.
      const steps = await allSteps(storage, threadId)
      const at = steps[2] ?? 0
      const prefix = await requestPrefix(storage, rootLineage(threadId), at)
      assert.ok(prefix !== null)
      const before = provider.requests.length
      await ask(model, {
        prompt: toPrompt(prefix.system, prefix.messages, 'agent'),
        tools: prefix.tools,
        ...(name === 'OpenAI Responses' ? { providerOptions: { openai: { promptCacheKey: keyIn(parent.rest) } } } : {}),
      })
      assert.deepEqual(bodyOf(provider.requests[before]?.text ?? ''), parent)
    })
  }
})

async function allSteps(store: MemoryStore, threadId: string): Promise<number[]> {
  const { items } = await store.readRecords(threadId, { limit: 1000 })
  return items.flatMap(({ body, seq }) => (body.type === 'step.started' ? [seq] : []))
}

function keyIn(rest: string): string {
  return (JSON.parse(rest) as { prompt_cache_key?: string }).prompt_cache_key ?? ''
}

/** Sends a request and lets go of the answer: the script has ended. */
async function ask(model: LanguageModel, options: object): Promise<void> {
  const send = model.doStream.bind(model) as unknown as (options: object) => PromiseLike<unknown>
  await Promise.resolve(send(options)).then(
    () => undefined,
    () => undefined,
  )
}
