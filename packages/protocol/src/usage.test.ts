import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUsage, contextUsage, NO_USAGE, subtractUsage } from './usage.ts'

test('increments add up, and the total is input and output where none is given', () => {
  const totals = addUsage(addUsage(NO_USAGE, { inputTokens: 3, outputTokens: 2 }), { totalTokens: 10, costUsd: 0.5 })
  assert.equal(totals.totalTokens, 15)
  assert.equal(totals.inputTokens, 3)
  assert.equal(totals.costUsd, 0.5)
})

test('negative, infinite and missing numbers count as nothing', () => {
  const hostile = { inputTokens: -5, outputTokens: NaN, reasoningTokens: Infinity }
  assert.deepEqual(addUsage(NO_USAGE, hostile), NO_USAGE)
})

test('the context window is filled by cached tokens too, and never above one', () => {
  assert.equal(
    contextUsage({ inputTokens: 10, cachedInputTokens: 80, cacheWriteInputTokens: 10 }, 200).usedFraction,
    0.5,
  )
  assert.equal(contextUsage({ inputTokens: 500 }, 200).usedFraction, 1)
  assert.equal(contextUsage({ outputTokens: 5 }, 200).usedFraction, undefined)
  assert.equal(contextUsage({ cachedInputTokens: 50 }, 200).usedFraction, 0.25)
  assert.equal(contextUsage({ cacheWriteInputTokens: 20 }, 200).usedFraction, 0.1)
})

test('usage of a turn beyond its steps is the rest, and nothing if the steps reported everything', () => {
  const steps = addUsage(NO_USAGE, { inputTokens: 10, outputTokens: 2 })
  assert.deepEqual(subtractUsage({ inputTokens: 15, outputTokens: 2 }, steps), { inputTokens: 5 })
  assert.equal(subtractUsage({ inputTokens: 10, outputTokens: 1 }, steps), undefined)
})

test('how much of a cost is an estimate is added up as well', () => {
  const estimated = addUsage(NO_USAGE, { inputTokens: 1, costUsd: 0.5, estimatedUsd: 0.5 })
  assert.equal(addUsage(estimated, { costUsd: 0.25 }).estimatedUsd, 0.5)
  assert.equal(addUsage(estimated, { costUsd: 0.25, estimatedUsd: 0.25 }).estimatedUsd, 0.75)
  assert.equal('estimatedUsd' in addUsage(NO_USAGE, { costUsd: 1 }), false)
})
