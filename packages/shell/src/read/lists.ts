/** A list with one item more. Most have one item, and an empty array makes room for seventeen at the first push. */
export function withItem<Item>(list: Item[] | undefined, item: Item): Item[] {
  if (list === undefined) return [item]
  list.push(item)
  return list
}
