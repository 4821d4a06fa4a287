import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { play, type CutPlan } from './cuts.fixture.ts'

const plan: fc.Arbitrary<CutPlan> = fc.record({
  cuts: fc.array(fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 12 })), { minLength: 4, maxLength: 12 }),
  stalls: fc.array(fc.nat({ max: 5 }), { maxLength: 4 }),
  said: fc.array(
    fc.record({
      client: fc.nat({ max: 1 }),
      twice: fc.boolean(),
      isImpossible: fc.nat({ max: 4 }).map((one) => one === 0),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  restarts: fc.uniqueArray(fc.nat({ max: 4 }), { maxLength: 2 }),
})

describe('connections cut at any message, slow readers, commands sent twice, servers restarted', () => {
  it('all clients end with the same state, and every command is carried out once or reported as rejected', async (t) => {
    const wanted = Number(process.env['INSPAN_CUTS'] ?? 300)
    const made = { cuts: 0 }
    const playing = fc.asyncProperty(plan, async (planned) => {
      made.cuts += await play(planned)
    })
    // A plan may end before all its cuts are made.
    while (made.cuts < wanted) await fc.assert(playing, { numRuns: 20 })
    t.diagnostic(`${made.cuts} cuts`)
  })
})
