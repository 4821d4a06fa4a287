import { InspanError, type Grants } from '@inspan/protocol'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import { asError, defined } from '@inspan/protocol/internal'
import type { ThreadState } from '@inspan/protocol/log'
import type { Page, PageRequest, Store, ThreadInfo } from '@inspan/protocol/store'
import type { ChangedFile } from '@inspan/tools'
import {
  readResourceGrants,
  createThread,
  type DeleteReport,
  describeInTime,
  noSuchThread,
  type ThreadRuntime,
} from '../../engine/index.ts'
import { coreOf } from '../core-of.ts'
import type { Harness } from '../harness.ts'
import type { HarnessConfig, HarnessMode } from '../harness-config.ts'
import type { AvailableModel } from '../models/model-types.ts'
import { askedFile, changedFiles } from './thread-files.ts'
import { abandonedThreads } from './abandoned-threads.ts'
import { importedThread, nativeSessions, type ImportOptions, type ListedSession } from './native-imports.ts'
import { ThreadWorktree } from './thread-worktree.ts'
import { servedMemory, type ServedMemory } from './served-memory.ts'

/** A thread that a server has open. */
export interface ServedThread {
  readonly runtime: ThreadRuntime
  /** Closes the thread, unless others have it open. A run at work would be interrupted. */
  leave(): Promise<void>
}

export interface EnterOptions {
  readonly resourceId: string
  /** Called when the thread is open, before anything goes on in it. */
  readonly begin: (runtime: ThreadRuntime) => void
  /** Called when the thread is about to be deleted. */
  readonly onEvicted: () => Promise<void>
}

export interface ForkOptions {
  /** The last message that the fork shares. Default: all of them. */
  readonly messageId?: string
  readonly title?: string
  /** Default: a new id. */
  readonly id?: string
}

export interface ServedAgent {
  readonly id: string
  /** Absent when the agent could not be asked. */
  readonly capabilities?: Capabilities
  readonly error?: string
}

/** A harness as a server uses it: its threads by id, without a session in between. */
export interface ServedHarness {
  readonly id: string
  readonly resourceId: string
  readonly store: Store
  readonly modes: readonly HarnessMode[]
  readonly defaultModeId: string
  readonly limits: Pick<HarnessConfig, 'approvalTimeout' | 'parkAfter' | 'keepWarm' | 'handoverTokens'>
  ready(): Promise<void>
  /** Returns a thread of the resource. Fails with `not-found` for any other. */
  find(threadId: string, resourceId: string): Promise<ThreadInfo>
  /** Lists the threads of a resource, most recently changed first. */
  listThreads(query: PageRequest & { readonly resourceId: string }): Promise<Page<ThreadInfo>>
  enter(threadId: string, options: EnterOptions): Promise<ServedThread>
  /** Returns the state of a thread, whether or not it is open here. */
  state(threadId: string): Promise<ThreadState>
  /** Returns the files that a thread has changed in the workspace, with their contents before and after. */
  changes(threadId: string): Promise<readonly ChangedFile[]>
  /** Returns the file that a waiting call would change, as it is now; `null` if there is none, undefined if unknown. */
  askedFile(threadId: string, waitId: string): Promise<string | null | undefined>
  /** Returns the id of the agent that takes the next turn. */
  agentOf(state: ThreadState): string
  create(resourceId: string, options: { readonly title?: string; readonly id?: string }): Promise<ThreadInfo>
  fork(threadId: string, resourceId: string, options: ForkOptions): Promise<ThreadInfo>
  /** Makes a git worktree for a thread, unless it has one of its own. Throws `unsupported` without a repository. */
  makeWorktree(runtime: ThreadRuntime): Promise<void>
  /** Removes the worktree of a thread. `apply`: after its changes were made in the workspace. `discard`: with them. */
  endWorktree(runtime: ThreadRuntime, how: 'apply' | 'discard'): Promise<void>
  remove(threadId: string): Promise<DeleteReport>
  readonly agentIds: readonly string[]
  /** Makes all sessions and servers of this harness leave a thread that was deleted. */
  evict(threadId: string): Promise<void>
  models(): Promise<readonly AvailableModel[]>
  /** Finds the threads in which a process died during a run of this harness. Whoever opens one continues it. */
  abandoned(): AsyncIterable<ThreadInfo>
  /** Returns what the memory of a thread holds and how close it is to its thresholds; `null` without a memory. */
  memory(threadId: string, resourceId: string): Promise<ServedMemory | null>
  /** Returns what was allowed for all threads of a resource. */
  grants(resourceId: string): Promise<Grants>
  /** Returns the sessions that the coding agents of the harness have in a folder. */
  nativeSessions(folder: string): Promise<readonly ListedSession[]>
  /** Returns the thread that continues a native session; its history is imported first. */
  importSession(
    options: ImportOptions,
    use: (threadId: string) => Promise<{ readonly runtime: ThreadRuntime; release(): void }>,
  ): Promise<string | undefined>
  agents(): Promise<readonly ServedAgent[]>
}

