import type { Budget, TurnOutput } from '@inspan/protocol/driver'
import * as fc from 'fast-check'
import { arbitraryJsonObject, arbitraryText } from './json.ts'
import { shape } from './shape.ts'

export const arbitraryTurnOutput: fc.Arbitrary<TurnOutput> = shape<TurnOutput>(
  { schema: arbitraryJsonObject },
  { name: arbitraryText, description: arbitraryText, repairs: fc.nat({ max: 3 }) },
)

export const arbitraryBudget: fc.Arbitrary<Budget> = shape<Budget>(
  {},
  { tokens: fc.nat(), usd: fc.nat(), ms: fc.nat(), warnAt: fc.double({ min: 0, max: 1, noNaN: true }) },
)
