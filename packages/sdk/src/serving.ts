/** For `@inspan/server`: a manager as a server uses it. */
import { InspanError, NO_GRANTS } from '@inspan/protocol'
import type { ThreadState } from '@inspan/protocol/log'
import type { ThreadInfo } from '@inspan/protocol/store'
import type { EnterOptions, ForkOptions, ServedAgent, ServedHarness, ServedThread } from '@inspan/core/serving'
import { harnessOf } from './agent-manager.ts'
import { EngineHarness } from './engine/engine-harness.ts'
import type { AgentManager } from './public-types.ts'

const MODE = 'chat'

/** Serves the chat sessions of all agents of a manager as threads. Its harness has to be one of ours. */
export function servedManager(manager: AgentManager): ServedHarness {
  const harness = harnessOf(manager)
  if (!(harness instanceof EngineHarness)) {
    throw new InspanError('unsupported', 'Only managers whose harness is one of ours can be served.', {
      hint: 'Use NativeHarnessFactory or one of the factories for coding agents.',
    })
  }
  const { store } = harness
  /** Stands for the sessions of all agents. */
  const everything = `${harness.id}/*`
  const evicted = new Map<string, Set<() => Promise<void>>>()

  const agentOf = (info: ThreadInfo): string => {
    const agentId = harness.agentOfThread(info)
    if (agentId === undefined) throw noSuchThread(info.id)
    return agentId
  }
  const find = async (threadId: string, resourceId: string): Promise<ThreadInfo> => {
    const info = await store.getThread(threadId)
    const isInReach = resourceId === everything || info?.resourceId === resourceId
    if (info === null || !isInReach || harness.agentOfThread(info) === undefined) throw noSuchThread(threadId)
    return info
  }
  const evict = async (threadId: string): Promise<void> => {
    await Promise.all([...(evicted.get(threadId) ?? [])].map((leave) => leave()))
    const info = await store.getThread(threadId)
    if (info === null) harness.forgetThread(threadId)
  }

  return {
    id: harness.id,
    resourceId: everything,
    store,
    modes: [{ id: MODE, name: 'Chat' }],
    defaultModeId: MODE,
    limits: {},
    get agentIds() {
      return manager.getAgentIds()
    },
    ready: async () => undefined,
    find,
    listThreads: async ({ resourceId, ...page }) => {
      if (resourceId !== everything) return store.listThreads({ resourceId, ...page })
      const { items, next } = await store.listThreads(page)
      return { items: items.filter((info) => harness.agentOfThread(info) !== undefined), next }
    },
    enter: async (threadId: string, { begin, onEvicted, resourceId }: EnterOptions): Promise<ServedThread> => {
      const info = await find(threadId, resourceId)
      const runtime = await harness.openThread(agentOf(info), threadId)
      begin(runtime)
      const leaving = evicted.get(threadId) ?? new Set()
      evicted.set(threadId, leaving.add(onEvicted))
      // The session stays open: it is the manager's, and rests by itself.
      return {
        runtime,
        leave: async () => {
          leaving.delete(onEvicted)
          if (leaving.size === 0) evicted.delete(threadId)
        },
      }
    },
    state: (threadId) => harness.readThread(threadId),
    changes: async () => [],
    agentOf: ({ head }: ThreadState) => head.agentId ?? '',
    create: async (resourceId, { id, title }) => {
      const [first] = manager.getAgentIds()
      const agentId = resourceId === everything ? first : resourceId.slice(harness.id.length + 1)
      if (agentId === undefined) {
        throw new InspanError('misuse', 'The manager has no agent yet.', { hint: 'Create one with createAgent().' })
      }
      const named = { ...(id === undefined ? {} : { id }), ...(title === undefined ? {} : { title }) }
      return find(await harness.createThread(agentId, named), everything)
    },
    fork: async (threadId: string, resourceId: string, { messageId, title }: ForkOptions) => {
      const info = await find(threadId, resourceId)
      const runtime = await harness.openThread(agentOf(info), threadId)
      const result = await runtime.execute({
        type: 'fork',
        ...(messageId === undefined ? {} : { messageId }),
        ...(title === undefined ? {} : { title }),
      })
      if (result.status === 'done' && result.thread !== undefined) return find(result.thread, everything)
      const why = result.status === 'rejected' ? result.message : undefined
      throw new InspanError('not-found', why ?? 'The session could not be forked.')
    },
    askedFile: async () => undefined,
    makeWorktree: noWorktrees,
    endWorktree: noWorktrees,
    remove: async (threadId) => {
      const info = await find(threadId, everything)
      await evict(threadId)
      await harness.destroyThread(agentOf(info), threadId)
      return { deleted: true, retained: [], remains: [] }
    },
    evict,
    abandoned: async function* () {
      // The manager takes up what was interrupted when it restores its agents.
    },
    models: async () => [],
    agents: async (): Promise<readonly ServedAgent[]> =>
      Promise.all(
        manager.getAgentIds().map(async (id) => ({ id, capabilities: await harness.driverOf(id).describe() })),
      ),
    memory: async () => null,
    grants: async () => NO_GRANTS,
    nativeSessions: async () => [],
    importSession: async () => undefined,
  }
}

function noSuchThread(threadId: string): InspanError {
  return new InspanError('not-found', `There is no thread "${threadId}".`, { details: { threadId } })
}

async function noWorktrees(): Promise<never> {
  throw new InspanError('unsupported', 'The sessions of a manager work in the folders of their agents.')
}
