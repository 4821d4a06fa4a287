import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { APICallError, generateText, streamText } from 'ai'
import type { TextStreamPart, ToolSet } from 'ai'
import { clientOf, collect, formats, tools } from '../../test/clients.ts'
import { startProvider } from './start-provider.ts'
import type { ModelTurn } from '../script.ts'

const noRetry = { maxRetries: 0, onError: () => {} }

for (const format of formats) {
  describe(`the real ${format} client against scripted turns`, () => {
    test('streams text delta by delta', async () => {
      await using provider = await startProvider([{ text: ['one ', 'delta ', 'each'] }])
      const result = streamText({ model: clientOf(format, provider), prompt: 'Hi', ...noRetry })
      assert.deepEqual(await collect(result.textStream), ['one ', 'delta ', 'each'])
      assert.equal(await result.finishReason, 'stop')
      assert.equal(provider.requests[0]?.outcome, 'answered')
    })

    test('answers a request that does not stream with the same content', async () => {
      await using provider = await startProvider([
        { text: ['Look', 'ing.'], toolCalls: [{ id: 'call_a', name: 'read_file', input: { path: 'a.txt' } }] },
      ])
      const result = await generateText({ model: clientOf(format, provider), prompt: 'Hi', tools })
      assert.equal(result.text, 'Looking.')
      assert.deepEqual(
        result.toolCalls.map(({ toolCallId, toolName, input }) => ({ toolCallId, toolName, input })),
        [{ toolCallId: 'call_a', toolName: 'read_file', input: { path: 'a.txt' } }],
      )
      assert.equal(result.finishReason, 'tool-calls')
    })

    test('plays parallel tool calls with streamed input', async () => {
      await using provider = await startProvider([
        {
          toolCalls: [
            { id: 'call_a', name: 'read_file', input: { path: 'a.txt' }, inputDeltas: 4 },
            { id: 'call_b', name: 'read_file', inputDeltas: ['{"path":', '"b.txt"}'] },
          ],
        },
      ])
      const result = streamText({ model: clientOf(format, provider), prompt: 'Hi', tools, ...noRetry })
      const parts = await collect(result.fullStream)
      assert.deepEqual(inputDeltas(parts, 'call_b'), ['{"path":', '"b.txt"}'])
      assert.equal(inputDeltas(parts, 'call_a').length, 4)
      assert.deepEqual(
        (await result.toolCalls).map((call) => [call.toolCallId, call.input]),
        [
          ['call_a', { path: 'a.txt' }],
          ['call_b', { path: 'b.txt' }],
        ],
      )
      assert.equal(await result.finishReason, 'tool-calls')
    })

    test('keeps parts apart whose deltas are interleaved', async () => {
      await using provider = await startProvider([
        {
          interleave: true,
          toolCalls: [
            { id: 'call_a', name: 'read_file', input: { path: 'first' }, inputDeltas: 3 },
            { id: 'call_b', name: 'read_file', input: { path: 'second' }, inputDeltas: 3 },
          ],
        },
      ])
      const result = streamText({ model: clientOf(format, provider), prompt: 'Hi', tools, ...noRetry })
      const deltas = (await collect(result.fullStream)).filter((part) => part.type === 'tool-input-delta')
      const order = deltas.map((part) => part.id)
      assert.deepEqual(order, ['call_a', 'call_b', 'call_a', 'call_b', 'call_a', 'call_b'])
      assert.deepEqual(
        (await result.toolCalls).map((call) => call.input),
        [{ path: 'first' }, { path: 'second' }],
      )
    })

    test('reports usage in the fields of the format', async () => {
      const usage = {
        inputTokens: 100,
        cachedInputTokens: 50,
        cacheWriteInputTokens: 10,
        outputTokens: 20,
        reasoningTokens: 5,
      }
      await using provider = await startProvider([
        { text: 'a', usage },
        { text: 'b', usage },
      ])
      const model = clientOf(format, provider)
      const streamed = streamText({ model, prompt: 'Hi', ...noRetry })
      await streamed.consumeStream()
      const whole = await generateText({ model, prompt: 'Hi' })
      for (const seen of [await streamed.usage, whole.usage]) {
        assert.equal(seen.inputTokens, 100)
        assert.equal(seen.outputTokens, 20)
        assert.equal(seen.inputTokenDetails.cacheReadTokens, 50)
        assert.equal(seen.inputTokenDetails.cacheWriteTokens, 10)
        assert.equal(seen.inputTokenDetails.noCacheTokens, 40)
        assert.equal(seen.outputTokenDetails.reasoningTokens, 5)
      }
    })

    test('sets the stop reason', async () => {
      const reasons = ['length', 'content-filter', 'other'] as const
      await using provider = await startProvider(
        reasons.map((finishReason): ModelTurn => ({ text: 'a', finishReason })),
      )
      for (const reason of reasons) {
        const result = streamText({ model: clientOf(format, provider), prompt: 'Hi', ...noRetry })
        await result.consumeStream()
        assert.equal(await result.finishReason, reason)
      }
    })

    test('fails with 429 and is asked again after the wait it names', async () => {
      await using provider = await startProvider([{ error: { status: 429, retryAfterMs: 10 } }, { text: 'Now.' }])
      const result = streamText({ model: clientOf(format, provider), prompt: 'Hi', maxRetries: 1 })
      assert.equal(await result.text, 'Now.')
      assert.deepEqual(
        provider.requests.map((request) => request.turn),
        [0, 1],
      )
    })

    test('fails with the status, the message and the headers of the script', async () => {
      await using provider = await startProvider([
        { error: { status: 500, message: 'Broken on purpose', headers: { 'x-reason': 'script' } } },
      ])
      const error = await failureOf(generateText({ model: clientOf(format, provider), prompt: 'Hi', maxRetries: 0 }))
      assert.equal(error.statusCode, 500)
      assert.equal(error.message, 'Broken on purpose')
      assert.equal(error.responseHeaders?.['x-reason'], 'script')
      assert.equal(error.isRetryable, true)
    })

    test('sends the body of the script instead of its own', async () => {
      const body = { error: { type: 'gateway', message: 'from the gateway', code: 'x' }, type: 'error' }
      await using provider = await startProvider([{ error: { status: 502, body } }])
      const error = await failureOf(generateText({ model: clientOf(format, provider), prompt: 'Hi', maxRetries: 0 }))
      assert.equal(error.responseBody, JSON.stringify(body))
    })

    test('breaks the connection in the middle of the text', async () => {
      await using provider = await startProvider([{ text: ['ha', 'lf', ' lost'], cutAfter: 2 }])
      const seen: string[] = []
      const result = streamText({ model: clientOf(format, provider), prompt: 'Hi', ...noRetry })
      await assert.rejects(async () => {
        for await (const part of result.fullStream) if (part.type === 'text-delta') seen.push(part.text)
      }, /Failed to process successful response/)
      assert.deepEqual(seen, ['ha', 'lf'])
      assert.equal(await provider.waitForOutcome(0), 'cut')
    })

    test('breaks the connection before any answer', async () => {
      await using provider = await startProvider([{ cut: true }])
      const error = await failureOf(generateText({ model: clientOf(format, provider), prompt: 'Hi', maxRetries: 0 }))
      assert.match(error.message, /Cannot connect to API/)
    })

    test('reports an error inside the stream', async () => {
      await using provider = await startProvider([
        { text: 'part', streamError: { type: 'overloaded_error', code: 'overloaded', message: 'Overloaded' } },
      ])
      const result = streamText({ model: clientOf(format, provider), prompt: 'Hi', ...noRetry })
      const parts = await collect(result.fullStream)
      const errors = parts.filter((part) => part.type === 'error')
      assert.equal(errors.length, 1)
      assert.match(String(errors[0]?.error), /Overloaded/)
      assert.equal(await result.text, 'part')
    })

    test('hangs until the client gives up, and sees that it did', async () => {
      await using provider = await startProvider([{ text: 'begun', hang: true }])
      const abort = new AbortController()
      const result = streamText({
        model: clientOf(format, provider),
        prompt: 'Hi',
        abortSignal: abort.signal,
        ...noRetry,
      })
      const types: string[] = []
      for await (const part of result.fullStream) {
        types.push(part.type)
        if (part.type === 'text-delta') abort.abort()
      }
      assert.equal(types.at(-1), 'abort')
      assert.equal(await provider.waitForOutcome(0), 'client-gone')
    })

    test('waits before the answer and between deltas', async () => {
      await using provider = await startProvider([{ text: ['a', 'b', 'c'], delayMs: 5, delayPerDeltaMs: 5 }])
      const result = streamText({ model: clientOf(format, provider), prompt: 'Hi', ...noRetry })
      assert.deepEqual(await collect(result.textStream), ['a', 'b', 'c'])
    })

    test('reports that the script is over in an error that is not tried again', async () => {
      await using provider = await startProvider([{ text: 'only' }])
      const model = clientOf(format, provider)
      await generateText({ model, prompt: 'First' })
      const error = await failureOf(generateText({ model, prompt: 'Second', maxRetries: 3 }))
      assert.equal(error.statusCode, 400)
      assert.match(error.message, /The script is over: this is model call 2, but there is 1 turn\..*"Second"/)
      assert.equal(provider.requests.length, 2)
      assert.equal(provider.problems[0]?.name, 'ScriptEnded')
    })
  })
}

