import { NO_USAGE, type UsageIncrement, type UsageTotals } from '@inspan/protocol'
import type { Mutable } from './event-parts.ts'
import {
  CACHE_WRITE,
  CACHED,
  COST,
  countOf,
  FIELDS,
  hasCounts,
  incrementOf,
  INPUT,
  isKnown,
  noCounts,
  OUTPUT,
  REASONING,
  setCounts,
  TOLD,
  TOLD_WITH_OWN_TOTAL,
  TOTAL,
  type Counts,
  type Field,
} from './usage-counts.ts'

/** Token counts as a CLI reports them, collected from its fields. The values are not trusted. */
export interface UsageNumbers {
  readonly inputTokens?: unknown
  readonly outputTokens?: unknown
  readonly totalTokens?: unknown
  readonly reasoningTokens?: unknown
  readonly cachedInputTokens?: unknown
  readonly cacheWriteInputTokens?: unknown
  readonly costUsd?: unknown
  /** The CLI counts cached and cache-written tokens as input too. Here each token is in one class. */
  readonly inputIncludesCache?: boolean
  /** The CLI does not count reasoning as output. Here it is part of the output. */
  readonly outputExcludesReasoning?: boolean
}

type UsageScope = UsageIncrement['scope']

interface Share {
  readonly counts: Counts
  /** The known fields, in the order in which they became known. */
  readonly order: number[]
  isKnown: boolean
}

type Counted = { -readonly [Key in Field]?: number }

const SCOPES: readonly UsageScope[] = ['own', 'subagents']

export interface UsageMeterOptions {
  /** The CLI's counters before this run. `'unknown'` if they continue from a value that we do not know. */
  readonly baseline?: UsageTotals | 'unknown'
  /** Called for impossible numbers, which are ignored. */
  readonly warn: (message: string) => void
}

/**
 * Turns reported usage into increments, whether a CLI counts per step, per turn or since the start of its session.
 *
 * Each input token is in one class: fresh (`inputTokens`), read from a cache, or written to one. Reasoning is part of
 * the output.
 */
export class UsageMeter {
  readonly #warn: (message: string) => void
  #isKnown: boolean
  /** The latest report, while it is being booked. */
  readonly #now: Counts = noCounts()
  /** The CLI reported no total, so the one in `#now` is computed. */
  #hasOwnTotal = false
  readonly #last: Counts = noCounts()
  readonly #turn: Record<UsageScope, Share | undefined> = { own: undefined, subagents: undefined }

  constructor(options: UsageMeterOptions) {
    this.#warn = options.warn
    this.#isKnown = options.baseline !== 'unknown'
    if (typeof options.baseline === 'object') {
      for (const [at, field] of FIELDS.entries()) this.#last[at] = options.baseline[field]
    }
  }

