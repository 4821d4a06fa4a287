/** Data that nobody can change any more, however deep. Whatever has a class of its own stays as it is. */
export function freezeDeep<T>(value: T): T {
  if (!isData(value) || Object.isFrozen(value)) return value
  // Before what is in it: something may refer to itself.
  Object.freeze(value)
  for (const item of Object.values(value)) freezeDeep(item)
  return value
}

/** A copy that nobody can change, for those who share it; whoever gave the original may go on using it. */
export function frozenCopy<T>(value: T): T {
  if (!isData(value)) return value
  if (Array.isArray(value)) return Object.freeze(value.map((item: unknown) => frozenCopy(item))) as T
  const copy = { ...value } as Record<string, unknown>
  for (const key of Object.keys(copy)) {
    const item = copy[key]
    if (typeof item === 'object') copy[key] = frozenCopy(item)
  }
  return Object.freeze(copy) as T
}

function isData(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
