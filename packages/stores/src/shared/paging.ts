import type { Page } from '@inspan/protocol/store'

/** Returns a page of up to `limit` rows. One row more than that shows that there is a next page. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  itemOf: (row: Row) => Item,
  cursorOf: (last: Row) => string,
): Page<Item> {
  const shown = rows.length > limit ? rows.slice(0, limit) : rows
  const last = shown.at(-1)
  return {
    items: shown.map(itemOf),
    next: rows.length > limit && last !== undefined ? cursorOf(last) : null,
  }
}
