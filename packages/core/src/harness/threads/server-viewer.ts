import { InspanError, NO_GRANTS, NO_RULES } from '@inspan/protocol'
import type { ThreadViewer } from '../harness-core.ts'

/** Returns a viewer without rules, grants or application state of its own: everything is the thread's. */
export function serverViewer(resourceId: string, leave: () => Promise<void>): ThreadViewer {
  return {
    resourceId: () => resourceId,
    userState: {
      get: () => ({}),
      set: async () => {
        throw new InspanError('unsupported', 'A thread that only a server has open has no application state.', {
          hint: 'Open the thread in a session, too.',
        })
      },
      update: async (change) => change({}).result,
    },
    emit: () => undefined,
    rules: () => NO_RULES,
    grants: () => NO_GRANTS,
    leave,
    subagentModelId: () => null,
  }
}
