import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createTool, type LanguageModel } from '@inspan/agent'
import type { JsonObject, JsonValue } from '@inspan/protocol'
import { startProvider, type Provider, type ModelTurn } from '@inspan/testing'
import { z } from 'zod'
import { AgentBench } from '../agent-bench.fixture.ts'

/** The common provider packages over HTTP: what counts is the request that is sent and the answer. */
const MODELS: { readonly [name: string]: (provider: Provider) => LanguageModel } = {
  Anthropic: ({ url }) => createAnthropic({ baseURL: `${url}/v1`, apiKey: 'any' })('claude-sonnet-4-5'),
  'OpenAI Responses': ({ url }) => createOpenAI({ baseURL: `${url}/v1`, apiKey: 'any' })('gpt-5'),
  'OpenAI Chat': ({ url }) => createOpenAI({ baseURL: `${url}/v1`, apiKey: 'any' }).chat('gpt-5'),
}

const note = createTool({ id: 'note', description: 'Notes.', execute: () => 'noted' })
const count = createTool({
  id: 'count',
  description: 'Counts.',
  inputSchema: { type: 'object', properties: { to: { type: 'number' } } },
  execute: (input) => ({ counted: input, deep: { b: 1, a: [1] } }),
})
const agent = { tools: [note, count], instructions: 'Be brief.' }

/** A conversation of two runs, with reasoning, parallel calls, a failure and a new process in between. */
const CONVERSATION: readonly ModelTurn[] = [
  {
    reasoning: 'Hm.',
    signature: 'EqQB+/=',
    text: 'Looking.',
    toolCalls: [{ name: 'note' }, { name: 'count', input: { to: 3 } }],
  },
  { error: { status: 500 } },
  { text: ['Ha', 'lf'], cut: 'reset' },
  { text: 'Done.' },
  { text: 'More.', toolCalls: [{ name: 'note' }] },
  { text: 'Over.' },
]