export function servedHarness(harness: Harness): ServedHarness {
  const core = coreOf(harness)
  const { agents, config, store, threads } = core
  const { approvalTimeout, handoverTokens, keepWarm, parkAfter } = config
  const find = async (threadId: string, resourceId: string): Promise<ThreadInfo> => {
    await core.ready()
    const info = await store.getThread(threadId)
    if (info === null || info.resourceId !== resourceId) throw noSuchThread(threadId)
    return info
  }
  const state = async (threadId: string): Promise<ThreadState> => {
    await core.ready()
    return threads.registry.read(threadId)
  }
  return {
    id: config.id,
    resourceId: config.resourceId ?? config.id,
    store,
    modes: config.modes,
    defaultModeId: core.defaultMode.id,
    limits: defined({ approvalTimeout, parkAfter, keepWarm, handoverTokens }),
    ready: () => core.ready(),
    find,
    listThreads: (query) => store.listThreads(query),
    enter: async (threadId, { begin, onEvicted, resourceId }) => {
      await core.ready()
      const guest = { resourceId: () => resourceId, leave: onEvicted }
      const { runtime } = await threads.enter(threadId, guest, { begin })
      return { runtime, leave: () => threads.leave(threadId, guest) }
    },
    state,
    changes: async (threadId) => changedFiles(core, await state(threadId)),
    askedFile: async (threadId, waitId) => askedFile(core, await state(threadId), waitId),
    agentOf: (of) => agents.of(agents.modeOf(of)).id,
    create: async (resourceId, { id = core.newId(), title }) => {
      await core.ready()
      return createThread(store, { id, resourceId, now: core.now(), ...defined({ title }) })
    },
    fork: async (threadId, resourceId, { id = core.newId(), messageId, title }) => {
      const known = await find(threadId, resourceId)
      const name = title ?? (known.title === null ? undefined : `Fork of ${known.title}`)
      const optional = defined({ messageId, title: name })
      return threads.registry.fork(threadId, { id, resourceId, now: core.now(), ...optional })
    },
    makeWorktree: async (runtime) => {
      try {
        await new ThreadWorktree(core, () => runtime).create()
      } catch (error) {
        // Whoever asks again, after an answer that was lost, finds what was made before.
        if (!InspanError.is(error, 'already-exists')) throw error
      }
    },
    endWorktree: async (runtime, how) => {
      const worktree = new ThreadWorktree(core, () => runtime)
      if (how === 'apply') await worktree.apply()
      await worktree.remove({ discard: true })
    },
    remove: (threadId) => threads.delete(threadId),
    agentIds: agents.all.map(({ id }) => id),
    evict: (threadId) => threads.registry.evict(threadId),
    models: () => harness.listAvailableModels(),
    abandoned: () => abandonedThreads(core),
    memory: (threadId, resourceId) => servedMemory(core, threadId, resourceId),
    grants: (resourceId) => readResourceGrants(store, resourceId),
    nativeSessions: (folder) => nativeSessions(core, folder),
    importSession: (options, use) => importedThread(core, options, use),
    agents: () => Promise.all(agents.all.map(({ id }) => described(id, agents.driver(id)))),
  }
}

async function described(id: string, driver: AgentDriver | undefined): Promise<ServedAgent> {
  if (driver === undefined) return { id }
  try {
    return { id, capabilities: await describeInTime(driver) }
  } catch (error) {
    return { id, error: asError(error).message }
  }
}
