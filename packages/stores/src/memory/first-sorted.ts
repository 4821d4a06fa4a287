/** Returns the first `count` of the items in order, without sorting or keeping the rest. */
export function firstSorted<T>(items: Iterable<T>, count: number, compare: (a: T, b: T) => number): T[] {
  const first: T[] = []
  for (const item of items) {
    const last = first.at(-1)
    if (first.length === count && last !== undefined && compare(item, last) >= 0) continue
    let low = 0
    let high = first.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compare(first[middle] as T, item) < 0) low = middle + 1
      else high = middle
    }
    first.splice(low, 0, item)
    if (first.length > count) first.pop()
  }
  return first
}