describe('reasoning', () => {
  for (const format of ['anthropic', 'responses'] as const) {
    test(`${format}: streams it and hands over its proof`, async () => {
      await using provider = await startProvider([
        { reasoning: ['Look ', 'first.'], signature: 'proof-1', text: 'Done.' },
        { reasoning: 'Again.', signature: 'proof-2', text: 'Done.' },
      ])
      const model = clientOf(format, provider)
      const streamed = streamText({ model, prompt: 'Hi', ...noRetry })
      await streamed.consumeStream()
      assert.equal(await streamed.reasoningText, 'Look first.')
      assert.match(JSON.stringify(await streamed.reasoning), /proof-1/)
      const whole = await generateText({ model, prompt: 'Hi' })
      assert.equal(whole.reasoningText, 'Again.')
      assert.match(JSON.stringify(whole.reasoning), /proof-2/)
    })
  }
})

test('Responses plays free-form tool calls with text input', async () => {
  const patch = '*** Begin Patch\n"quoted"\n*** End Patch'
  await using provider = await startProvider([
    { toolCalls: [{ id: 'call_p', name: 'apply_patch', custom: true, input: patch, inputDeltas: 3 }] },
  ])
  const { createOpenAI } = await import('@ai-sdk/openai')
  const openai = createOpenAI({ baseURL: `${provider.url}/v1`, apiKey: 'test-key' })
  const apply = openai.tools.customTool({ description: 'Applies a patch' })
  const result = streamText({
    model: openai.responses('gpt-5'),
    prompt: 'Hi',
    tools: { apply_patch: apply },
    ...noRetry,
  })
  const parts = await collect(result.fullStream)
  assert.equal(inputDeltas(parts, 'call_p').length, 3)
  assert.equal(inputDeltas(parts, 'call_p').join(''), patch)
  assert.equal((await result.toolCalls)[0]?.input, patch)
})

