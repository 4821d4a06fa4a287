import assert from 'node:assert/strict'
import { test } from 'node:test'
import { finishReasonOf, usageOf } from './language-model.ts'

test('finish reasons of every specification are understood, unknown ones are "other"', () => {
  assert.equal(finishReasonOf('tool-calls'), 'tool-calls')
  assert.equal(finishReasonOf({ unified: 'length', raw: 'max_tokens' }), 'length')
  assert.equal(finishReasonOf({ unified: 'interrupted', raw: undefined }), 'error')
  for (const strange of ['weird', undefined, null, 7, {}]) assert.equal(finishReasonOf(strange), 'other')
})

test('flat usage is taken as it is, what is not reported stays out', () => {
  assert.deepEqual(usageOf({ inputTokens: 3, outputTokens: undefined, totalTokens: 3 }), {
    inputTokens: 3,
    totalTokens: 3,
  })
})

test('flat usage counts cached tokens once, whether its provider has them among the others or apart', () => {
  const flat = { inputTokens: 100, outputTokens: 9, totalTokens: 109, cachedInputTokens: 70 }
  assert.deepEqual(usageOf(flat), { ...flat, inputTokens: 30 })
  assert.deepEqual(usageOf(flat, { openai: { responseId: 'r' } }), { ...flat, inputTokens: 30 })
  // Anthropic and Bedrock count cached tokens separately, and report cache writes only in their own metadata.
  assert.deepEqual(usageOf(flat, { anthropic: { cacheCreationInputTokens: 10 } }), {
    ...flat,
    cacheWriteInputTokens: 10,
  })
  assert.deepEqual(usageOf(flat, { bedrock: { usage: { cacheWriteInputTokens: 20 } } }), {
    ...flat,
    cacheWriteInputTokens: 20,
  })
  assert.deepEqual(usageOf(flat, { anthropic: { cacheCreationInputTokens: null } }), flat)
  // More cached tokens than input tokens: the input cannot include them.
  assert.equal(usageOf({ inputTokens: 4_532, outputTokens: 222, cachedInputTokens: 5_439 }).inputTokens, 4_532)
})

test('usage in parts separates cached tokens from others', () => {
  assert.deepEqual(
    usageOf({
      inputTokens: { total: 100, noCache: 20, cacheRead: 70, cacheWrite: 10 },
      outputTokens: { total: 9, text: 5, reasoning: 4 },
    }),
    {
      inputTokens: 20,
      outputTokens: 9,
      totalTokens: 109,
      reasoningTokens: 4,
      cachedInputTokens: 70,
      cacheWriteInputTokens: 10,
    },
  )
})

test('a provider that reports only how many of all were cached means that the others were not', () => {
  const outputTokens = { total: 9 }
  const inputOf = (inputTokens: object): number | undefined => usageOf({ inputTokens, outputTokens }).inputTokens
  assert.equal(inputOf({ total: 100, cacheRead: 70, cacheWrite: 10 }), 20)
  assert.equal(inputOf({ total: 100, cacheRead: 70 }), 30)
  assert.equal(inputOf({ total: 100 }), 100)
  // Counts never become negative.
  assert.equal(inputOf({ total: 10, cacheRead: 70 }), 0)
  assert.equal(inputOf({ cacheRead: 70 }), undefined)
})

test('usage that is none gives nothing', () => {
  for (const strange of [undefined, null, 'many', 5]) assert.deepEqual(usageOf(strange), {})
})
