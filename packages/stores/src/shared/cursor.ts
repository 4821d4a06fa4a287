import { InspanError } from '@inspan/protocol'
import type { Page, PageRequest } from '@inspan/protocol/store'
import { pageLimit } from './input-checks.ts'
import { pageOf } from './paging.ts'

type Position = readonly [string | number, ...(string | number)[]]

/**
 * Encodes and decodes the cursors of one list. A cursor names its list, so that one of another list, filter or thread
 * is refused instead of quietly returning the wrong page.
 */
export class CursorScope<P extends Position> {
  readonly #scope: string
  readonly #start: P

  /** `start` is the position before the first item. */
  constructor(scope: readonly (string | number | boolean | null | undefined)[], start: P) {
    this.#scope = JSON.stringify(scope)
    this.#start = start
  }

  /** Returns the page that a query asks for. `read` returns rows after a position, at most `count`. */
  page<Row, Item>(
    query: PageRequest,
    read: (position: P, count: number) => readonly Row[],
    itemOf: (row: Row) => Item,
    positionOf: (row: Row) => P,
  ): Page<Item> {
    const limit = pageLimit(query)
    return pageOf(read(this.decode(query.cursor), limit + 1), limit, itemOf, (last) => this.encode(positionOf(last)))
  }

  encode(position: P): string {
    return Buffer.from(JSON.stringify([this.#scope, ...position])).toString('base64url')
  }

  decode(cursor: string | undefined): P {
    if (cursor === undefined) return this.#start
    const decoded = parse(cursor)
    if (!Array.isArray(decoded)) throw badCursor('is damaged')
    const [scope, ...position] = decoded as unknown[]
    if (scope !== this.#scope) throw badCursor('belongs to another list')
    if (shapeOf(position) !== shapeOf(this.#start)) throw badCursor('is damaged')
    return position as unknown as P
  }
}

function shapeOf(position: readonly unknown[]): string {
  return position.map((value) => typeof value).join()
}

function parse(cursor: unknown): unknown {
  if (typeof cursor !== 'string') return undefined
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return undefined
  }
}

function badCursor(why: string): InspanError {
  return new InspanError('invalid-input', `The page cursor ${why}.`, {
    hint: 'Pass `next` of the previous page unchanged, or start again without a cursor.',
  })
}
