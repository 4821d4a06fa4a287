import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { APICallError, generateText, streamText } from 'ai'
import { collect, tools } from '../test/clients.ts'
import { ScriptEnded } from './script-errors.ts'
import { scriptedModel } from './scripted-model.ts'

const noRetry = { maxRetries: 0, onError: () => {} }

function ask(text: string, extra: Partial<LanguageModelV4CallOptions> = {}): LanguageModelV4CallOptions {
  return { prompt: [{ role: 'user', content: [{ type: 'text', text }] }], ...extra }
}

describe('scriptedModel with streamText and generateText', () => {
  test('plays one turn per call, in order', async () => {
    const model = scriptedModel([{ text: ['one ', 'delta ', 'each'] }, { text: 'second' }])
    const first = streamText({ model, prompt: 'Hi', ...noRetry })
    assert.deepEqual(await collect(first.textStream), ['one ', 'delta ', 'each'])
    assert.equal(model.turnsLeft, 1)
    const second = await generateText({ model, prompt: 'Hi' })
    assert.equal(second.text, 'second')
    assert.equal(model.calls, 2)
    assert.equal(model.turnsLeft, 0)
  })

  test('reasons, speaks and calls tools in parallel with streamed input', async () => {
    const model = scriptedModel([
      {
        reasoning: ['Look ', 'first.'],
        signature: 'proof',
        text: 'Looking.',
        toolCalls: [
          { id: 'a', name: 'read_file', input: { path: 'a.txt' }, inputDeltas: 4 },
          { id: 'b', name: 'read_file', inputDeltas: ['{"path":', '"b.txt"}'] },
        ],
        usage: {
          inputTokens: 100,
          cachedInputTokens: 50,
          cacheWriteInputTokens: 10,
          outputTokens: 20,
          reasoningTokens: 5,
        },
      },
    ])
    const result = streamText({ model, prompt: 'Hi', tools, ...noRetry })
    const parts = await collect(result.fullStream)
    assert.equal(parts.filter((part) => part.type === 'tool-input-delta' && part.id === 'a').length, 4)
    assert.equal(await result.reasoningText, 'Look first.')
    assert.match(JSON.stringify(await result.reasoning), /"scripted":\{"signature":"proof"\}/)
    assert.equal(await result.text, 'Looking.')
    assert.deepEqual(
      (await result.toolCalls).map((call) => [call.toolCallId, call.input]),
      [
        ['a', { path: 'a.txt' }],
        ['b', { path: 'b.txt' }],
      ],
    )
    assert.equal(await result.finishReason, 'tool-calls')
    const usage = await result.usage
    assert.equal(usage.inputTokens, 100)
    assert.deepEqual(usage.inputTokenDetails, { noCacheTokens: 40, cacheReadTokens: 50, cacheWriteTokens: 10 })
    assert.equal(usage.outputTokenDetails.reasoningTokens, 5)
  })

  test('a 429 looks like one of a provider: it is tried again after the wait it names', async () => {
    const model = scriptedModel([{ error: { status: 429, retryAfterMs: 10 } }, { text: 'Now.' }])
    const result = streamText({ model, prompt: 'Hi', maxRetries: 1 })
    assert.equal(await result.text, 'Now.')
    assert.equal(model.calls, 2)
  })

  test('an error inside the stream comes as a part after the text', async () => {
    const model = scriptedModel([{ text: 'part', streamError: { message: 'Overloaded', status: 529 } }])
    const result = streamText({ model, prompt: 'Hi', ...noRetry })
    const parts = await collect(result.fullStream)
    assert.match(String(parts.find((part) => part.type === 'error')?.error), /Overloaded/)
    assert.equal(await result.text, 'part')
  })

  test('a cut stream ends without a finish', async () => {
    const model = scriptedModel([{ text: ['ha', 'lf'], cut: true }])
    const result = streamText({ model, prompt: 'Hi', ...noRetry })
    assert.deepEqual(await collect(result.textStream), ['ha', 'lf'])
    assert.equal(await result.finishReason, 'other')
  })

  test('hangs until it is aborted', async () => {
    const model = scriptedModel([{ text: 'begun', hang: true }])
    const abort = new AbortController()
    const result = streamText({ model, prompt: 'Hi', abortSignal: abort.signal, ...noRetry })
    const types: string[] = []
    for await (const part of result.fullStream) {
      types.push(part.type)
      if (part.type === 'text-delta') abort.abort()
    }
    assert.equal(types.at(-1), 'abort')
  })
})

