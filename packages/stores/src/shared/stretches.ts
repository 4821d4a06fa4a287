import { InspanError } from '@inspan/protocol'
import type { Lineage } from '@inspan/protocol/log'
import type { PageRequest } from '@inspan/protocol/store'
import { CursorScope } from './cursor.ts'
import { checkId, checkSeq, isSeq, MAX_SEQ } from './input-checks.ts'

/** A range of one stream, both ends included. */
export interface Stretch {
  readonly stream: string
  readonly from: number
  readonly to: number
  /** True for the end of the lineage, where records are still added. */
  readonly isOpen: boolean
}

/** Returns the ranges of the lineage limited to `from`–`to`, oldest first. */
export function stretchesOf(lineage: Lineage, from = 1, to: number = MAX_SEQ): Stretch[] {
  const stretches: Stretch[] = []
  let previous = 0
  for (const range of lineage) {
    checkId('The stream of a lineage range', range.stream)
    if (!isSeq(range.from) || !(range.to === null || isSeq(range.to, 0)) || range.from <= previous) {
      throw new InspanError('invalid-input', 'A lineage is a list of ranges whose seq only rises.', {
        details: { lineage },
      })
    }
    previous = range.to ?? MAX_SEQ
    const cut = { from: Math.max(range.from, from), to: Math.min(range.to ?? MAX_SEQ, to) }
    if (cut.from <= cut.to) stretches.push({ stream: range.stream, ...cut, isOpen: range.to === null })
  }
  return stretches
}

/** Returns the stream that a lineage belongs to: the last one, which is still written. */
export function ownStream(lineage: Lineage): string {
  const last = lineage.at(-1)
  if (last === undefined) throw new InspanError('invalid-input', 'A lineage has at least one range.')
  return last.stream
}

/** Returns the ranges of other streams in a fork or rewind record. */
export function foreignStretches(stream: string, lineage: Lineage): Stretch[] {
  const foreign = stretchesOf(lineage).filter((stretch) => stretch.stream !== stream)
  if (foreign.some((stretch) => stretch.isOpen)) {
    throw new InspanError('misuse', `The lineage recorded in ${stream} names another stream without an end.`)
  }
  return foreign
}

export interface ForksQuery extends PageRequest {
  readonly stream: string
  readonly from: number
  readonly to: number
}

/** Forks are listed by their ids. */
export function forksScope({ stream, from, to }: ForksQuery): CursorScope<readonly [string]> {
  checkId('A stream id', stream)
  checkSeq('`from`', from)
  checkSeq('`to`', to)
  return new CursorScope(['forks', stream, from, to], [''])
}
