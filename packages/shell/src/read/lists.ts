/** Adds an item to a list. Most lists have one item, and an empty array reserves seventeen slots at its first push. */
export function withItem<Item>(list: Item[] | undefined, item: Item): Item[] {
  if (list === undefined) return [item]
  list.push(item)
  return list
}