  /** Books usage since the last report and returns it. */
  add(numbers: UsageNumbers, scope: UsageScope = 'own'): UsageIncrement | undefined {
    if (!this.#read(numbers)) return undefined
    this.#book(scope, true)
    return this.#increment(scope, true)
  }

  /** The same without an increment, for callers that do not need it. */
  count(numbers: UsageNumbers, scope: UsageScope = 'own'): void {
    if (this.#read(numbers)) this.#book(scope, true)
  }

  /** Books cumulative usage: the difference to the last total counts. Returns the difference. */
  total(numbers: UsageNumbers, scope: UsageScope = 'own'): UsageIncrement | undefined {
    if (!this.#read(numbers)) return undefined
    return this.#increment(scope, this.#bookTotal(scope))
  }

  /** The same without an increment, for callers that do not need it. */
  countTotal(numbers: UsageNumbers): void {
    if (this.#read(numbers)) this.#bookTotal('own')
  }

  /** Returns whether the value that the counters started at is known. */
  #bookTotal(scope: UsageScope): boolean {
    const now = this.#now
    const last = this.#last
    const isCounted = this.#isKnown
    let fallen = -1
    for (let at = 0; at < FIELDS.length; at += 1) {
      if (!isKnown(now, at)) continue
      const ever = countOf(now, at)
      const before = countOf(last, at)
      last[at] = ever
      if (!isCounted) continue
      if (ever < before && fallen === -1) fallen = at
      now[at] = ever < before ? 0 : ever - before
    }
    if (fallen !== -1) this.#warn(`usage: ${FIELDS[fallen]} fell to ${last[fallen]}, which counts as nothing used`)
    this.#isKnown = true
    this.#book(scope, isCounted)
    return isCounted
  }

  /** Sets the CLI's counters, when usage is reported apart from them. */
  mark(numbers: UsageNumbers): void {
    if (this.#read(numbers)) setCounts(this.#last, this.#now)
    this.#isKnown = true
  }

  /** Begins another native session, whose counters start at zero. */
  restart(): void {
    this.#last.fill(Number.NaN)
    this.#isKnown = true
  }

  /** Returns what this turn has used so far, one increment per scope. */
  turn(): readonly UsageIncrement[] {
    const increments: UsageIncrement[] = []
    for (const scope of SCOPES) {
      const share = this.#turn[scope]
      if (share !== undefined) increments.push(sumOf(share, scope))
    }
    return increments
  }

  /** Begins the next turn. */
  nextTurn(): void {
    this.#turn.own = undefined
    this.#turn.subagents = undefined
  }

  /** The CLI's own counters, for the next run that resumes the session. */
  get totals(): UsageTotals | undefined {
    if (!this.#isKnown || !hasCounts(this.#last)) return undefined
    const totals: Mutable<UsageTotals> = { ...NO_USAGE }
    for (const [at, field] of FIELDS.entries()) totals[field] = countOf(this.#last, at)
    return totals
  }

  #book(scope: UsageScope, isCounted: boolean): void {
    const share = (this.#turn[scope] ??= { counts: noCounts(), order: [], isKnown: true })
    share.isKnown &&= isCounted
    this.#addTo(share)
  }

  #increment(scope: UsageScope, isCounted: boolean): UsageIncrement {
    return incrementOf(this.#now, scope, isCounted, this.#hasOwnTotal)
  }

  #addTo({ counts, order }: Share): void {
    const now = this.#now
    for (let place = 0; place < TOLD.length; place += 1) {
      const at = (this.#hasOwnTotal ? TOLD_WITH_OWN_TOTAL : TOLD)[place] ?? 0
      if (!isKnown(now, at)) continue
      if (!isKnown(counts, at)) order.push(at)
      counts[at] = countOf(counts, at) + countOf(now, at)
    }
  }

  /** Returns false if nothing was reported. */
  #read(numbers: UsageNumbers): boolean {
    const now = this.#now
    now[INPUT] = asTokens(numbers.inputTokens)
    now[OUTPUT] = asTokens(numbers.outputTokens)
    now[TOTAL] = asTokens(numbers.totalTokens)
    now[REASONING] = asTokens(numbers.reasoningTokens)
    now[CACHED] = asTokens(numbers.cachedInputTokens)
    now[CACHE_WRITE] = asTokens(numbers.cacheWriteInputTokens)
    now[COST] = asCost(numbers.costUsd)
    const bad = firstBad(numbers, now)
    if (bad !== undefined) this.#warn(`usage: ${bad} is ${describe(numbers[bad])}, which is no count, and is ignored`)
    if (!hasCounts(now)) return false
    this.#normalize(numbers)
    return true
  }

  #normalize({ inputIncludesCache, outputExcludesReasoning }: UsageNumbers): void {
    const now = this.#now
    const cached = countOf(now, CACHED) + countOf(now, CACHE_WRITE)
    if (inputIncludesCache === true && isKnown(now, INPUT)) now[INPUT] = Math.max(0, countOf(now, INPUT) - cached)
    if (outputExcludesReasoning === true && isKnown(now, OUTPUT))
      now[OUTPUT] = countOf(now, OUTPUT) + countOf(now, REASONING)
    this.#hasOwnTotal = !isKnown(now, TOTAL)
    if (this.#hasOwnTotal && (isKnown(now, INPUT) || isKnown(now, OUTPUT))) {
      now[TOTAL] = countOf(now, INPUT) + cached + countOf(now, OUTPUT)
    }
  }
}

function asTokens(value: unknown): number {
  return typeof value === 'number' && value >= 0 && Number.isSafeInteger(value) ? value : Number.NaN
}

function asCost(value: unknown): number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : Number.NaN
}

/** Returns the first reported field that is not a count. */
function firstBad(numbers: UsageNumbers, counts: Counts): Field | undefined {
  if (
    !isBad(numbers.inputTokens, counts, INPUT) &&
    !isBad(numbers.outputTokens, counts, OUTPUT) &&
    !isBad(numbers.totalTokens, counts, TOTAL) &&
    !isBad(numbers.reasoningTokens, counts, REASONING) &&
    !isBad(numbers.cachedInputTokens, counts, CACHED) &&
    !isBad(numbers.cacheWriteInputTokens, counts, CACHE_WRITE) &&
    !isBad(numbers.costUsd, counts, COST)
  )
    return undefined
  return FIELDS.find((field, at) => isBad(numbers[field], counts, at))
}

function isBad(value: unknown, counts: Counts, at: number): boolean {
  return value !== undefined && value !== null && !isKnown(counts, at)
}

function sumOf({ counts, order, isKnown: isCounted }: Share, scope: UsageScope): UsageIncrement {
  const sum: Counted = {}
  for (const at of order) sum[FIELDS[at] ?? 'totalTokens'] = countOf(counts, at)
  return isCounted ? { ...sum, source: 'reported', scope } : { ...sum, source: 'reported', scope, uncounted: true }
}

function describe(value: unknown): string {
  return typeof value === 'number' ? String(value) : typeof value
}
