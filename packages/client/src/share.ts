/** Returns `next`, but with every part of `before` that is the same, so that unchanged parts keep their identity. */
export function share<T>(before: unknown, next: T): T {
  if (Object.is(before, next)) return next
  if (typeof before !== 'object' || before === null || typeof next !== 'object' || next === null) return next
  if (Array.isArray(next)) {
    if (!Array.isArray(before)) return next
    const items = next.map((item: unknown, index) => share((before as readonly unknown[])[index], item))
    const isSame = items.length === before.length && items.every((item, index) => item === before[index])
    return (isSame ? before : items) as T
  }
  if (Object.getPrototypeOf(next) !== Object.prototype) return next
  const old = before as Readonly<Record<string, unknown>>
  const entries = Object.entries(next).map(([key, value]): [string, unknown] => [key, share(old[key], value)])
  const isSame =
    entries.length === Object.keys(old).length &&
    entries.every(([key, value]) => Object.hasOwn(old, key) && old[key] === value)
  return (isSame ? before : Object.fromEntries(entries)) as T
}
