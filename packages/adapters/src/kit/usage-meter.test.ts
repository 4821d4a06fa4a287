import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { NO_USAGE } from '@inspan/protocol'
import { UsageMeter, type UsageMeterOptions } from './usage-meter.ts'

function meter(options: Omit<UsageMeterOptions, 'warn'> = {}): {
  readonly usage: UsageMeter
  readonly warnings: string[]
} {
  const warnings: string[] = []
  return { usage: new UsageMeter({ ...options, warn: (message) => warnings.push(message) }), warnings }
}

describe('usage', () => {
  it('adds up usage that is reported per step', () => {
    const { usage } = meter()
    usage.add({ inputTokens: 10, outputTokens: 2 })
    usage.add({ inputTokens: 5, outputTokens: 1, cachedInputTokens: 3 })
    assert.deepEqual(usage.turn(), [
      { inputTokens: 15, outputTokens: 3, totalTokens: 21, cachedInputTokens: 3, source: 'reported', scope: 'own' },
    ])
  })

  it('counts usage that is reported as a total from the total before', () => {
    const { usage, warnings } = meter()
    assert.equal(usage.total({ inputTokens: 100, outputTokens: 10 })?.inputTokens, 100)
    assert.equal(usage.total({ inputTokens: 150, outputTokens: 15 })?.inputTokens, 50)
    assert.equal(usage.turn()[0]?.inputTokens, 150)
    assert.equal(usage.totals?.inputTokens, 150)
    assert.deepEqual(warnings, [])
  })

  it('a baseline from an earlier run counts, an unknown one marks the first increment', () => {
    const resumed = meter({ baseline: { ...NO_USAGE, inputTokens: 90 } }).usage
    assert.equal(resumed.total({ inputTokens: 100 })?.inputTokens, 10)
    const lost = meter({ baseline: 'unknown' }).usage
    assert.equal(lost.totals, undefined)
    assert.deepEqual(lost.total({ inputTokens: 100 })?.uncounted, true)
    assert.equal(lost.total({ inputTokens: 130 })?.inputTokens, 30)
    assert.equal(lost.total({ inputTokens: 130 })?.uncounted, undefined)
  })

  it('a counter that goes back counts nothing and continues from there, with one warning', () => {
    const { usage, warnings } = meter()
    usage.total({ inputTokens: 100, outputTokens: 10 })
    assert.equal(usage.total({ inputTokens: 40, outputTokens: 4 })?.inputTokens, 0)
    assert.equal(usage.total({ inputTokens: 50, outputTokens: 5 })?.inputTokens, 10)
    assert.equal(warnings.length, 1)
  })

  it('negative, fractional, infinite and inexact numbers are ignored with one warning', () => {
    for (const bad of [-1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 0.5, '7', {}, []]) {
      const { usage, warnings } = meter()
      assert.deepEqual(usage.add({ inputTokens: bad, outputTokens: 3 }), {
        outputTokens: 3,
        totalTokens: 3,
        source: 'reported',
        scope: 'own',
      })
      assert.equal(warnings.length, 1)
    }
    const { usage, warnings } = meter()
    assert.equal(usage.add({ inputTokens: null, outputTokens: undefined }), undefined)
    assert.deepEqual(warnings, [])
  })

  it('each input token is in one class, and reasoning is a part of the output', () => {
    const { usage } = meter()
    const counted = usage.add({
      inputTokens: 100,
      cachedInputTokens: 60,
      cacheWriteInputTokens: 10,
      inputIncludesCache: true,
      outputTokens: 5,
      reasoningTokens: 7,
      outputExcludesReasoning: true,
    })
    assert.equal(counted?.inputTokens, 30)
    assert.equal(counted?.outputTokens, 12)
    assert.equal(counted?.totalTokens, 112)
  })

  it('keeps subagents apart and starts each turn at nothing', () => {
    const { usage } = meter()
    usage.add({ inputTokens: 1 })
    usage.add({ inputTokens: 2 }, 'subagents')
    assert.deepEqual(
      usage.turn().map(({ scope, inputTokens }) => [scope, inputTokens]),
      [
        ['own', 1],
        ['subagents', 2],
      ],
    )
    usage.nextTurn()
    assert.deepEqual(usage.turn(), [])
  })

  it('never counts below zero, whatever is reported', () => {
    const value = fc.oneof(fc.integer(), fc.double(), fc.string(), fc.constant(null))
    const numbers = fc.record({ inputTokens: value, outputTokens: value, costUsd: value }, { requiredKeys: [] })
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), numbers)), (reports) => {
        const { usage } = meter()
        for (const [isTotal, report] of reports) {
          const counted = isTotal ? usage.total(report) : usage.add(report)
          for (const count of Object.values(counted ?? {})) assert.ok(typeof count !== 'number' || count >= 0)
        }
      }),
      { seed: 5 },
    )
  })
})
