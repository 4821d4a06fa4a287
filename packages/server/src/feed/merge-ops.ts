import type { Op } from '@inspan/protocol/log'

/**
 * Merges the ops of several commits into fewer with the same effect: texts appended at one place become one op, and a
 * later `set` of a place replaces what was set or appended there and below it.
 */
export function mergeOps(lists: readonly (readonly Op[])[]): readonly Op[] {
  const [only] = lists
  if (lists.length === 1 && only !== undefined) return only
  const merged: (Op | undefined)[] = []
  /** The last op at each path. Forgotten when an op may have changed what lies above it. */
  const lastAt = new Map<string, number>()
  for (const op of lists.flat()) {
    const key = op.path.join('\0')
    const at = lastAt.get(key)
    const last = at === undefined ? undefined : merged[at]
    if (op.type === 'append-text' && at !== undefined && last?.type === 'append-text') {
      merged[at] = { ...last, value: last.value + op.value }
    } else if (op.type === 'set' && at !== undefined && last?.type === 'set') {
      forgetBelow(key, lastAt, merged)
      // In its old place: entries of a list are in the order in which they were first set.
      merged[at] = op
    } else {
      if (op.type === 'set') forgetBelow(key, lastAt, merged)
      // A removal may take away anything that was set before: nothing before it is merged with what comes after.
      if (op.type === 'remove') lastAt.clear()
      if (op.type === 'set' && at !== undefined) merged[at] = undefined
      lastAt.set(key, merged.push(op) - 1)
    }
  }
  return merged.filter((op) => op !== undefined)
}

/** Drops the ops below a path that is set as a whole. */
function forgetBelow(key: string, lastAt: Map<string, number>, merged: (Op | undefined)[]): void {
  const below = `${key}\0`
  for (const [known, at] of lastAt) {
    if (!known.startsWith(below)) continue
    merged[at] = undefined
    lastAt.delete(known)
  }
}
