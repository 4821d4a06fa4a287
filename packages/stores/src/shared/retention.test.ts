import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gapsBetween, isCovered, retainedRanges } from './retention.ts'

describe('what is retained of a stream', () => {
  it('is cut where the needers change and joined where they stay the same', () => {
    const needs = [
      { by: 'b', from: 1, to: 6 },
      { by: 'a', from: 1, to: 3 },
      { by: 'b', from: 7, to: 8 },
      { by: 'c', from: 20, to: 20 },
    ]
    assert.deepEqual(retainedRanges(needs), [
      { from: 1, to: 3, neededBy: ['a', 'b'] },
      { from: 4, to: 8, neededBy: ['b'] },
      { from: 20, to: 20, neededBy: ['c'] },
    ])
    assert.deepEqual(retainedRanges([]), [])
  })

  it('leaves gaps, whatever the order and overlap of the ranges', () => {
    const ranges = [
      { from: 5, to: 9 },
      { from: 2, to: 12 },
      { from: 6, to: 7 },
      { from: 20, to: 30 },
    ]
    assert.deepEqual(gapsBetween(ranges, 30), [
      { from: 0, to: 1 },
      { from: 13, to: 19 },
    ])
    assert.deepEqual(gapsBetween([], 3), [{ from: 0, to: 3 }])
    assert.deepEqual(gapsBetween([{ from: 0, to: 3 }], 3), [])
  })

  it('covers a range only as a whole', () => {
    const ranges = [
      { from: 1, to: 4 },
      { from: 5, to: 9 },
    ]
    assert.equal(isCovered({ from: 2, to: 8 }, ranges), true)
    assert.equal(isCovered({ from: 1, to: 9 }, ranges), true)
    assert.equal(isCovered({ from: 5, to: 10 }, ranges), false)
    assert.equal(isCovered({ from: 12, to: 13 }, ranges), false)
    assert.equal(isCovered({ from: 1, to: 1 }, []), false)
  })
})
