import type { Budget } from '@inspan/protocol/driver'
import type { ThreadState } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { spentInRun } from '../../engine/index.ts'
import { childNoteOf, childThreadOf, type ChildNote } from './child-note.ts'

const LIMITS = ['tokens', 'usd'] as const

/**
 * Returns the share of the run's budget that the next subagent gets: what the run, its ended subagents and the shares of
 * those at work leave, divided by the calls of this step that have none yet. Time is not shared, since the parent's own
 * clock runs meanwhile. `undefined` without a limit.
 */
export async function shareOf(
  store: Store,
  state: ThreadState,
  budget: Budget | undefined,
): Promise<ChildNote['budget'] | undefined> {
  const { run } = state.head
  if (run === null || budget === undefined || LIMITS.every((limit) => budget[limit] === undefined)) return undefined
  const used = await spentInRun(store, state)
  const spent = { tokens: used.totalTokens, usd: used.costUsd }
  for (const { thread } of state.head.children) {
    const note = childNoteOf((await store.getThread(thread))?.metadata ?? {})
    if (note?.parentRun !== run.runId) continue
    for (const limit of LIMITS) spent[limit] += note.budget?.[limit] ?? 0
  }
  const calls = Math.max(1, callsWithoutChild(state, run.runId))
  const shares = LIMITS.flatMap((limit) => {
    const max = budget[limit]
    if (max === undefined) return []
    const left = Math.max(0, max - spent[limit]) / calls
    return [[limit, limit === 'tokens' ? Math.floor(left) : left] as const]
  })
  return Object.fromEntries(shares)
}

function callsWithoutChild({ head, messages }: ThreadState, runId: string): number {
  const parts = [...(messages.at(messages.length - 1)?.parts ?? [])]
  const done = new Set(parts.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : [])))
  return parts.filter((part) => {
    if (part.type !== 'tool-call' || part.toolName !== 'subagent' || done.has(part.toolCallId)) return false
    return !head.children.has(childThreadOf(head.stream, `${runId}:${part.toolCallId}`))
  }).length
}
