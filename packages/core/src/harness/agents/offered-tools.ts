import type { RunnableTool } from '@inspan/protocol/driver'
import type { ThreadState } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { toolsSentBeforeFork } from '../../engine/index.ts'

/**
 * Returns one tool per name; the user's come before ours. A tool that a rule denies altogether is not offered, except
 * in a fork whose parent was offered it: there the deny only blocks calls, so that the fork's requests begin like the
 * parent's last one.
 */
export async function offeredTools(
  tools: readonly RunnableTool[],
  state: ThreadState,
  store: Store,
): Promise<readonly RunnableTool[]> {
  const denied = state.head.run?.rules.tools ?? {}
  const isDenied = ({ name }: RunnableTool): boolean => Object.hasOwn(denied, name) && denied[name] === 'deny'
  const sent = tools.some(isDenied) ? await toolsSentBeforeFork(store, state) : new Set()
  const byName = new Map<string, RunnableTool>()
  for (const tool of tools) {
    if ((!isDenied(tool) || sent.has(tool.name)) && !byName.has(tool.name)) byName.set(tool.name, tool)
  }
  return [...byName.values()]
}