async function converse(model: LanguageModel): Promise<void> {
  await using bench = await AgentBench.open([], { agent: { ...agent, model } })
  const parts = [
    { id: '0', type: 'text', text: 'Look at these.' },
    { id: '1', type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' },
    { id: '2', type: 'file', mimeType: 'application/pdf', fileName: 'a.pdf', data: 'JVBERi0=' },
  ] as const
  assert.equal(await bench.play('', { parts }), 'complete')
  await bench.restart()
  assert.equal(await bench.play('And now?'), 'complete')
}

/** Returns the conversation as sent over the wire, and the rest of the request. */
function conversationOf({ body }: { readonly body: JsonObject }): { said: string[]; before: string } {
  const { input, messages, ...before } = withoutMarks(body) as { [name: string]: JsonValue }
  const said = (messages ?? input) as readonly JsonValue[]
  return { said: said.map((item) => JSON.stringify(item)), before: JSON.stringify(before) }
}

function withoutMarks(body: JsonObject): JsonValue {
  return JSON.parse(
    JSON.stringify(body, (key, value: unknown) => (key === 'cache_control' ? undefined : value)),
  ) as JsonValue
}

suite('provider caches hit', () => {
  for (const [name, open] of Object.entries(MODELS)) {
    test(`${name}: every request begins with the whole one before it, byte for byte`, async () => {
      await using provider = await startProvider(CONVERSATION)
      await converse(open(provider))
      const requests = provider.requests.map(conversationOf)
      assert.equal(requests.length, 6)
      for (const [index, { before, said }] of requests.entries()) {
        const last = requests[index - 1] ?? { before, said: [] }
        assert.equal(before, last.before, `request ${index}: instructions, tools and settings`)
        assert.deepEqual(said.slice(0, last.said.length), last.said, `request ${index}: what was said before`)
      }
      assert.ok((requests.at(-1)?.said.length ?? 0) > (requests[0]?.said.length ?? 0) + 4)
    })
  }

  /** Returns the blocks of a request in the order in which Anthropic caches them, and whether each has a marker. */
  function blocks({ body }: { readonly body: JsonObject }): { block: string; isMarked: boolean }[] {
    const messages = body['messages'] as readonly { readonly content: readonly JsonObject[] }[]
    const all = [
      ...(body['tools'] as readonly JsonObject[]),
      ...(body['system'] as readonly JsonObject[]),
      ...messages.flatMap(({ content }) => content),
    ]
    return all.map((block) => ({ block: JSON.stringify(withoutMarks(block)), isMarked: 'cache_control' in block }))
  }

  test('Anthropic: tools, instructions, the end of a request and that of the one before it are marked', async () => {
    // Providers look up to 20 blocks back for a marker: a step with so many calls must not lose the cache.
    const toolCalls = Array.from({ length: 15 }, () => ({ name: 'note' }))
    const script = [{ text: 'Many.', toolCalls }, { text: 'Done.', toolCalls }, { text: 'Over.' }, { text: 'Bye.' }]
    await using provider = await startProvider(script)
    const model = MODELS['Anthropic']?.(provider)
    assert.ok(model)
    await using bench = await AgentBench.open([], { agent: { ...agent, model } })
    await bench.play()
    await bench.play('More.')
    const requests = provider.requests.map(blocks)
    assert.equal(requests.length, 4)
    for (const [index, request] of requests.entries()) {
      const marked = request.flatMap(({ isMarked }, at) => (isMarked ? [at] : []))
      const before = requests[index - 1]
      assert.deepEqual(
        marked,
        [1, 2, ...(before === undefined ? [] : [before.length - 1]), request.length - 1],
        `request ${index}`,
      )
    }
  })

  test('Anthropic: marks that people set themselves are all sent, and the end of the request is marked', async () => {
    const mine = { provider: { anthropic: { cacheControl: { type: 'ephemeral' } } } }
    await using provider = await startProvider([{ text: 'Read.', repeat: 4 }])
    const model = MODELS['Anthropic']?.(provider)
    assert.ok(model)
    await using bench = await AgentBench.open([], { agent: { ...agent, model } })
    await bench.play('', {
      parts: [
        { id: '0', type: 'text', text: 'A long page.', meta: mine },
        { id: '1', type: 'text', text: 'Read it.' },
      ],
    })
    await bench.play('', { parts: [{ id: '0', type: 'text', text: 'Another one.', meta: mine }] })
    await bench.play('And?')
    await bench.play('Thanks.')
    const marked = blocks(provider.requests.at(-1) ?? { body: {} }).filter(({ isMarked }) => isMarked)
    assert.deepEqual(
      marked.map(({ block }) => (JSON.parse(block) as JsonObject)['text']),
      ['Be brief.', 'A long page.', 'Another one.', 'Thanks.'],
    )
  })
})

suite('Anthropic keeps what people want to be kept for longer', () => {
  const hour = { anthropic: { cacheControl: { type: 'ephemeral', ttl: '1h' } } }
  /** Returns the markers of the last request, in the order of its blocks. */
  const times = ({ requests }: Provider): (string | undefined)[] => {
    const { messages, system, tools } = requests.at(-1)?.body ?? {}
    const text = JSON.stringify([tools, system, messages])
    return [...text.matchAll(/"cache_control":\{"type":"ephemeral"(?:,"ttl":"(\w+)")?\}/g)].map(([, ttl]) => ttl)
  }

  test('everything before it is kept as long, because shorter-lived entries must not precede it', async () => {
    await using provider = await startProvider([{ text: 'One.' }, { text: 'Two.' }])
    const model = MODELS['Anthropic']?.(provider) ?? assert.fail()
    await using bench = await AgentBench.open([], { agent: { ...agent, model } })
    await bench.play('', { parts: [{ id: '0', type: 'text', text: 'A long page.', meta: { provider: hour } }] })
    assert.deepEqual(times(provider), ['1h', '1h', '1h'])
    await bench.play('Thanks.')
    assert.deepEqual(times(provider), ['1h', '1h', '1h', undefined])
  })

  test('Anthropic keeps an entry for longer also when something after it is kept for the usual time', async () => {
    await using provider = await startProvider([{ text: 'One.' }])
    const model = MODELS['Anthropic']?.(provider) ?? assert.fail()
    await using bench = await AgentBench.open([], { agent: { ...agent, model } })
    const usual = { anthropic: { cacheControl: { type: 'ephemeral', ttl: '5m' } } }
    const parts = [
      { id: '0', type: 'text', text: 'A long page.', meta: { provider: hour } },
      { id: '1', type: 'text', text: 'Read it.', meta: { provider: usual } },
    ] as const
    await bench.play('', { parts })
    assert.deepEqual(times(provider), ['1h', '1h', '1h', '5m'])
  })

  test('the whole request is kept if that is wanted', async () => {
    await using provider = await startProvider([{ text: 'One.' }, { text: 'Two.' }])
    const model = MODELS['Anthropic']?.(provider) ?? assert.fail()
    await using bench = await AgentBench.open([], { agent: { ...agent, model, providerOptions: hour } })
    await bench.play('One?')
    await bench.play('Two?')
    assert.deepEqual(provider.requests.at(-1)?.body['cache_control'], hour.anthropic.cacheControl)
    assert.deepEqual(new Set(times(provider)), new Set(['1h']))
  })
})

suite('an answer that is to be data', () => {
  const FORMATS: { readonly [name: string]: (body: JsonObject) => unknown } = {
    Anthropic: ({ output_config: config }) => (config as { format: { schema: unknown } }).format.schema,
    'OpenAI Responses': ({ text }) => (text as { format: { schema: unknown } }).format.schema,
    'OpenAI Chat': ({ response_format: format }) => (format as { json_schema: { schema: unknown } }).json_schema.schema,
  }

  for (const [name, open] of Object.entries(MODELS)) {
    test(`${name}: is asked for as the provider takes it, and in the same words when it has to be repaired`, async () => {
      const schema = z.object({ city: z.string(), at: z.object({ lat: z.number() }) })
      const rome = { city: 'Rome', at: { lat: 41.9 } }
      const script = [{ toolCalls: [{ name: 'note' }] }, { text: '{"city":5}' }, { text: JSON.stringify(rome) }]
      await using provider = await startProvider(script)
      await using bench = await AgentBench.open([], { agent: { ...agent, model: open(provider), output: { schema } } })
      assert.equal(await bench.play(), 'complete')
      assert.deepEqual(bench.runtime.state.head.lastRun?.output, rome)
      const requests = provider.requests.map(conversationOf)
      assert.deepEqual(new Set(requests.map(({ before }) => before)).size, 1)
      const sent = FORMATS[name]?.(provider.requests[0]?.body ?? {}) as JsonObject
      const { at, city } = sent['properties'] as { [name: string]: JsonObject }
      assert.deepEqual(city, { type: 'string' })
      assert.deepEqual(sent['required'], ['city', 'at'])
      // Providers that enforce a schema would refuse it otherwise.
      assert.deepEqual([sent['additionalProperties'], at?.['additionalProperties']], [false, false])
    })
  }
})

suite('an answer with text and calls', () => {
  for (const [name, open] of Object.entries(MODELS)) {
    test(`${name}: has one text, and no empty one behind its calls`, async () => {
      const toolCalls = [{ name: 'note' }, { name: 'count', input: { to: 3 }, inputDeltas: 2 }]
      await using provider = await startProvider([{ text: ['Look', 'ing.'], toolCalls }, { text: 'Done.' }])
      await using bench = await AgentBench.open([], { agent: { ...agent, model: open(provider) } })
      assert.equal(await bench.play(), 'complete')
      const [, step] = await bench.messages()
      assert.deepEqual(
        step?.parts.map((part) => (part.type === 'text' ? part.text : part.type)),
        ['Looking.', 'tool-call', 'tool-call', 'tool-result', 'tool-result'],
      )
    })
  }
})

suite('what a provider wants back comes back', () => {
  test('Anthropic: thoughts with their signature, and those it does not show, in their places', async () => {
    const parts = [
      { reasoning: 'Hm.', signature: 'EqQB+/=' },
      { raw: { type: 'redacted_thinking', data: 'Em0KFQ==' } },
      { text: 'Looking.' },
      { toolCall: { id: 'c', name: 'note' } },
    ]
    await using provider = await startProvider([{ parts }, { text: 'Done.' }])
    const model = MODELS['Anthropic']?.(provider)
    assert.ok(model)
    const providerOptions = { anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } } }
    await using bench = await AgentBench.open([], { agent: { ...agent, model, providerOptions } })
    assert.equal(await bench.play(), 'complete')
    const body = provider.requests[1]?.body ?? {}
    assert.deepEqual(body['thinking'], { type: 'enabled', budget_tokens: 1024 })
    assert.deepEqual((body['messages'] as readonly JsonObject[])[1], {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'EqQB+/=' },
        { type: 'redacted_thinking', data: 'Em0KFQ==' },
        { type: 'text', text: 'Looking.' },
        { type: 'tool_use', id: 'c', name: 'note', input: {} },
      ],
    })
  })
})

