import {
  aCount,
  anAmount,
  anObject,
  aPositiveCount,
  aShare,
  aText,
  checkFields,
  words,
  type FieldRules,
} from './check-fields.ts'
import type { Budget, TurnDefaults, TurnOutput } from './driver.ts'

const BUDGET: FieldRules<Budget> = { tokens: anAmount, usd: anAmount, ms: anAmount, warnAt: aShare }

const OUTPUT: FieldRules<TurnOutput> = { schema: anObject, name: aText, description: words, repairs: aCount }

const TURN: FieldRules<TurnDefaults> = {
  model: aText,
  instructions: words,
  cwd: aText,
  maxSteps: aPositiveCount,
  providerOptions: anObject,
}

/** Refuses a limit that nothing ever reaches, or that is reached before anything was used. */
export function checkBudget(what: string, budget: Budget | undefined): void {
  if (budget !== undefined) checkFields(`the budget of ${what}`, budget, BUDGET)
}

/** Refuses what cannot hold for a turn, and says of which field. */
export function checkTurnDefaults(what: string, turn: TurnDefaults | undefined): void {
  if (turn === undefined) return
  checkFields(what, turn, TURN)
  checkBudget(what, turn.budget)
  if (turn.output !== undefined) checkFields(`the output of ${what}`, turn.output, OUTPUT, ['schema'])
}