describe('scriptedModel called as a provider', () => {
  test('an answer begins with stream-start, closes its parts and finishes', async () => {
    const model = scriptedModel([{ text: 'Hi', toolCalls: [{ id: 'c', name: 'read_file', input: { path: 'a' } }] }])
    assert.deepEqual(await partsOf(model.doStream(ask('Hi'))), [
      { type: 'stream-start', warnings: [] },
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'Hi' },
      { type: 'text-end', id: '0' },
      { type: 'tool-input-start', id: 'c', toolName: 'read_file' },
      { type: 'tool-input-delta', id: 'c', delta: '{"path":"a"}' },
      { type: 'tool-input-end', id: 'c' },
      { type: 'tool-call', toolCallId: 'c', toolName: 'read_file', input: '{"path":"a"}' },
      {
        type: 'finish',
        usage: {
          inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 0, text: 0, reasoning: 0 },
        },
        finishReason: { unified: 'tool-calls', raw: undefined },
      },
    ])
  })

  test('parts come in the order of the script, raw ones untouched', async () => {
    const source = { type: 'source', sourceType: 'url', id: 's', url: 'https://example.com' }
    const model = scriptedModel([
      { parts: [{ text: 'a' }, { toolCall: { id: 'c', name: 't' } }, { raw: source }, { text: 'b' }] },
    ])
    const parts = await partsOf(model.doStream(ask('Hi')))
    const seen = parts.filter((part) => ['text-delta', 'tool-call', 'source'].includes(part.type))
    assert.deepEqual(seen, [
      { type: 'text-delta', id: '0', delta: 'a' },
      { type: 'tool-call', toolCallId: 'c', toolName: 't', input: '{}' },
      source,
      { type: 'text-delta', id: '3', delta: 'b' },
    ])
  })

  test('a tool that the provider runs has its result and does not ask the client to run it', async () => {
    const model = scriptedModel([
      { toolCalls: [{ id: 'c', name: 'web', providerExecuted: true, result: { found: 1 } }], text: 'Found.' },
    ])
    const { content, finishReason } = await model.doGenerate(ask('Hi'))
    assert.deepEqual(content.slice(1), [
      { type: 'tool-call', toolCallId: 'c', toolName: 'web', input: '{}', providerExecuted: true },
      { type: 'tool-result', toolCallId: 'c', toolName: 'web', result: { found: 1 } },
    ])
    assert.equal(finishReason.unified, 'stop')
  })

  test('the input of a free-form tool streams as text and ends as a JSON string', async () => {
    const model = scriptedModel([{ toolCalls: [{ id: 'c', name: 'patch', custom: true, input: 'a "b"' }] }])
    const parts = await partsOf(model.doStream(ask('Hi')))
    assert.deepEqual(parts.slice(1, 5), [
      { type: 'tool-input-start', id: 'c', toolName: 'patch', inputEncoding: 'text' },
      { type: 'tool-input-delta', id: 'c', delta: 'a "b"' },
      { type: 'tool-input-end', id: 'c' },
      { type: 'tool-call', toolCallId: 'c', toolName: 'patch', input: '"a \\"b\\""' },
    ])
  })

  test('tool calls without an id get one that no other call has', async () => {
    const calls = [{ name: 't' }, { name: 't' }]
    const [a, b] = [scriptedModel([{ toolCalls: calls }]), scriptedModel([{ toolCalls: calls }])]
    const parts = [...(await partsOf(a.doStream(ask('Hi')))), ...(await partsOf(b.doStream(ask('Hi'))))]
    const ids = parts.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []))
    assert.equal(new Set(ids).size, 4)
  })

  test('keeps what was asked, frozen and as text, whatever happens to it later', async () => {
    const model = scriptedModel([{ text: 'a' }, { error: { status: 500 } }])
    const call = ask('Grüße 👍🏽', { temperature: 0.5, abortSignal: new AbortController().signal })
    await model.doGenerate(call)
    await assert.rejects(async () => model.doGenerate(ask('again')))
    call.prompt.length = 0
    assert.equal(
      model.requestBodies[0],
      '{"prompt":[{"role":"user","content":[{"type":"text","text":"Grüße 👍🏽"}]}],"temperature":0.5}',
    )
    assert.deepEqual(model.requests[0], JSON.parse(model.requestBodies[0] ?? ''))
    assert.ok(Object.isFrozen(model.requests[0]?.['prompt']))
    assert.equal(model.requests.length, 2)
  })

  test('binary data of a request is kept as base64', async () => {
    const model = scriptedModel([{ text: 'a' }])
    const data = { type: 'data' as const, data: new Uint8Array([1, 2, 3]) }
    await model.doGenerate({
      prompt: [{ role: 'user', content: [{ type: 'file', mediaType: 'image/png', data }] }],
    })
    assert.match(model.requestBodies[0] ?? '', /"data":"AQID"/)
  })

  test('a failed call is an APICallError with all that a retry needs', async () => {
    const model = scriptedModel([
      { error: { status: 429, retryAfterMs: 1500, message: 'Slow down', headers: { 'x-a': 'b' } } },
      { error: { status: 400 } },
      { error: { status: 400, retryable: true, body: 'not even JSON' } },
    ])
    const first = await failureOf(model.doStream(ask('Hi')))
    assert.equal(first.message, 'Slow down')
    assert.equal(first.statusCode, 429)
    assert.equal(first.isRetryable, true)
    assert.equal(first.responseHeaders?.['retry-after-ms'], '1500')
    assert.equal(first.responseHeaders?.['retry-after'], '2')
    assert.equal(first.responseHeaders?.['x-a'], 'b')
    assert.equal((await failureOf(model.doStream(ask('Hi')))).isRetryable, false)
    const third = await failureOf(model.doGenerate(ask('Hi')))
    assert.equal(third.isRetryable, true)
    assert.equal(third.responseBody, 'not even JSON')
  })

  test('a reset breaks the stream as a lost connection does', async () => {
    const model = scriptedModel([
      { text: ['ha', 'lf'], cut: 'reset', cutAfter: 1 },
      { text: 'x', cut: true },
    ])
    const { stream } = await model.doStream(ask('Hi'))
    const seen: string[] = []
    await assert.rejects(
      async () => {
        for await (const part of stream) if (part.type === 'text-delta') seen.push(part.delta)
      },
      (error: unknown) => APICallError.isInstance(error) && error.isRetryable && error.statusCode === 200,
    )
    assert.deepEqual(seen, ['ha'])
    assert.equal((await failureOf(model.doGenerate(ask('Hi')))).isRetryable, true)
  })

  test('an error part is plain data with its status and whether to try again', async () => {
    const model = scriptedModel([
      { streamError: { type: 'overloaded_error', message: 'Overloaded', status: 529 } },
      { streamError: { message: 'No', status: 400 } },
    ])
    const first = (await partsOf(model.doStream(ask('Hi')))).at(-1)
    assert.ok(first?.type === 'error' && !(first.error instanceof Error))
    assert.deepEqual(first.error, {
      message: 'Overloaded',
      type: 'overloaded_error',
      code: undefined,
      statusCode: 529,
      isRetryable: true,
      data: { type: 'overloaded_error', code: null, message: 'Overloaded' },
    })
    const second = await failureOf(model.doGenerate(ask('Hi')))
    assert.equal(second.isRetryable, false)
  })

  test('abort ends a wait before the answer, between deltas and while it hangs', async () => {
    const model = scriptedModel([
      { text: 'a', delayMs: 2 ** 30 },
      { text: ['a', 'b'], delayPerDeltaMs: 2 ** 30 },
      { hang: true },
      { text: 'a', hang: true },
      { text: 'a' },
    ])
    for (const stop of ['call', 'stream', 'call', 'stream'] as const) {
      const abort = new AbortController()
      const answer = model.doStream(ask('Hi', { abortSignal: abort.signal }))
      if (stop === 'call') {
        abort.abort(new Error('changed my mind'))
        await assert.rejects(async () => answer, { name: 'AbortError' })
      } else {
        const reading = collect((await answer).stream)
        abort.abort()
        await assert.rejects(reading, { name: 'AbortError' })
      }
    }
    const late = ask('Hi', { abortSignal: AbortSignal.abort() })
    await assert.rejects(async () => model.doStream(late), { name: 'AbortError' })
    assert.equal(model.turnsLeft, 1, 'a call that was aborted before it began uses up no turn')
  })

  test('a reader that leaves a hanging stream does not have to wait', async () => {
    const model = scriptedModel([{ text: 'a', hang: true }])
    const { stream } = await model.doStream(ask('Hi'))
    for await (const part of stream) if (part.type === 'text-delta') break
    assert.equal(stream.locked, false)
  })

  test("after the last turn the error names the call and the user's message", async () => {
    const model = scriptedModel([{ text: 'only' }])
    await model.doGenerate(ask('First'))
    const ended = await Promise.resolve(model.doStream(ask('<reminder>be kind</reminder>Second'))).then(
      () => assert.fail('should have failed'),
      (error: unknown) => error,
    )
    assert.ok(ended instanceof ScriptEnded)
    assert.equal(ended.call, 2)
    assert.equal(ended.turns, 1)
    assert.match(ended.message, /model call 2, but there is 1 turn\..*Last user message: "Second"$/)
  })

  test('calls at the same time get the turns in the order of the calls', async () => {
    const model = scriptedModel(Array.from({ length: 20 }, (_, index) => ({ text: `turn ${index}` })))
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => model.doGenerate(ask(`call ${index}`))))
    assert.deepEqual(
      answers.map(({ content }) => content[0]),
      Array.from({ length: 20 }, (_, index) => ({ type: 'text', text: `turn ${index}` })),
    )
  })
})