suite('OpenAI is pointed to what it said', () => {
  const call = { id: 'c', name: 'note' }
  const said = { reasoning: 'Hm, sk-1.', signature: 'EqQB+/=', text: ['Half', ' a word sk-2.'] }
  const inputOf = (provider: Provider): string => JSON.stringify(provider.requests.at(-1)?.body['input'])
  const open = (provider: Provider): LanguageModel => MODELS['OpenAI Responses']?.(provider) ?? assert.fail()

  test('where it kept it', async () => {
    await using provider = await startProvider([{ ...said, toolCalls: [call] }, { text: 'Done.' }])
    await using bench = await AgentBench.open([], { agent: { ...agent, model: open(provider) } })
    await bench.play()
    assert.match(inputOf(provider), /"item_reference","id":"rs_.*"item_reference","id":"msg_/)
  })

  test('OpenAI is not pointed to an answer that was cut off: it stores none of it, and the thread could not continue', async () => {
    await using provider = await startProvider([{ ...said, hang: true }, { text: 'Done.' }])
    await using bench = await AgentBench.open([], { agent: { ...agent, model: open(provider) } })
    const heard = Promise.withResolvers<void>()
    let text = ''
    bench.runtime.onEntry((entry) => {
      if (entry.kind === 'delta' && entry.event.type === 'text-delta') text += entry.event.text
      if (text.endsWith('sk-2.')) heard.resolve()
    })
    const run = await bench.submit('Go.')
    await heard.promise
    await bench.runtime.cancel()
    assert.equal(await run.done, 'aborted')
    assert.equal(await bench.play('And now?'), 'complete')
    assert.doesNotMatch(inputOf(provider), /item_reference|rs_|msg_/)
    assert.match(inputOf(provider), /Half a word sk-2\./)
  })

  test('OpenAI is not pointed to an answer from which something was removed: it would use the whole answer', async () => {
    await using provider = await startProvider([{ ...said, toolCalls: [call] }, { text: 'Done.' }])
    const redact = (words: string): string => words.replace(/sk-\d/g, '[key]')
    await using bench = await AgentBench.open([], { agent: { ...agent, model: open(provider) }, runtime: { redact } })
    assert.equal(await bench.play(), 'complete')
    assert.doesNotMatch(inputOf(provider), /item_reference|rs_|msg_/)
    assert.match(inputOf(provider), /Half a word \[key\]\./)
  })
})

