import type { EraseResult } from '@inspan/protocol/store'

/** Both ends included. */
export interface Range {
  readonly from: number
  readonly to: number
}

export interface Need extends Range {
  readonly by: string
}

export interface RetainedRange extends Range {
  readonly neededBy: readonly string[]
}

/** Splits overlapping needs into ranges that each have one set of threads that need them. */
export function retainedRanges(needs: readonly Need[]): RetainedRange[] {
  const edges = [...new Set(needs.flatMap((need) => [need.from, need.to + 1]))].sort((a, b) => a - b)
  const pieces: RetainedRange[] = []
  for (const [index, from] of edges.entries()) {
    const next = edges[index + 1]
    if (next === undefined) break
    const by = needs.filter((need) => need.from <= from && need.to >= next - 1).map((need) => need.by)
    if (by.length > 0) pieces.push({ from, to: next - 1, neededBy: [...new Set(by)].sort() })
  }
  return joinSame(pieces)
}

function joinSame(pieces: readonly RetainedRange[]): RetainedRange[] {
  const joined: RetainedRange[] = []
  for (const piece of pieces) {
    const last = joined.at(-1)
    if (last !== undefined && last.to + 1 === piece.from && last.neededBy.join('\0') === piece.neededBy.join('\0')) {
      joined[joined.length - 1] = { ...last, to: piece.to }
    } else {
      joined.push(piece)
    }
  }
  return joined
}

/** Returns the gaps between the ranges, from 0 to `end`. */
export function gapsBetween(ranges: readonly Range[], end: number): Range[] {
  const gaps: Range[] = []
  let next = 0
  for (const range of [...ranges].sort((a, b) => a.from - b.from)) {
    if (range.from > next) gaps.push({ from: next, to: range.from - 1 })
    next = Math.max(next, range.to + 1)
  }
  if (next <= end) gaps.push({ from: next, to: end })
  return gaps
}

export function isCovered(range: Range, by: readonly Range[]): boolean {
  return gapsBetween(by, range.to).every((gap) => gap.to < range.from)
}

/** Adds the counts of one range. */
export function addErased(total: { -readonly [K in keyof EraseResult]: EraseResult[K] }, done: EraseResult): void {
  total.records += done.records
  total.messages += done.messages
  total.blobs += done.blobs
}
