import type { Page } from '@evener/protocol'

/** Makes a page of up to `limit` of the rows; one row more than that says that there is a next page. */
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