suite('a provider that fails', () => {
  const BEFORE: { readonly [what: string]: ModelTurn } = {
    'with 429, and says when to come back': { error: { status: 429, headers: { 'retry-after-ms': '7' } } },
    'with 500': { error: { status: 500 } },
    'with 503': { error: { status: 503 } },
    'with 529': { error: { status: 529 } },
    'in its stream before any word': { streamError: { type: 'overloaded_error', code: 'server_error' } },
    'by ending before any word': { cut: 'end' },
    'by hanging up before any word': { cut: 'reset' },
  }
  const AFTER: { readonly [what: string]: ModelTurn } = {
    'in its stream': { text: ['Ha', 'lf'], streamError: { type: 'overloaded_error', code: 'server_error' } },
    'by ending': { text: ['Ha', 'lf'], cut: 'end' },
    'by hanging up': { text: ['Ha', 'lf'], cut: 'reset' },
  }
  const shown = async (bench: AgentBench): Promise<string[]> =>
    (await bench.events()).map((event) => (event.type === 'text-delta' ? event.text : event.type))

  for (const [name, open] of Object.entries(MODELS)) {
    for (const [what, failure] of Object.entries(BEFORE)) {
      test(`${name}: ${what}, is asked the same again, and nobody sees it`, async () => {
        await using provider = await startProvider([failure, { text: 'Whole.' }])
        await using bench = await AgentBench.open([], { agent: { model: open(provider) } })
        assert.equal(await bench.play(), 'complete')
        const [first, second, ...more] = provider.requests.map(({ text }) => text)
        assert.equal(second, first)
        assert.deepEqual(more, [])
        assert.deepEqual(await shown(bench), ['start', 'step-start', 'Whole.', 'step-finish', 'finish'])
        const [retry] = await bench.notes('warning')
        assert.equal(retry?.data?.['delayMs'], failure.error?.status === 429 ? 7 : 1)
      })
    }

    for (const [what, failure] of Object.entries(AFTER)) {
      test(`${name}: ${what} in mid-answer, has a step of its own, and is asked the same in the next`, async () => {
        await using provider = await startProvider([failure, { text: 'Whole.' }])
        await using bench = await AgentBench.open([], { agent: { model: open(provider) } })
        assert.equal(await bench.play(), 'complete')
        const [first, second] = provider.requests.map(({ text }) => text)
        assert.equal(second, first)
        const whole = ['step-start', 'Whole.', 'step-finish', 'finish']
        assert.deepEqual(await shown(bench), ['start', 'step-start', 'Half', 'step-finish', ...whole])
      })
    }

    test(`${name}: with 400, is not asked again`, async () => {
      await using provider = await startProvider([{ error: { status: 400 } }])
      await using bench = await AgentBench.open([], { agent: { model: open(provider) } })
      assert.equal(await bench.play(), 'error')
      assert.equal(provider.requests.length, 1)
    })
  }
})
