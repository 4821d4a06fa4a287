import type { JsonObject, UsageIncrement } from '@inspan/protocol'
import type { UsageMeter, UsageNumbers } from '../kit/usage-meter.ts'

/** Limit for reports that wait for their repetition: a version that repeats none must not fill the memory. */
const MAX_WAITING = 32

/**
 * Assigns usage to the agent, its subagents and teammates. A teammate's report comes twice, bare and inside a team
 * record, in either order. If there is a team, bare reports therefore wait until the agent's own step has ended.
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

  /** Books the bare reports that no team record repeated as the agent's. Returns the last one. */
  settle(): UsageIncrement | undefined {
    let last: UsageIncrement | undefined
    for (const report of this.#bare) last = this.#meter.add(numbersOf(report)) ?? last
    this.#bare = []
    return last
  }

  /** Books the sum of the run, if no parts were reported. */
  sum(report: JsonObject): void {
    this.settle()
    if (!this.#hasAny) this.#meter.add(numbersOf(report))
  }
}

function numbersOf(report: JsonObject): UsageNumbers {
  // Zero may also mean an unknown price.
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
