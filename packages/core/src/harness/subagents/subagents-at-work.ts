import type { HarnessCore } from '../harness-core.ts'

const known = new WeakMap<HarnessCore, Map<string, Set<string>>>()

/** Returns the subagents at work below a thread, at any depth: those of subagents count against the same limit. */
export function subagentsAtWork(core: HarnessCore, root: string): Set<string> {
  const roots = known.get(core) ?? new Map<string, Set<string>>()
  known.set(core, roots)
  const atWork = roots.get(root) ?? new Set<string>()
  roots.set(root, atWork)
  return atWork
}
