import { InspanError } from '@inspan/protocol'
import type { Lineage } from '@inspan/protocol/log'
import type { MessageQuery, RecordQuery } from '@inspan/protocol/store'
import { CursorScope } from './cursor.ts'
import { checkSeq, MAX_SEQ, pageLimit } from './input-checks.ts'
import { ownStream, stretchesOf, type Stretch } from './stretches.ts'

/** The stretches to read, in order, until `limit + 1` rows are found. */
export interface ReadPlan {
  readonly limit: number
  readonly stretches: readonly Stretch[]
  readonly isDescending: boolean
  /** Returns the cursor of the page that begins after this seq. */
  cursorAfter(seq: number): string
}

export function planRecords(lineage: Lineage, query: RecordQuery): ReadPlan {
  const limit = pageLimit(query)
  const { after = 0, upTo = MAX_SEQ } = query
  checkSeq('`after`', after, 0)
  checkSeq('`upTo`', upTo, 0)
  const scope = new CursorScope(['records', ownStream(lineage), upTo], [after])
  const [position] = scope.decode(query.cursor)
  return {
    limit,
    stretches: stretchesOf(lineage, position + 1, upTo),
    isDescending: false,
    cursorAfter: (seq) => scope.encode([seq]),
  }
}

export function planMessages(lineage: Lineage, query: MessageQuery): ReadPlan {
  if (query.order !== 'newest' && query.order !== 'oldest') {
    throw new InspanError('invalid-input', 'Messages are listed `newest` or `oldest` first.')
  }
  const limit = pageLimit(query)
  const isDescending = query.order === 'newest'
  const scope = new CursorScope(['messages', query.order, ownStream(lineage)], [isDescending ? MAX_SEQ + 1 : 0])
  const [position] = scope.decode(query.cursor)
  return {
    limit,
    stretches: isDescending ? stretchesOf(lineage, 1, position - 1).reverse() : stretchesOf(lineage, position + 1),
    isDescending,
    cursorAfter: (seq) => scope.encode([seq]),
  }
}
