import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { overflowOf } from './context-overflow.ts'

describe('a request that is longer than the context window', () => {
  const sayings: readonly [string, string, number | undefined][] = [
    ['Anthropic', 'prompt is too long: 210000 tokens > 200000 maximum', 200_000],
    [
      'OpenAI chat',
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      8192,
    ],
    [
      'OpenAI Responses',
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
      undefined,
    ],
    ['OpenAI by its code', 'context_length_exceeded', undefined],
    ['Google', 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', 1_048_576],
    ['Bedrock', 'Input is too long for requested model.', undefined],
    ['xAI', "This model's maximum prompt length is 131072 but the request contains 140000 tokens.", 131_072],
    ['Groq', 'Please reduce the length of the messages or completion.', undefined],
    ['Mistral', 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length', 32_768],
    ['llama.cpp', 'the request exceeds the available context size, try increasing it', undefined],
  ]
  for (const [provider, text, window] of sayings) {
    it(`is recognised in the words of ${provider}`, () => {
      assert.deepEqual(overflowOf(400, text), window === undefined ? {} : { window })
    })
  }

  it('is found in the body when the message is empty', () => {
    assert.deepEqual(overflowOf(400, 'Bad Request', '{"error":{"code":"context_length_exceeded"}}'), {})
  })

  it('is not a rate limit', () => {
    assert.equal(overflowOf(429, 'Request too large: maximum context length is 10'), undefined)
  })

  it('is not any other refusal', () => {
    for (const text of [
      'Invalid API key',
      'max_tokens: must be at least 1',
      'messages: text content blocks must be non-empty',
    ]) {
      assert.equal(overflowOf(400, text), undefined, text)
    }
  })
})
