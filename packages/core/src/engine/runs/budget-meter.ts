import type { Budget, BudgetLimit, JsonObject, JsonValue, UsageTotals } from '@evener/protocol'

/** What a run has used up of its budget. */
export interface Spending {
  readonly usage: UsageTotals
  /** Time at work: waiting for people costs nothing. */
  readonly ms: number
}

/** A limit that is near, or that is reached. */
export interface BudgetNotice {
  readonly limit: BudgetLimit
  readonly stage: 'near' | 'reached'
  readonly used: number
  readonly max: number
}

const LIMITS: readonly BudgetLimit[] = ['tokens', 'usd', 'ms']
const DEFAULT_WARN_AT = 0.8

/** Says once when a limit is near and once when it is reached, whatever kind of agent it is that spends. */
export class BudgetMeter {
  readonly #said: Set<string>

  /** `announced`: what was said already, in an earlier turn or process. */
  constructor(announced: readonly string[] = []) {
    // That a limit is reached is said to every turn: each of them has to end.
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
          this.#isNew(budgetNotice({ limit, stage })) ? [{ limit, stage, used: toTell(limit, used), max }] : [],
        )
    })
  }

  #isNew(key: string): boolean {
    if (this.#said.has(key)) return false
    this.#said.add(key)
    return true
  }
}

/** What goes by one name is announced once. */
export function budgetNotice({ limit, stage }: JsonObject): string {
  return `${asText(limit)} ${asText(stage)}`
}

function asText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** Without the digits that nobody reads. */
function toTell(limit: BudgetLimit, used: number): number {
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
