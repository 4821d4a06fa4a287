/** A stretch of a stream, both ends included. `to` is `null` for the thread's own open end. */
export interface LineageRange {
  readonly stream: string
  readonly from: number
  readonly to: number | null
}

/**
 * The stretches of streams a thread consists of, oldest first. Fork and rewind change this list and nothing else: no
 * record is copied, moved or cut off. Both an array and the list in a head, which grows with every rewind, are
 * lineages.
 */
export interface Lineage extends Iterable<LineageRange> {
  readonly length: number
  at(index: number): LineageRange | undefined
}

/** A lineage as JSON. */
export type StoredLineage = readonly LineageRange[]

export function rootLineage(stream: string): StoredLineage {
  return [{ stream, from: 1, to: null }]
}

/** The lineage up to and including `at`. */
export function lineageUpTo(lineage: Lineage, at: number): StoredLineage {
  const kept: LineageRange[] = []
  for (const range of lineage) {
    if (range.from > at) break
    kept.push(range.to !== null && range.to <= at ? range : { ...range, to: at })
  }
  return kept
}

/** The lineage of a new stream that continues from `at`: its first seq is `at + 1`. */
export function forkLineage(parent: Lineage, at: number, stream: string): StoredLineage {
  return [...lineageUpTo(parent, at), { stream, from: at + 1, to: null }]
}

/** The lineage after a rewind to `to`, made by the record with seq `recordedAt` of the thread's own stream. */
export function rewindLineage(lineage: Lineage, stream: string, to: number, recordedAt: number): StoredLineage {
  return [...lineageUpTo(lineage, to), { stream, from: recordedAt, to: null }]
}

export function lineageHolds(lineage: Lineage, seq: number): boolean {
  return rangeAt(lineage, seq) !== undefined
}

/** Seq only rises along a lineage, so a seq is in one range at most. */
export function rangeAt(lineage: Lineage, seq: number): LineageRange | undefined {
  const range = lineage.at(rangesFrom(lineage, seq) - 1)
  return range !== undefined && range.from <= seq && (range.to === null || seq <= range.to) ? range : undefined
}

/** Counts the ranges that begin at or before this seq. */
export function rangesFrom(lineage: Lineage, seq: number): number {
  let low = 0
  let high = lineage.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((lineage.at(middle)?.from ?? Infinity) <= seq) low = middle + 1
    else high = middle
  }
  return low
}
