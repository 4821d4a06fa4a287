/** Freezes plain data at all depths. Instances of classes stay as they are. */
export function freezeDeep<T>(value: T): T {
  if (!isData(value) || Object.isFrozen(value)) return value
  // Frozen before its content, because data may refer to itself.
  Object.freeze(value)
  for (const item of Object.values(value)) freezeDeep(item)
  return value
}

/** Returns a frozen copy to share; the owner of the original may go on changing it. */
export function frozenCopy<T>(value: T): T {
  if (!isData(value)) return value
  if (Array.isArray(value)) return Object.freeze(value.map((item: unknown) => frozenCopy(item))) as T
  const copy = { ...value } as Record<string, unknown>
  // Without a list of the keys: every record passes here.
  for (const key in copy) {
    const item = copy[key]
    if (typeof item === 'object' && Object.hasOwn(copy, key)) copy[key] = frozenCopy(item)
  }
  return Object.freeze(copy) as T
}

function isData(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
