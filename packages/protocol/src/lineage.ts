/** A stretch of a stream, both ends included. `to` is open at the thread's own end. */
export interface LineageRange {
  readonly stream: string
  readonly from: number
  readonly to: number | null
}

/**
 * What a thread consists of: stretches of streams, oldest first. Fork and rewind change this list and nothing else;
 * no record is copied, moved or cut off. An array is one, and so is the list a head keeps, which grows with every rewind.
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

/** The lineage of a new stream that goes on from `at`: its first seq is `at + 1`. */
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

/** The stream in which this seq of the lineage was written. */
export function streamOf(lineage: Lineage, seq: number): string | undefined {
  return rangeAt(lineage, seq)?.stream
}

/** Seq only rises along a lineage, so a seq is in one range at most. */
export function rangeAt(lineage: Lineage, seq: number): LineageRange | undefined {
  const range = lineage.at(rangesFrom(lineage, seq) - 1)
  return range !== undefined && range.from <= seq && (range.to === null || seq <= range.to) ? range : undefined
}

/** How many ranges begin at or before this seq. */
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