describe('a script that reacts', () => {
  test('a turn may be a function of the request', async () => {
    const model = scriptedModel([(request) => ({ text: `seen ${JSON.stringify(request['prompt']).length}` })])
    const { content } = await model.doGenerate(ask('Hi'))
    assert.deepEqual(content, [{ type: 'text', text: `seen ${JSON.stringify(ask('Hi').prompt).length}` }])
  })

  test('the return value of a function is checked like the script', async () => {
    const model = scriptedModel([() => Object.assign({ text: 'a' }, { txt: 'b' })])
    await assert.rejects(async () => model.doStream(ask('Hi')), /main\[0\]\.txt: unknown key\. Did you mean "text"\?/)
  })

  test('{{re:…}} quotes the newest match of the request', async () => {
    const model = scriptedModel([
      { text: 'agent {{re:id=([0-9a-f]{4})}} of {{re:id=.{4}}}' },
      { toolCalls: [{ id: 'c', name: 'wait', input: { ids: ['{{re:id=(\\w+)}}'] } }] },
      { text: '{{re:nothing like it}}' },
    ])
    const { content } = await model.doGenerate({
      prompt: [
        { role: 'user', content: [{ type: 'text', text: 'id=aaaa' }] },
        { role: 'user', content: [{ type: 'text', text: 'id=bbbb id=cccc' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'no match here' }] },
      ],
    })
    assert.deepEqual(content, [{ type: 'text', text: 'agent cccc of id=cccc' }])
    const parts = await partsOf(model.doStream(ask('id=77')))
    assert.ok(parts.some((part) => part.type === 'tool-call' && part.input === '{"ids":["77"]}'))
    await assert.rejects(async () => model.doStream(ask('Hi')), { name: 'QuoteNotFound' })
  })

  test('repeat plays a turn several times, or for ever', async () => {
    const model = scriptedModel([
      { text: 'twice', repeat: 2 },
      { text: 'always', repeat: true },
    ])
    const said: string[] = []
    for (let call = 0; call < 5; call += 1) {
      const { content } = await model.doGenerate(ask('Hi'))
      said.push(content.map((part) => (part.type === 'text' ? part.text : '')).join(''))
    }
    assert.deepEqual(said, ['twice', 'twice', 'always', 'always', 'always'])
    assert.equal(model.turnsLeft, 0)
  })

  test('routes have their own turns; side answers only come when the script has one', async () => {
    const model = scriptedModel({
      turns: [{ text: 'main' }],
      routes: [{ match: /explorer/, turns: [{ text: 'sub' }] }],
      side: { text: 'A title' },
    })
    const plain = scriptedModel([{ text: 'main' }])
    const title = ask('Hi', { prompt: [{ role: 'system', content: 'You are a title generator' }] })
    const explorer = ask('Hi', { prompt: [{ role: 'system', content: 'You are an explorer' }] })
    const said = async (answer: ReturnType<typeof model.doGenerate>): Promise<unknown> => (await answer).content[0]
    assert.deepEqual(await said(model.doGenerate(title)), { type: 'text', text: 'A title' })
    assert.deepEqual(await said(model.doGenerate(explorer)), { type: 'text', text: 'sub' })
    assert.deepEqual(await said(model.doGenerate(ask('Hi'))), { type: 'text', text: 'main' })
    assert.deepEqual(await said(plain.doGenerate(title)), { type: 'text', text: 'main' })
  })
})

async function partsOf(
  answer: PromiseLike<{ stream: ReadableStream<LanguageModelV4StreamPart> }>,
): Promise<LanguageModelV4StreamPart[]> {
  return collect((await answer).stream)
}

async function failureOf(answer: PromiseLike<unknown>): Promise<APICallError> {
  const error: unknown = await Promise.resolve(answer).then(
    () => assert.fail('should have failed'),
    (reason: unknown) => reason,
  )
  assert.ok(APICallError.isInstance(error), String(error))
  return error
}
