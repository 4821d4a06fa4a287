import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formats, paths, post, requestBody } from '../../test/clients.ts'
import type { FormatName } from '../../test/clients.ts'
import { startProvider } from './start-provider.ts'
import type { Provider } from './provider.ts'

const toolsOf: Readonly<Record<FormatName, unknown[]>> = {
  anthropic: [{ name: 'read', input_schema: { type: 'object' } }],
  responses: [{ type: 'function', name: 'read', parameters: { type: 'object' } }],
  chat: [{ type: 'function', function: { name: 'read', parameters: { type: 'object' } } }],
}

async function say(
  provider: Provider,
  format: FormatName,
  user: string,
  extra: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<string> {
  const response = await post(provider, paths[format], requestBody(format, user, extra), headers)
  return response.text()
}

function withSystem(format: FormatName, system: string): Record<string, unknown> {
  if (format === 'anthropic') return { system: [{ type: 'text', text: system }] }
  if (format === 'responses') return { instructions: system }
  const messages = [
    { role: 'system', content: system },
    { role: 'user', content: 'Fix the bug' },
  ]
  return { messages }
}

for (const format of formats) {
  const tools = toolsOf[format]

  describe(`${format}: side requests`, () => {
    test('side requests of an agent use up no turn and get the side answer', async () => {
      await using provider = await startProvider({
        turns: [{ text: 'first turn' }, { text: 'second turn' }],
        side: { text: 'A scripted title' },
      })
      const title = withSystem(format, 'Generate a short title (four words or less) for this conversation.')
      assert.match(await say(provider, format, 'Fix the bug', title), /A scripted title/)
      assert.match(await say(provider, format, 'Work', { tools }), /first turn/)
      const compaction = 'You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary.'
      assert.match(await say(provider, format, compaction), /A scripted title/)
      assert.match(await say(provider, format, 'More work', { tools }), /second turn/)
      assert.deepEqual(
        provider.requests.map(({ route, turn }) => [route, turn]),
        [
          ['side', undefined],
          ['main', 0],
          ['side', undefined],
          ['main', 1],
        ],
      )
    })

    test('are known by the agent that sends them, too', async () => {
      await using provider = await startProvider([{ text: 'the turn' }])
      const agent = { 'user-agent': 'claude-cli/2.1.325 (external, cli)' }
      assert.match(await say(provider, format, 'What is this about?', {}, agent), /Scripted side answer/)
      assert.equal(provider.turnsLeft, 1)
    })

    test('a plain chat without tools is none', async () => {
      await using provider = await startProvider([{ text: 'first turn' }, { text: 'second turn' }])
      assert.match(await say(provider, format, 'Hello', { tools }), /first turn/)
      assert.match(await say(provider, format, 'Generate a title for my book'), /second turn/)
    })

    test('are what the script contains', async () => {
      await using never = await startProvider({ turns: [{ text: 'the turn' }], isSide: false })
      assert.match(await say(never, format, 'Hi', withSystem(format, 'You are a title generator')), /the turn/)
      await using own = await startProvider({
        turns: [{ text: 'the turn' }],
        side: { text: 'beside' },
        isSide: (request) => request.text.includes('psst'),
      })
      assert.match(await say(own, format, 'psst', { tools }), /beside/)
      assert.match(await say(own, format, 'Hello', { tools }), /the turn/)
    })
  })

  describe(`${format}: routes`, () => {
    test('each has its own place in its own turns', async () => {
      await using provider = await startProvider({
        turns: [{ text: 'main one' }, { text: 'main two' }],
        routes: [
          { match: 'SUBTASK-1', turns: [{ text: 'sub one' }, { text: 'sub two' }], name: 'explorer' },
          { match: /^small-/, where: 'model', turns: [{ text: 'small one' }] },
          { match: (request) => request.headers['x-agent'] === 'b', turns: [{ text: 'by header' }] },
        ],
      })
      assert.match(await say(provider, format, 'Go', { tools }), /main one/)
      assert.match(await say(provider, format, 'Do SUBTASK-1', { tools }), /sub one/)
      assert.match(await say(provider, format, 'Go', { tools, model: 'small-1' }), /small one/)
      assert.match(await say(provider, format, 'Go', { tools }, { 'x-agent': 'b' }), /by header/)
      assert.match(await say(provider, format, 'Go on', { tools }), /main two/)
      assert.match(await say(provider, format, 'Do SUBTASK-1', { tools }), /sub two/)
      assert.deepEqual(
        provider.requests.map(({ route, turn }) => `${route} ${turn}`),
        ['main 0', 'explorer 0', 'routes[1] 0', 'routes[2] 0', 'main 1', 'explorer 1'],
      )
      assert.equal(provider.turnsLeft, 0)
    })

    test('do not catch the parent, which repeats the task of its subagent', async () => {
      await using provider = await startProvider({
        turns: [{ text: 'parent goes on' }],
        routes: [{ match: 'SUBTASK-1', turns: [{ text: 'sub' }] }],
      })
      const messages = [
        { role: 'user', content: 'Go' },
        { role: 'assistant', content: 'I delegate SUBTASK-1' },
        { role: 'user', content: 'SUBTASK-1 is done' },
      ]
      const history = format === 'responses' ? { input: messages } : { messages }
      assert.match(await say(provider, format, '', { tools, ...history }), /parent goes on/)
    })

    test('at the end of their turns they report which script is over', async () => {
      await using provider = await startProvider({
        turns: [{ text: 'main' }],
        routes: [{ match: 'SUB', turns: [], name: 'explorer' }],
      })
      assert.match(await say(provider, format, 'SUB'), /The script for explorer is over/)
      assert.equal(provider.requests[0]?.route, 'explorer')
      assert.equal(provider.turnsLeft, 1)
    })
  })

  test(`${format}: {{re:…}} finds an id in the newest message, wherever the tools stand`, async () => {
    await using provider = await startProvider([{ text: 'waiting for {{re:agent_id\\W+(\\w+)}}' }])
    const messages = [
      { role: 'user', content: 'agent_id: old' },
      { role: 'assistant', content: 'fine' },
      { role: 'user', content: JSON.stringify({ agent_id: 'fresh' }) },
      { role: 'assistant', content: 'nothing here' },
    ]
    const history = format === 'responses' ? { input: messages } : { messages }
    const behind = { metadata: { note: 'agent_id: decoy' }, tools }
    assert.match(await say(provider, format, '', { ...history, ...behind }), /waiting for fresh/)
  })

  test(`${format}: a turn may be a function of the recorded request`, async () => {
    await using provider = await startProvider([
      async (request) => ({ text: `${request.api} asked ${JSON.stringify(request.body['model']).length}` }),
      () => {
        throw new Error('no idea')
      },
    ])
    assert.match(await say(provider, format, 'Hi', { model: 'm-7' }), new RegExp(`${format} asked 5`))
    assert.match(await say(provider, format, 'Hi'), /no idea/)
    assert.deepEqual(
      provider.problems.map((problem) => problem.message),
      ['no idea'],
    )
  })
}

test('Anthropic: the probe with one token is a side request', async () => {
  await using provider = await startProvider([{ text: 'the turn' }])
  assert.match(await say(provider, 'anthropic', 'quota', { max_tokens: 1 }), /Scripted side answer/)
  assert.equal(provider.turnsLeft, 1)
})

test('Responses: tools that come as an input item make it a request of the conversation', async () => {
  await using provider = await startProvider([{ text: 'the turn' }])
  const input = [
    { type: 'additional_tools', tools: toolsOf.responses },
    { role: 'user', content: 'Go' },
  ]
  const agent = { 'user-agent': 'codex_exec/0.166.0' }
  assert.match(await say(provider, 'responses', '', { input }, agent), /the turn/)
})
