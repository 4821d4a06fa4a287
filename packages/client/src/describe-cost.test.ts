import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeCost } from './describe-cost.ts'

test('a cost is marked as billed or estimated, or by how much of it is an estimate', () => {
  assert.equal(describeCost({ costUsd: 0 }), '')
  assert.equal(describeCost({ costUsd: 0.5 }), '$0.5000 billed')
  assert.equal(describeCost({ costUsd: 0.1 + 0.2, estimatedUsd: 0.3 }), '$0.3000 estimated')
  assert.equal(describeCost({ costUsd: 0.5, estimatedUsd: 0.2 }), '$0.5000, $0.2000 of it estimated')
})
