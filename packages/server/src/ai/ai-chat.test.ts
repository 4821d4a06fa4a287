import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'
import { lastAssistantMessageIsCompleteWithApprovalResponses, readUIMessageStream, DefaultChatTransport } from 'ai'
import { ServerBench, type ServerBenchOptions } from '../server.fixture.ts'
import { TestChat } from './chat.fixture.ts'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const limit = { timeout: 60_000 }

type ModelStream = Awaited<ReturnType<ReturnType<typeof scriptedModel>['doStream']>>['stream']
type StreamPart = ModelStream extends ReadableStream<infer Part> ? Part : never

/** Two tools: one runs at once, the other needs an approval. */
function tools(ran: string[] = []): ServerBenchOptions {
  const input = { type: 'object', properties: { of: { type: 'string' } } } as const
  const look = createTool({
    id: 'look',
    description: 'Looks.',
    inputSchema: input,
    execute: async () => ({ seen: 'a heron' }),
  })
  const write = createTool({
    id: 'write',
    description: 'Writes.',
    inputSchema: input,
    execute: async ({ of }) => {
      ran.push(JSON.stringify(of))
      return { written: of }
    },
  })
  return {
    agent: { tools: { look, write } },
    harness: { permissions: { tools: { look: 'allow', write: 'ask' } } },
  }
}

const call = (name: string, of: string) => ({ name, input: { of } })

