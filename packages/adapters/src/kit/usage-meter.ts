import { NO_USAGE, type UsageIncrement, type UsageTotals } from '@evener/protocol'

/** Token counts as a program reports them, each field from wherever it keeps it. Values are not to be trusted. */
export interface UsageNumbers {
  readonly inputTokens?: unknown
  readonly outputTokens?: unknown
  readonly totalTokens?: unknown
  readonly reasoningTokens?: unknown
  readonly cachedInputTokens?: unknown
  readonly cacheWriteInputTokens?: unknown
  readonly costUsd?: unknown
  /** The program counts cached and cache-written tokens as input too. Here each token is in one class. */
  readonly inputIncludesCache?: boolean
  /** The program does not count reasoning as output. Here it is a part of it. */
  readonly outputExcludesReasoning?: boolean
}

type Field = keyof UsageNumbers & keyof UsageTotals
type Counts = { -readonly [Key in Field]?: number }
type Scope = UsageIncrement['scope']

interface Share {
  readonly counts: Counts
  isKnown: boolean
}

const SCOPES: readonly Scope[] = ['own', 'subagents']

const FIELDS: readonly Field[] = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'reasoningTokens',
  'cachedInputTokens',
  'cacheWriteInputTokens',
  'costUsd',
]

export interface UsageMeterOptions {
  /** Where the program's counters stood before this run; `'unknown'` when it goes on counting from we know not where. */
  readonly baseline?: UsageTotals | 'unknown'
  /** Told about numbers that cannot be: they are ignored. */
  readonly warn: (message: string) => void
}

/**
 * Turns what a program says about usage into increments, whether it counts per step, per turn or since ever.
 *
 * Each input token is in one class: fresh (`inputTokens`), read from a cache, or written to one. Reasoning is a part of
 * the output.
 */
export class UsageMeter {
  readonly #warn: (message: string) => void
  #isKnown: boolean
  #last: Counts
  readonly #turn: Record<Scope, Share | undefined> = { own: undefined, subagents: undefined }

  constructor(options: UsageMeterOptions) {
    this.#warn = options.warn
    this.#isKnown = options.baseline !== 'unknown'
    this.#last = typeof options.baseline === 'object' ? { ...options.baseline } : {}
  }

  /** What was used since the last report. */
  add(numbers: UsageNumbers, scope: Scope = 'own'): UsageIncrement | undefined {
    const counts = this.#read(numbers)
    return counts === undefined ? undefined : this.#book(counts, scope, true)
  }

  /** What was used in all, ever: the difference to the last total is what counts. */
  total(numbers: UsageNumbers, scope: Scope = 'own'): UsageIncrement | undefined {
    const counts = this.#read(numbers)
    if (counts === undefined) return undefined
    const last = this.#last
    const isKnown = this.#isKnown
    let fallen: Field | undefined
    for (const field of FIELDS) {
      const now = counts[field]
      if (now === undefined) continue
      const before = last[field] ?? 0
      last[field] = now
      if (!isKnown) continue
      if (now < before) fallen ??= field
      counts[field] = now < before ? 0 : now - before
    }
    if (fallen !== undefined) this.#warn(`usage: ${fallen} fell to ${last[fallen]}, which counts as nothing used`)
    this.#isKnown = true
    return this.#book(counts, scope, isKnown)
  }

  /** Where the program's counters stand, when what was used is told apart from them. */
  mark(numbers: UsageNumbers): void {
    const counts = this.#read(numbers)
    if (counts !== undefined) Object.assign(this.#last, counts)
    this.#isKnown = true
  }

  /** Another native session begins: its counters start at nothing. */
  restart(): void {
    this.#last = {}
    this.#isKnown = true
  }

  /** What this turn has used so far, one increment for each scope. */
  turn(): readonly UsageIncrement[] {
    const increments: UsageIncrement[] = []
    for (const scope of SCOPES) {
      const share = this.#turn[scope]
      if (share !== undefined) increments.push(incrementOf(share.counts, scope, share.isKnown))
    }
    return increments
  }

  /** The next turn begins. */
  nextTurn(): void {
    this.#turn.own = undefined
    this.#turn.subagents = undefined
  }

  /** Where the program's own counters stand, for the next run that goes on from here. */
  get totals(): UsageTotals | undefined {
    if (!this.#isKnown || Object.keys(this.#last).length === 0) return undefined
    return { ...NO_USAGE, ...this.#last }
  }

  #book(counts: Counts, scope: Scope, isKnown: boolean): UsageIncrement {
    const share = this.#turn[scope]
    if (share === undefined) this.#turn[scope] = { counts: { ...counts }, isKnown }
    else {
      share.isKnown &&= isKnown
      for (const field of FIELDS) {
        const more = counts[field]
        if (more !== undefined) share.counts[field] = (share.counts[field] ?? 0) + more
      }
    }
    return incrementOf(counts, scope, isKnown)
  }

  #read(numbers: UsageNumbers): Counts | undefined {
    const counts: Counts = {}
    let found = false
    let bad: Field | undefined
    for (const field of FIELDS) {
      const value = numbers[field]
      if (value === undefined || value === null) continue
      if (isCount(value, field)) {
        counts[field] = value
        found = true
      } else bad ??= field
    }
    if (bad !== undefined) this.#warn(`usage: ${bad} is ${describe(numbers[bad])}, which is no count, and is ignored`)
    return found ? normalize(counts, numbers) : undefined
  }
}

function normalize(counts: Counts, { inputIncludesCache, outputExcludesReasoning }: UsageNumbers): Counts {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteInputTokens = 0, reasoningTokens = 0 } = counts
  if (inputIncludesCache === true && inputTokens !== undefined) {
    counts.inputTokens = Math.max(0, inputTokens - cachedInputTokens - cacheWriteInputTokens)
  }
  if (outputExcludesReasoning === true && outputTokens !== undefined)
    counts.outputTokens = outputTokens + reasoningTokens
  if (inputTokens !== undefined || outputTokens !== undefined) {
    counts.totalTokens ??=
      (counts.inputTokens ?? 0) + cachedInputTokens + cacheWriteInputTokens + (counts.outputTokens ?? 0)
  }
  return counts
}

function isCount(value: unknown, field: Field): value is number {
  if (typeof value !== 'number' || !(value >= 0)) return false
  return field === 'costUsd' ? value <= Number.MAX_SAFE_INTEGER : Number.isSafeInteger(value)
}

function describe(value: unknown): string {
  return typeof value === 'number' ? String(value) : typeof value
}

function incrementOf(counts: Counts, scope: Scope, isKnown: boolean): UsageIncrement {
  return isKnown ? { ...counts, source: 'reported', scope } : { ...counts, source: 'reported', scope, uncounted: true }
}
