import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { LanguageModel } from '@inspan/agent'
import type { JsonObject, JsonValue, Part } from '@inspan/protocol'
import { toChatMessage } from '@inspan/protocol/chat'
import { toHarnessMessage } from '@inspan/protocol/harness'
import { scriptedModel } from '@inspan/testing'
import { AgentBench, type ModelScript } from '../agent-bench.fixture.ts'
import { inflateParts } from '../log/blobs.ts'

const SMALL = Buffer.from('a small picture').toString('base64')
const LARGE = Buffer.alloc(60_000, 'large ').toString('base64')

const picture = (data: JsonValue): { raw: JsonObject } => ({
  raw: { type: 'file', mediaType: 'image/png', data, providerMetadata: { made: { id: 'f1' } } },
})

/** Plays a run in which the model makes a file, calls a tool and goes on; the second request holds the first answer. */
async function drawn(data: JsonValue): Promise<AgentBench> {
  const bench = await AgentBench.open(
    [
      {
        parts: [
          { text: 'Here it is.' },
          picture(data),
          { text: 'And now I look.' },
          { toolCall: { id: 'c1', name: 'look', input: {} } },
        ],
      },
      { text: 'Done.' },
    ],
    {
      agent: { tools: [{ name: 'look', inputSchema: { type: 'object' }, execute: async () => ({ result: 'nice' }) }] },
    },
  )
  assert.equal(await bench.play(), 'complete')
  return bench
}

const answerOf = async (bench: AgentBench): Promise<readonly Part[]> =>
  (await bench.messages()).find(({ role }) => role === 'assistant')?.parts ?? []

