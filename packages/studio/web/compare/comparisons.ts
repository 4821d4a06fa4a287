/** A comparison as this browser remembers it. What its agents did is on the server, in one thread each. */
export interface KeptComparison {
  readonly id: string
  readonly prompt: string
  readonly lanes: readonly KeptLane[]
  readonly how: CompareMode
}

/**
 * `worktrees`: at the same time, each in a git worktree of its own, where it may edit. `read-only`: one after the other,
 * with everything declined that needs an approval. `shared`: at the same time in the same folder.
 */
export type CompareMode = 'worktrees' | 'read-only' | 'shared'

export interface KeptLane {
  readonly name: string
  readonly thread: string
  readonly mode: string
  readonly model?: string
}

const KEY = 'inspan.comparisons'
const MOST = 20

export function listComparisons(): readonly KeptComparison[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    // Older versions of this page kept other fields.
    return Array.isArray(kept) ? (kept as readonly KeptComparison[]).filter(({ how }) => typeof how === 'string') : []
  } catch {
    return []
  }
}

export function findComparison(id: string | undefined): KeptComparison | undefined {
  return listComparisons().find((each) => each.id === id)
}

export function keepComparison(comparison: KeptComparison): void {
  const others = listComparisons().filter(({ id }) => id !== comparison.id)
  localStorage.setItem(KEY, JSON.stringify([comparison, ...others].slice(0, MOST)))
}

export function forgetComparison(id: string): void {
  localStorage.setItem(KEY, JSON.stringify(listComparisons().filter((each) => each.id !== id)))
}
