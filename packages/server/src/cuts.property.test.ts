import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { play, type Plan } from './cuts.fixture.ts'

const plan: fc.Arbitrary<Plan> = fc.record({
  cuts: fc.array(fc.nat({ max: 12 }), { minLength: 2, maxLength: 8 }),
  said: fc.array(fc.record({ client: fc.nat({ max: 1 }), twice: fc.boolean() }), { minLength: 1, maxLength: 5 }),
  restarts: fc.uniqueArray(fc.nat({ max: 4 }), { maxLength: 2 }),
})

describe('connections that are cut at any message, commands that are sent twice, servers that are restarted', () => {
  it('all clients end with the same state, and every command is carried out exactly once', async () => {
    const numRuns = Number(process.env['INSPAN_CUTS'] ?? 60)
    await fc.assert(fc.asyncProperty(plan, play), { numRuns })
  })
})