suite('a file that a model makes', () => {
  for (const [name, given, data] of [
    ['small, as text', SMALL, SMALL],
    ['small, as bytes', new Uint8Array(Buffer.from(SMALL, 'base64')) as unknown as JsonValue, SMALL],
    ['small, as newer providers tag it', { type: 'data', data: SMALL }, SMALL],
    ['large', LARGE, LARGE],
  ] as const) {
    test(`is a part of its answer, in its place (${name})`, async () => {
      await using bench = await drawn(given)
      const parts = await answerOf(bench)
      assert.deepEqual(
        parts.map(({ type }) => type),
        ['text', 'image', 'text', 'tool-call', 'tool-result'],
      )
      const [, kept] = await inflateParts(bench.store, bench.runtime.state.head.lineage, parts)
      assert.ok(kept?.type === 'image')
      assert.equal(kept.mimeType, 'image/png')
      assert.equal(kept.data, data)
      assert.deepEqual(await bench.notes('warning'), [])
    })

    test(`goes back to the model in its place, with what its provider gave along (${name})`, async () => {
      await using bench = await drawn(given)
      const answer = bench.prompts()[1]?.find((message) => message.includes('"assistant"'))
      const { content } = JSON.parse(answer ?? '{}') as { content: readonly Record<string, unknown>[] }
      assert.deepEqual(content[1], {
        type: 'file',
        mediaType: 'image/png',
        data: { type: 'data', data },
        providerOptions: { made: { id: 'f1' } },
      })
    })
  }

  test('keeps the signature that comes after it without a word', async () => {
    const signature = { scripted: { signature: 'abc' } }
    await using bench = await AgentBench.open(
      [
        {
          parts: [
            picture(SMALL),
            { raw: { type: 'text-start', id: 's' } },
            { raw: { type: 'text-end', id: 's', providerMetadata: signature } },
            { toolCall: { id: 'c1', name: 'look', input: {} } },
          ],
        },
        { text: 'Done.' },
      ],
      {
        agent: {
          tools: [{ name: 'look', inputSchema: { type: 'object' }, execute: async () => ({ result: 'nice' }) }],
        },
      },
    )
    assert.equal(await bench.play(), 'complete')
    const answer = bench.prompts()[1]?.find((message) => message.includes('"assistant"'))
    const { content } = JSON.parse(answer ?? '{}') as { content: readonly Record<string, unknown>[] }
    assert.deepEqual(content[1], { type: 'text', text: '', providerOptions: signature })
  })

  test('leaves its record when it is large', async () => {
    await using bench = await drawn(LARGE)
    const record = (await bench.records()).find(({ body }) => body.type === 'file')
    assert.ok(record?.body.type === 'file')
    assert.equal(record.body.data, '')
    assert.equal(record.body.ref?.size, 60_000)
  })

  test('is shown in a chat and by a harness', async () => {
    await using bench = await drawn(SMALL)
    const message = (await bench.messages()).find(({ role }) => role === 'assistant')
    assert.ok(message !== undefined)
    const { content } = toChatMessage(message)
    const chat = typeof content === 'string' ? undefined : content.find(({ type }) => type === 'image')
    assert.deepEqual(chat, { type: 'image', mimeType: 'image/png', data: SMALL })
    const shown = toHarnessMessage(message).content.find(({ type }) => type === 'image')
    assert.deepEqual(shown, { type: 'image', mimeType: 'image/png', data: SMALL })
  })

  test('is reported as a file when it is no image', async () => {
    const raw = { type: 'file', mediaType: 'application/pdf', data: SMALL }
    await using bench = await AgentBench.open([{ parts: [{ raw }] }])
    await bench.play()
    assert.deepEqual(await answerOf(bench), [{ id: '0', type: 'file', mimeType: 'application/pdf', data: SMALL }])
    assert.equal((await bench.eventsOf('file')).length, 1)
  })

  test('a file of the model’s reasoning goes back as reasoning', async () => {
    const raw = { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: SMALL } }
    await using bench = await AgentBench.open([{ parts: [{ raw }, { text: 'So.' }] }, { text: 'Again.' }])
    await bench.play()
    await bench.play()
    assert.match(bench.prompts()[1]?.join('') ?? '', /"reasoning-file"/)
  })

  const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><text>100% ü</text></svg>'
  for (const [how, mediaType, url, bytes] of [
    ['as base64', 'image/png', `data:image/png;base64,${SMALL}`, Buffer.from(SMALL, 'base64')],
    ['as base64 with escapes', 'text/plain', 'data:;base64,aGk%3D', Buffer.from('hi')],
    ['escaped', 'image/svg+xml', `data:image/svg+xml,${encodeURIComponent(SVG)}`, Buffer.from(SVG)],
    ['as they are', 'image/svg+xml', `data:image/svg+xml;utf8,${SVG}`, Buffer.from(SVG)],
    ['escaped, of no text', 'image/gif', 'data:image/gif,%ff%00A', Buffer.from([0xff, 0, 0x41])],
  ] as const) {
    test(`is reported as bytes when its address contains them (${how})`, async () => {
      const raw = { type: 'file', mediaType, data: { type: 'url', url } }
      await using bench = await AgentBench.open([{ parts: [{ raw }] }])
      await bench.play()
      const [part, ...more] = await answerOf(bench)
      assert.deepEqual(more, [])
      assert.ok(part?.type === 'image' || part?.type === 'file')
      assert.deepEqual(Buffer.from(part.data, 'base64'), bytes)
      assert.equal(part.url, undefined)
    })
  }

  test('a file without content is reported, and the answer continues', async () => {
    const raw = { type: 'file', mediaType: 'image/png' }
    await using bench = await AgentBench.open([{ parts: [{ raw }, { text: 'So.' }] }])
    assert.equal(await bench.play(), 'complete')
    assert.deepEqual(await answerOf(bench), [{ id: '0', type: 'text', text: 'So.' }])
    assert.match((await bench.notes('warning'))[0]?.text ?? '', /file/)
  })
})

