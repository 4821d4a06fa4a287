import { NO_GRANTS, NO_RULES, type Grants, type PermissionRules } from '@inspan/protocol'
import type { HarnessEvent } from '@inspan/protocol/harness'
import type { ThreadState } from '@inspan/protocol/log'
import { effectiveRules } from '../../policy/effective-rules.ts'
import type { ThreadViewer } from '../harness-core.ts'

/**
 * Stands for the parent in the thread of a subagent. All rules of the parent hold there, those of its sessions and its
 * run included, and it allows nothing that the parent may not do.
 */
export function childViewer(
  viewers: ReadonlySet<ThreadViewer>,
  parent: () => ThreadState,
  emit: (event: HarnessEvent) => void,
): ThreadViewer {
  const first = (): ThreadViewer | undefined => [...viewers][0]
  return {
    resourceId: () => first()?.resourceId() ?? '',
    userState: {
      get: () => first()?.userState.get() ?? {},
      set: async (changes) => first()?.userState.set(changes),
      update: async (change) => {
        const viewer = first()
        return viewer === undefined ? change({}).result : viewer.userState.update(change)
      },
    },
    // Memory of the subagent's thread is none of the parent's.
    emit: (event) => {
      if (!event.type.startsWith('om_')) emit(event)
    },
    rules: () => rulesOf(viewers, parent()),
    grants: () => grantsOf(viewers, parent()),
    leave: async () => undefined,
    subagentModelId: (agentType) => first()?.subagentModelId(agentType) ?? null,
  }
}

function rulesOf(viewers: ReadonlySet<ThreadViewer>, { head }: ThreadState): PermissionRules {
  const session = [...viewers]
    .map((viewer) => viewer.rules())
    .reduce((a, b) => effectiveRules({ session: a, thread: b }), NO_RULES)
  return effectiveRules({ session, thread: head.rules, ...(head.run === null ? {} : { run: head.run.rules }) })
}

function grantsOf(viewers: ReadonlySet<ThreadViewer>, { head }: ThreadState): Grants {
  const all = [head.grants, ...[...viewers].map((viewer) => viewer.grants())]
  if (all.every(({ categories, tools }) => categories.length + tools.length === 0)) return NO_GRANTS
  return { categories: all.flatMap(({ categories }) => categories), tools: all.flatMap(({ tools }) => tools) }
}
