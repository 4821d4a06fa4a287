import { addUsage, NO_USAGE, type UsageIncrement, type UsageTotals } from '@evener/protocol'

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
  #known: boolean
  #last: Counts
  #turn: UsageIncrement[] = []

  constructor(options: UsageMeterOptions) {
    this.#warn = options.warn
    this.#known = options.baseline !== 'unknown'
    this.#last = typeof options.baseline === 'object' ? { ...options.baseline } : {}
  }

  /** What was used since the last report. */
  add(numbers: UsageNumbers, scope: UsageIncrement['scope'] = 'own'): UsageIncrement | undefined {
    const counts = this.#read(numbers)
    return counts === undefined ? undefined : this.#book(counts, scope, false)
  }

  /** What was used in all, ever: the difference to the last total is what counts. */
  total(numbers: UsageNumbers, scope: UsageIncrement['scope'] = 'own'): UsageIncrement | undefined {
    const counts = this.#read(numbers)
    if (counts === undefined) return undefined
    const more: Counts = {}
    for (const field of FIELDS) {
      const now = counts[field]
      if (now === undefined) continue
      const before = this.#last[field] ?? 0
      if (now < before) this.#warn(`usage: ${field} went from ${before} back to ${now}, which counts as nothing used`)
      more[field] = this.#known ? Math.max(0, now - before) : now
      this.#last[field] = now
    }
    const uncounted = !this.#known
    this.#known = true
    return this.#book(more, scope, uncounted)
  }

  /** Where the program's counters stand, when what was used is told apart from them. */
  mark(numbers: UsageNumbers): void {
    const counts = this.#read(numbers)
    if (counts !== undefined) Object.assign(this.#last, counts)
    this.#known = true
  }

  /** What this turn has used so far, one increment for each scope. */
  turn(): readonly UsageIncrement[] {
    return (['own', 'subagents'] as const).flatMap((scope) => {
      const parts = this.#turn.filter((part) => part.scope === scope)
      return parts.length === 0 ? [] : [sum(parts)]
    })
  }

  /** The next turn begins. */
  nextTurn(): void {
    this.#turn = []
  }

  /** Where the program's own counters stand, for the next run that goes on from here. */
  get totals(): UsageTotals | undefined {
    if (!this.#known || Object.keys(this.#last).length === 0) return undefined
    return { ...NO_USAGE, ...this.#last }
  }

  #book(counts: Counts, scope: UsageIncrement['scope'], uncounted: boolean): UsageIncrement {
    const increment: UsageIncrement = {
      ...counts,
      source: 'reported',
      scope,
      ...(uncounted ? { uncounted: true } : {}),
    }
    const same = this.#turn.findIndex((part) => part.scope === scope && (part.uncounted === true) === uncounted)
    const before = this.#turn[same]
    if (before === undefined) this.#turn.push(increment)
    else this.#turn[same] = sum([before, increment])
    return increment
  }

  #read(numbers: UsageNumbers): Counts | undefined {
    const counts: Counts = {}
    let found = false
    for (const field of FIELDS) {
      const value = numbers[field]
      if (value === undefined || value === null) continue
      if (!isCount(value, field)) {
        this.#warn(`usage: ${field} is ${describe(value)}, which is no count, and is ignored`)
        continue
      }
      counts[field] = value
      found = true
    }
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
  if (counts.inputTokens !== undefined || counts.outputTokens !== undefined) {
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

function sum(parts: readonly UsageIncrement[]): UsageIncrement {
  const totals = parts.reduce((sums, part) => addUsage(sums, part), NO_USAGE)
  const counts: Counts = {}
  for (const field of FIELDS) if (parts.some((part) => part[field] !== undefined)) counts[field] = totals[field]
  const [first] = parts
  return {
    ...counts,
    source: 'reported',
    scope: first?.scope ?? 'own',
    ...(parts.some((part) => part.uncounted === true) ? { uncounted: true } : {}),
  }
}