suite('a file that a model makes and gives the address of', () => {
  const ADDRESS = 'https://example.org/made/a.png?token=secret'

  test('is kept as its address: on record, as an event, in its place in the message', async () => {
    await using bench = await drawn({ type: 'url', url: ADDRESS })
    const [, part] = await answerOf(bench)
    assert.deepEqual(part, {
      id: '1',
      type: 'image',
      mimeType: 'image/png',
      data: '',
      url: ADDRESS,
      meta: { provider: { made: { id: 'f1' } } },
    })
    const [event] = await bench.eventsOf('file')
    assert.deepEqual([event?.data, event?.url], ['', ADDRESS])
    assert.deepEqual(await bench.notes('warning'), [])
  })

  test('is shown with its address in a chat and by a harness', async () => {
    await using bench = await drawn({ type: 'url', url: ADDRESS })
    const message = (await bench.messages()).find(({ role }) => role === 'assistant')
    assert.ok(message !== undefined)
    const { content } = toChatMessage(message)
    const chat = typeof content === 'string' ? undefined : content.find(({ type }) => type === 'image')
    const shown = toHarnessMessage(message).content.find(({ type }) => type === 'image')
    for (const image of [chat, shown]) {
      assert.deepEqual(image, { type: 'image', mimeType: 'image/png', data: '', url: ADDRESS })
    }
  })

  const SCRIPT: ModelScript = [
    { parts: [{ text: 'Here.' }, picture({ type: 'url', url: ADDRESS })] },
    { text: 'Again.' },
  ]

  for (const [who, supportedUrls, isAddress] of [
    ['can look there', { 'image/*': [/^https:\/\/example\.org\//] }, true],
    ['can look anywhere', Promise.resolve({ '*': [/^https:/] }), true],
    ['can look elsewhere', { 'image/*': [/^https:\/\/other\.org\//] }, false],
    ['can look for other things', { 'application/pdf': [/^https:/] }, false],
    ['cannot look anywhere', {}, false],
    ['does not say where it can look', undefined, false],
  ] as const) {
    test(`goes back ${isAddress ? 'as the file' : 'in words'} to a model that ${who}`, async () => {
      const model = scriptedModel(SCRIPT)
      const asked = { ...model, supportedUrls } as LanguageModel
      await using bench = await AgentBench.open([], { agent: { model: asked } })
      await bench.play()
      assert.equal(await bench.play(), 'complete')
      const prompt = model.requests[1]?.prompt as readonly { role: string; content: readonly object[] }[]
      const sent = prompt.find(({ role }) => role === 'assistant')?.content[1]
      assert.deepEqual(
        sent,
        isAddress
          ? {
              type: 'file',
              mediaType: 'image/png',
              data: { type: 'url', url: ADDRESS },
              providerOptions: { made: { id: 'f1' } },
            }
          : { type: 'text', text: `[a file of type image/png, at ${ADDRESS}]` },
      )
    })
  }

  test('is nothing to look at when something was taken out of its address', async () => {
    const model = scriptedModel(SCRIPT)
    const asked = { ...model, supportedUrls: { '*': [/^https:/] } } as LanguageModel
    const redact = (text: string): string => text.replace(/token=\w+/g, '…')
    await using bench = await AgentBench.open([], { agent: { model: asked }, runtime: { redact } })
    await bench.play()
    await bench.play()
    assert.ok(!JSON.stringify([await bench.records(), model.requests]).includes('token=secret'))
    assert.ok(!JSON.stringify(model.requests[1]).includes('example.org'))
  })
})

suite('the sources that a model names', () => {
  const source = (id: string): { raw: JsonObject } => ({
    raw: { type: 'source', sourceType: 'url', id, url: `https://example.org/${id}`, title: `About ${id}` },
  })
  const kept = (id: string): unknown => ({ id, url: `https://example.org/${id}`, title: `About ${id}` })

  test('are kept with the text they belong to, whether they come before it or after it', async () => {
    await using bench = await AgentBench.open([
      { parts: [source('a'), { text: 'One.' }, source('b'), { text: 'Two.' }, source('c'), source('d')] },
    ])
    await bench.play()
    assert.deepEqual(
      (await answerOf(bench)).map(({ meta }) => meta?.['sources']),
      [
        [kept('a'), kept('b')],
        [kept('c'), kept('d')],
      ],
    )
    assert.deepEqual(await bench.notes('warning'), [])
  })

  test('are reported as dropped if the model wrote no text for them', async () => {
    await using bench = await AgentBench.open([{ parts: [source('a')] }])
    await bench.play()
    assert.match((await bench.notes('warning'))[0]?.text ?? '', /source/)
  })
})