test('a raw part passes a content block or output item on untouched', async () => {
  await using provider = await startProvider([
    { parts: [{ raw: { type: 'redacted_thinking', data: 'opaque' } }, { text: 'Done.' }] },
    {
      parts: [
        { raw: { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } } },
        { text: 'Found.' },
      ],
    },
  ])
  const anthropic = streamText({ model: clientOf('anthropic', provider), prompt: 'Hi', ...noRetry })
  await anthropic.consumeStream()
  assert.match(JSON.stringify(await anthropic.reasoning), /opaque/)
  const responses = streamText({ model: clientOf('responses', provider), prompt: 'Hi', ...noRetry })
  const parts = await collect(responses.fullStream)
  assert.ok(parts.some((part) => part.type === 'tool-call' && part.toolCallId === 'ws_1'))
  assert.equal(await responses.text, 'Found.')
})

test('an answer that a format cannot express is refused with the reason', async () => {
  const custom: ModelTurn = { toolCalls: [{ name: 'apply_patch', custom: true, input: 'x' }] }
  await using provider = await startProvider([custom, custom, { toolCalls: [{ name: 'a', input: '{broken' }] }])
  for (const format of ['anthropic', 'chat'] as const) {
    const error = await failureOf(generateText({ model: clientOf(format, provider), prompt: 'Hi' }))
    assert.match(error.message, /cannot be played: .*\(custom\) tools/)
  }
  const error = await failureOf(generateText({ model: clientOf('anthropic', provider), prompt: 'Hi' }))
  assert.match(error.message, /can only be streamed/)
  assert.deepEqual(
    provider.problems.map((problem) => problem.name),
    ['UnplayableTurn', 'UnplayableTurn', 'UnplayableTurn'],
  )
})

function inputDeltas(parts: readonly TextStreamPart<ToolSet>[], id: string): string[] {
  return parts.flatMap((part) => (part.type === 'tool-input-delta' && part.id === id ? [part.delta] : []))
}

async function failureOf(promise: Promise<unknown>): Promise<APICallError> {
  const error: unknown = await promise.then(
    () => assert.fail('should have failed'),
    (reason: unknown) => reason,
  )
  assert.ok(APICallError.isInstance(error), String(error))
  return error
}