suite('a chat of the AI SDK', limit, () => {
  test('gets text and reasoning, and continues in the same thread', async () => {
    await using bench = await ServerBench.start([
      { reasoning: ['Let me ', 'think.'], text: ['Hello ', 'there.'] },
      { text: 'Again.' },
    ])
    const chat = new TestChat(bench, { id: 'my-chat' })
    await chat.sendMessage({ text: 'Hi' })
    assert.equal(chat.status, 'ready')
    assert.equal(chat.reasoning, 'Let me think.')
    assert.equal(chat.text, 'Hello there.')
    await chat.sendMessage({ text: 'And?' })
    assert.equal(chat.text, 'Again.')
    assert.deepEqual(
      chat.messages.map(({ role }) => role),
      ['user', 'assistant', 'user', 'assistant'],
    )
    const { thread } = (await (await bench.fetch('/v1/threads/my-chat')).json()) as { thread: { id: string } }
    assert.equal(thread.id, 'my-chat')
  })

  test('speaks the protocol of the stream, so that readUIMessageStream reads it', async () => {
    await using bench = await ServerBench.start([{ text: 'Yes.' }])
    const response = await bench.fetch('/v1/ai/chat', {
      method: 'POST',
      body: JSON.stringify({ id: 'raw', messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] }),
    })
    assert.equal(response.headers.get('x-vercel-ai-ui-message-stream'), 'v1')
    assert.match(await response.text(), /^data: \{"type":"start".*\n\ndata: \[DONE\]\n\n$/s)
    const transport = new DefaultChatTransport({
      api: `${bench.url}/v1/ai/chat`,
      headers: { authorization: `Bearer ${bench.token}` },
    })
    assert.equal(await transport.reconnectToStream({ chatId: 'raw' }), null)
  })

  test('shows two parallel tools, asks for one, and runs it when it is approved', async () => {
    const ran: string[] = []
    await using bench = await ServerBench.start(
      [{ text: 'Working.', toolCalls: [call('look', 'pond'), call('write', 'note')] }, { text: 'Done.' }],
      tools(ran),
    )
    const chat = new TestChat(bench, { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses })
    await chat.sendMessage({ text: 'Go' })
    const [look, write] = chat.tools
    assert.equal(look?.state, 'output-available')
    assert.deepEqual(look.output, { seen: 'a heron' })
    assert.equal(write?.state, 'approval-requested')
    assert.deepEqual(write.input, { of: 'note' })
    assert.deepEqual(ran, [])
    await chat.addToolApprovalResponse({ id: write.approval.id, approved: true })
    await chat.until(() => chat.text.endsWith('Done.'))
    assert.deepEqual(ran, ['"note"'])
    assert.deepEqual(
      chat.tools.map(({ state }) => state),
      ['output-available', 'output-available'],
    )
    assert.equal(chat.text, 'Working.Done.')
    assert.equal(chat.messages.length, 2)
  })

  test('denies a call, and the model gets the reason', async () => {
    const ran: string[] = []
    await using bench = await ServerBench.start(
      [{ toolCalls: [call('write', 'note')] }, { text: 'Then not.' }],
      tools(ran),
    )
    const chat = new TestChat(bench, { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses })
    await chat.sendMessage({ text: 'Go' })
    const [write] = chat.tools
    assert.equal(write?.state, 'approval-requested')
    await chat.addToolApprovalResponse({ id: write.approval.id, approved: false, reason: 'Not on a Sunday.' })
    await chat.until(() => chat.text === 'Then not.')
    assert.equal(chat.tools[0]?.state, 'output-denied')
    assert.deepEqual(ran, [])
    assert.match(bench.model.requestBodies.at(-1) ?? '', /Not on a Sunday/)
  })

  test('answers a question with the output of its tool', async () => {
    await using bench = await ServerBench.start([
      { toolCalls: [{ name: 'ask_user', input: { question: 'What name?' } }] },
      { text: 'Hello Ada.' },
    ])
    const chat = new TestChat(bench)
    await chat.sendMessage({ text: 'Go' })
    const [ask] = chat.tools
    assert.equal(ask?.state, 'input-available')
    await chat.addToolOutput({ tool: 'ask_user', toolCallId: ask.toolCallId, output: 'Ada' })
    await chat.sendMessage()
    assert.equal(chat.text, 'Hello Ada.')
  })

  test('gives the model an image, and refuses addresses', async () => {
    await using bench = await ServerBench.start([{ text: 'A pixel.' }])
    const chat = new TestChat(bench)
    const url = `data:image/png;base64,${PIXEL}`
    await chat.sendMessage({ text: 'What?', files: [{ type: 'file', mediaType: 'image/png', url }] })
    assert.equal(chat.text, 'A pixel.')
    assert.match(bench.model.requestBodies[0] ?? '', /image\/png/)
    const inside = 'http://127.0.0.1/secret.png'
    await chat.sendMessage({ text: 'And?', files: [{ type: 'file', mediaType: 'image/png', url: inside }] })
    assert.equal(chat.status, 'error')
    assert.match(chat.error?.message ?? '', /base64/)
  })

  test('shows an image of the model, a large one by an address that its token opens', async () => {
    const scripted = scriptedModel([{ text: 'Small.' }, { text: 'Large.' }])
    const large = Buffer.alloc(100_000, 7).toString('base64')
    const images = [PIXEL, large]
    const model: typeof scripted = {
      ...scripted,
      doStream: async (options) => {
        const { stream, ...rest } = await scripted.doStream(options)
        const data = images.shift() ?? ''
        const withImage = new TransformStream<StreamPart, StreamPart>({
          transform: (part, controller) => {
            if (part.type === 'finish') {
              controller.enqueue({ type: 'file', mediaType: 'image/png', data: { type: 'data', data } })
            }
            controller.enqueue(part)
          },
        })
        return { ...rest, stream: stream.pipeThrough(withImage) }
      },
    }
    await using bench = await ServerBench.start([], { agent: { model } })
    const chat = new TestChat(bench, { id: 'pictures' })
    await chat.sendMessage({ text: 'Draw' })
    const file = () => chat.lastMessage?.parts.find((part) => part.type === 'file')
    assert.equal(file()?.url, `data:image/png;base64,${PIXEL}`)
    await chat.sendMessage({ text: 'Larger' })
    const url = file()?.url ?? ''
    assert.match(url, /^\/v1\/threads\/pictures\/blobs\//)
    assert.equal(Buffer.from(await (await bench.fetch(url)).arrayBuffer()).toString('base64'), large)
    assert.equal((await fetch(`${bench.url}${url}`)).status, 401)
  })

  test('reports an error, and can continue after it', async () => {
    await using bench = await ServerBench.start([
      { error: { status: 400, message: 'No such thing.' } },
      { text: 'Better.' },
    ])
    const chat = new TestChat(bench)
    await chat.sendMessage({ text: 'Hi' })
    assert.equal(chat.status, 'error')
    assert.match(chat.error?.message ?? '', /No such thing/)
    await chat.sendMessage({ text: 'Again' })
    assert.equal(chat.text, 'Better.')
  })

  test('reconnects in the middle, and learns when the run is cancelled', async () => {
    await using bench = await ServerBench.start([{ text: ['Once ', 'upon '], hang: true }])
    const first = new TestChat(bench, { id: 'story' })
    const sending = first.sendMessage({ text: 'Tell' })
    await first.until(() => first.text === 'Once upon ')
    await first.stop()
    await sending
    // A client that goes away does not cancel the run.
    const second = new TestChat(bench, { id: 'story', messages: first.messages.slice(0, 1) })
    const following = second.resumeStream()
    await second.until(() => second.text === 'Once upon ')
    const cancel = { commands: [{ type: 'cancel', thread: 'story' }] }
    assert.equal((await bench.fetch('/v1/commands', { method: 'POST', body: JSON.stringify(cancel) })).status, 202)
    await following
    assert.equal(second.text, 'Once upon ')
    assert.equal((await bench.fetch('/v1/ai/chat/story/stream')).status, 204)
  })

  test('sends an abort chunk to readUIMessageStream when the run is cancelled', async () => {
    await using bench = await ServerBench.start([{ text: 'Once', hang: true }])
    const transport = new DefaultChatTransport({
      api: `${bench.url}/v1/ai/chat`,
      headers: { authorization: `Bearer ${bench.token}` },
    })
    const stream = await transport.sendMessages({
      trigger: 'submit-message',
      chatId: 'aborted',
      messageId: undefined,
      abortSignal: undefined,
      messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'Tell' }] }],
    })
    const [chunks, messages] = stream.tee()
    let text = ''
    for await (const message of readUIMessageStream({ stream: messages })) {
      text = message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
      if (text !== 'Once') continue
      const cancel = { commands: [{ type: 'cancel', thread: 'aborted' }] }
      await bench.fetch('/v1/commands', { method: 'POST', body: JSON.stringify(cancel) })
    }
    const types: string[] = []
    for await (const chunk of chunks) types.push(chunk.type)
    assert.equal(text, 'Once')
    assert.equal(types.at(-1), 'abort')
  })

  test('sends a message once, though its request is repeated because the answer was lost', async () => {
    await using bench = await ServerBench.start([{ text: ['Once ', 'only.'] }, { text: 'Never.' }])
    let requests = 0
    const transport = new DefaultChatTransport({
      api: `${bench.url}/v1/ai/chat`,
      headers: { authorization: `Bearer ${bench.token}` },
      // What a network layer does that lost the first answer.
      fetch: async (url, init) => {
        requests += 2
        await (await fetch(url, init)).text()
        return fetch(url, init)
      },
    })
    const chat = new TestChat(bench, { id: 'retried', transport })
    await chat.sendMessage({ text: 'Hi' })
    assert.deepEqual([requests, chat.text], [2, 'Once only.'])
    assert.equal(bench.model.requests.length, 1)
    const page = (await (await bench.fetch('/v1/threads/retried/messages')).json()) as { messages: unknown[] }
    assert.equal(page.messages.length, 2)
    await chat.sendMessage({ text: 'Hi' })
    assert.equal(chat.text, 'Never.', 'the same words in another message are said again')
  })

  test('ends when the server closes', async () => {
    const bench = await ServerBench.start([{ text: 'Once', hang: true }])
    const chat = new TestChat(bench)
    const sending = chat.sendMessage({ text: 'Tell' })
    await chat.until(() => chat.text === 'Once')
    await bench[Symbol.asyncDispose]()
    await sending
    assert.equal(chat.text, 'Once')
  })

  test('is refused without a token, to another tenant, and with an invalid body', async () => {
    await using bench = await ServerBench.start([{ text: 'Yes.' }])
    const post = (body: unknown) => bench.fetch('/v1/ai/chat', { method: 'POST', body: JSON.stringify(body) })
    await bench.harness.session.identity.setResourceId({ resourceId: 'somebody-else' })
    await bench.harness.session.thread.create({ id: 'theirs' })
    const messages = [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }]
    assert.equal((await post({ id: 'theirs', messages })).status, 404)
    assert.equal((await bench.fetch('/v1/ai/chat/theirs/stream')).status, 404)
    assert.equal((await post({ id: '../x', messages })).status, 400)
    assert.equal((await post({ id: 'x', messages: [] })).status, 400)
    assert.equal((await post({ id: 'x', messages, trigger: 'regenerate-message' })).status, 501)
    assert.equal((await post({ id: 'x', messages: [{ role: 'assistant', parts: [] }] })).status, 409)
    const bare = await fetch(`${bench.url}/v1/ai/chat/x/stream`)
    assert.equal(bare.status, 401)
  })
})
