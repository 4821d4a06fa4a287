/** Rows sorted by a number. New rows nearly always come last, where adding is cheap. */
export class SortedRows<Row> {
  readonly #keys: number[] = []
  readonly #rows: Row[] = []

  /** Adds a row; replaces one with the same key. */
  put(key: number, row: Row): void {
    const at = this.#lowerBound(key)
    if (this.#keys[at] === key) {
      this.#rows[at] = row
    } else {
      this.#keys.splice(at, 0, key)
      this.#rows.splice(at, 0, row)
    }
  }

  /** Returns at most `limit` rows with keys from `from` to `to`. */
  range(from: number, to: number, limit: number = Infinity, isDescending = false): Row[] {
    const start = this.#lowerBound(from)
    const end = this.#lowerBound(to + 1)
    if (isDescending) return this.#rows.slice(Math.max(start, end - limit), end).reverse()
    return this.#rows.slice(start, Math.min(end, start + limit))
  }

  /** Returns the last row of the range that matches. */
  findLast(from: number, to: number, matches: (row: Row) => boolean): Row | undefined {
    const start = this.#lowerBound(from)
    for (let at = this.#lowerBound(to + 1) - 1; at >= start; at--) {
      const row = this.#rows[at] as Row
      if (matches(row)) return row
    }
    return undefined
  }

  /** Removes the rows of the range that match, and returns them. */
  remove(from: number, to: number, matches: (row: Row) => boolean = () => true): Row[] {
    const start = this.#lowerBound(from)
    const end = this.#lowerBound(to + 1)
    const removed: Row[] = []
    let kept = start
    for (let at = start; at < end; at++) {
      const row = this.#rows[at] as Row
      if (matches(row)) {
        removed.push(row)
      } else {
        this.#keys[kept] = this.#keys[at] as number
        this.#rows[kept++] = row
      }
    }
    this.#keys.splice(kept, end - kept)
    this.#rows.splice(kept, end - kept)
    return removed
  }

  #lowerBound(key: number): number {
    let low = 0
    let high = this.#keys.length
    if (high > 0 && (this.#keys[high - 1] as number) < key) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#keys[middle] as number) < key) low = middle + 1
      else high = middle
    }
    return low
  }
}
