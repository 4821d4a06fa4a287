import type { JsonObject, JsonValue, UsageTotals } from '@inspan/protocol'
import type { Budget, BudgetLimit } from '@inspan/protocol/driver'

/** What a run has used up of its budget. */
export interface Spending {
  readonly usage: UsageTotals
  /** Working time; time spent in waits does not count. */
  readonly ms: number
}

/** Says that a limit is near or reached. */
export interface BudgetNotice {
  readonly limit: BudgetLimit
  readonly stage: 'near' | 'reached'
  readonly used: number
  readonly max: number
}

const LIMITS: readonly BudgetLimit[] = ['tokens', 'usd', 'ms']
const DEFAULT_WARN_AT = 0.8

/** Reports each limit once when it is near and once when it is reached, for any kind of agent. */
export class BudgetMeter {
  readonly #said: Set<string>

  /** `announced`: notices from an earlier turn or process, which are not repeated. */
  constructor(announced: readonly string[] = []) {
    // "reached" is repeated in every turn, because each of them has to end.
    this.#said = new Set(announced.filter((notice) => notice.endsWith(' near')))
  }

  check(budget: Budget, spending: Spending): BudgetNotice[] {
    return LIMITS.flatMap((limit) => {
      const max = budget[limit]
      if (max === undefined) return []
      const used = usedOf(limit, spending)
      const stages = ['near', 'reached'] as const
      return stages
        .filter((stage) => used >= (stage === 'near' ? max * (budget.warnAt ?? DEFAULT_WARN_AT) : max))
        .flatMap((stage) =>
          this.#isNew(budgetNotice({ limit, stage })) ? [{ limit, stage, used: rounded(limit, used), max }] : [],
        )
    })
  }

  #isNew(key: string): boolean {
    if (this.#said.has(key)) return false
    this.#said.add(key)
    return true
  }
}

/** Returns the key of a notice; a meter announces each key once. */
export function budgetNotice({ limit, stage }: JsonObject): string {
  return `${asText(limit)} ${asText(stage)}`
}

function asText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** Rounds a used amount for display. */
function rounded(limit: BudgetLimit, used: number): number {
  return Number(used.toFixed(limit === 'usd' ? 6 : 0))
}

function usedOf(limit: BudgetLimit, { ms, usage }: Spending): number {
  switch (limit) {
    case 'tokens':
      return usage.totalTokens
    case 'usd':
      return usage.costUsd
    case 'ms':
      return ms
  }
}
