/** A stretch of a stream, both ends included. `to` is open at the thread's own end. */
export interface LineageRange {
  readonly stream: string
  readonly from: number
  readonly to: number | null
}

/**
 * What a thread consists of: stretches of streams, oldest first. Fork and rewind change this list and nothing else;
 * no record is copied, moved or cut off.
 */
export type Lineage = readonly LineageRange[]

export function rootLineage(stream: string): Lineage {
  return [{ stream, from: 1, to: null }]
}

/** The lineage up to and including `at`. */
export function lineageUpTo(lineage: Lineage, at: number): Lineage {
  return lineage.flatMap((range) => {
    if (range.from > at) return []
    return [range.to !== null && range.to <= at ? range : { ...range, to: at }]
  })
}

/** The lineage of a new stream that goes on from `at`: its first seq is `at + 1`. */
export function forkLineage(parent: Lineage, at: number, stream: string): Lineage {
  return [...lineageUpTo(parent, at), { stream, from: at + 1, to: null }]
}

/** The lineage after a rewind to `to`, made by the record with seq `recordedAt` of the thread's own stream. */
export function rewindLineage(lineage: Lineage, stream: string, to: number, recordedAt: number): Lineage {
  return [...lineageUpTo(lineage, to), { stream, from: recordedAt, to: null }]
}

/** Seq only rises along a lineage, so a seq is in one range at most. */
export function lineageHolds(lineage: Lineage, seq: number): boolean {
  return lineage.some((range) => seq >= range.from && (range.to === null || seq <= range.to))
}

/** The stream in which this seq of the lineage was written. */
export function streamOf(lineage: Lineage, seq: number): string | undefined {
  return lineage.find((range) => seq >= range.from && (range.to === null || seq <= range.to))?.stream
}
