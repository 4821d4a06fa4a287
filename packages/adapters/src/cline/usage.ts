import type { JsonObject, UsageIncrement } from '@evener/protocol'
import type { UsageMeter, UsageNumbers } from '../kit/usage-meter.ts'

/** Reports that wait for the one that repeats them: a version that repeats none must not fill the memory. */
const MAX_WAITING = 32

/**
 * Who used what. A teammate's report comes twice, bare and inside a team record, in either order; bare ones therefore wait
 * while there is a team, until the agent's own step has ended.
 */
export class UsageReports {
  readonly #meter: UsageMeter
  #bare: JsonObject[] = []
  #wrapped: JsonObject[] = []
  #hasAny = false

  constructor(meter: UsageMeter) {
    this.#meter = meter
  }

  ofAgent(report: JsonObject, hasTeam: boolean): UsageIncrement | undefined {
    this.#hasAny = true
    if (!hasTeam) return this.#meter.add(numbersOf(report))
    if (!takeEqual(this.#wrapped, report)) this.#bare.push(report)
    return undefined
  }

  ofSubagent(report: JsonObject): void {
    this.#hasAny = true
    this.#meter.add(numbersOf(report), 'subagents')
  }

  ofTeammate(report: JsonObject): void {
    this.#meter.add(numbersOf(report), 'subagents')
    if (takeEqual(this.#bare, report)) return
    this.#wrapped.push(report)
    if (this.#wrapped.length > MAX_WAITING) this.#wrapped.shift()
  }

  /** Reports that no team record repeated are the agent's. Gives the last. */
  settle(): UsageIncrement | undefined {
    let last: UsageIncrement | undefined
    for (const report of this.#bare) last = this.#meter.add(numbersOf(report)) ?? last
    this.#bare = []
    return last
  }

  /** The run's sum: counts only where the parts were not told. */
  sum(report: JsonObject): void {
    this.settle()
    if (!this.#hasAny) this.#meter.add(numbersOf(report))
  }
}

function numbersOf(report: JsonObject): UsageNumbers {
  // Zero is also what stands for a price that is not known.
  const cost = report['cost'] ?? (report['totalInputTokens'] === undefined ? report['totalCost'] : undefined)
  return {
    inputTokens: report['inputTokens'],
    outputTokens: report['outputTokens'],
    cachedInputTokens: report['cacheReadTokens'],
    cacheWriteInputTokens: report['cacheWriteTokens'],
    costUsd: cost === 0 ? undefined : cost,
    inputIncludesCache: true,
  }
}

const COMPARED = ['inputTokens', 'outputTokens', 'totalInputTokens', 'totalOutputTokens'] as const

function takeEqual(reports: JsonObject[], report: JsonObject): boolean {
  const at = reports.findIndex((other) => COMPARED.every((field) => other[field] === report[field]))
  if (at === -1) return false
  reports.splice(at, 1)
  return true
}
