import {
  aCount,
  anAmount,
  anObject,
  anything,
  aPositiveCount,
  aShare,
  aText,
  checkOptions,
  oneOf,
  words,
  type OptionRules,
} from './check-fields.ts'
import type { Budget, TurnDefaults, TurnOutput } from './driver.ts'

const BUDGET: OptionRules<Budget> = { tokens: anAmount, usd: anAmount, ms: anAmount, warnAt: aShare }

const OUTPUT: OptionRules<TurnOutput> = { schema: anObject, name: aText, description: words, repairs: aCount }

const TURN: OptionRules<TurnDefaults> = {
  model: aText,
  effort: oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
  instructions: words,
  cwd: aText,
  maxSteps: aPositiveCount,
  providerOptions: anObject,
  output: anything,
  budget: anything,
  onLimit: oneOf('fail', 'park'),
}

/** Refuses a limit that can never be reached, or that is reached before anything was used. */
export function checkBudget(what: string, budget: Budget | undefined): void {
  if (budget !== undefined) checkOptions(`the budget of ${what}`, budget, BUDGET)
}

/** Refuses defaults that no turn can have, and names the field. */
export function checkTurnDefaults(what: string, turn: TurnDefaults | undefined): void {
  if (turn === undefined) return
  checkOptions(what, turn, TURN)
  checkBudget(what, turn.budget)
  if (turn.output !== undefined) checkOptions(`the output of ${what}`, turn.output, OUTPUT, ['schema'])
}
