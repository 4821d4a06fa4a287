/**
 * Returns a value whose texts are well-formed; the same value if they were. Half of a surrogate pair, as a text has that
 * was cut in the middle of an emoji, is refused by providers, with everything else in the request, in every step.
 */
export function wellFormed<T>(value: T): T {
  return repaired(value) as T
}

function repaired(value: unknown): unknown {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed()
  if (Array.isArray(value)) {
    const items = value.map(repaired)
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  if (!isPlain(value)) return value
  const entries = Object.entries(value).map(([key, item]) => [repaired(key), item, repaired(item)] as const)
  const isChanged = entries.some(
    ([key, item, repairedItem]) => repairedItem !== item || !Object.hasOwn(value, String(key)),
  )
  return isChanged ? Object.fromEntries(entries.map(([key, , item]) => [key, item])) : value
}

/** Bytes, URLs and other objects with a class of their own are left alone. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
