import type { Capabilities } from '@inspan/protocol/driver'
import type { ThreadState } from '@inspan/protocol/log'
import type { Page, PageRequest, Store, ThreadInfo } from '@inspan/protocol/store'
import type { ChangedFile } from '@inspan/tools'
import {
  createThread,
  type DeleteReport,
  describeInTime,
  noSuchThread,
  type ThreadRuntime,
} from '../../engine/index.ts'
import { coreOf } from '../core-of.ts'
import type { Harness } from '../harness.ts'
import type { HarnessConfig, HarnessMode } from '../harness-config.ts'
import type { HarnessCore } from '../harness-core.ts'
import type { AvailableModel } from '../models/model-types.ts'
import { changedFiles } from './thread-files.ts'
import { abandonedThreads } from './abandoned-threads.ts'
import { importedThread, nativeSessions, type ImportOptions, type ListedSession } from './native-imports.ts'
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
  /** Returns the id of the agent that takes the next turn. */
  agentOf(state: ThreadState): string
  create(resourceId: string, options: { readonly title?: string; readonly id?: string }): Promise<ThreadInfo>
  fork(threadId: string, resourceId: string, options: ForkOptions): Promise<ThreadInfo>
  remove(threadId: string): Promise<DeleteReport>
  readonly agentIds: readonly string[]
  /** Makes all sessions and servers of this harness leave a thread that was deleted. */
  evict(threadId: string): Promise<void>
  models(): Promise<readonly AvailableModel[]>
  /** Finds the threads in which a process died during a run of this harness. Whoever opens one goes on with it. */
  abandoned(): AsyncIterable<ThreadInfo>
  /** Returns what the memory of a thread holds and how close it is to its thresholds; `null` without a memory. */
  memory(threadId: string, resourceId: string): Promise<ServedMemory | null>
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
  const { config, store } = core
  const { approvalTimeout, handoverTokens, keepWarm, parkAfter } = config
  return {
    id: config.id,
    resourceId: config.resourceId ?? config.id,
    store,
    modes: config.modes,
    defaultModeId: core.defaultMode.id,
    limits: {
      ...(approvalTimeout === undefined ? {} : { approvalTimeout }),
      ...(parkAfter === undefined ? {} : { parkAfter }),
      ...(keepWarm === undefined ? {} : { keepWarm }),
      ...(handoverTokens === undefined ? {} : { handoverTokens }),
    },
    ready: () => core.ready(),
    find: (threadId, resourceId) => find(core, threadId, resourceId),
    listThreads: (query) => store.listThreads(query),
    enter: (threadId, options) => enter(core, threadId, options),
    state: (threadId) => currentState(core, threadId),
    changes: async (threadId) => changedFiles(core, await currentState(core, threadId)),
    agentOf: (state) => core.agents.of(core.agents.modeOf(state)).id,
    create: (resourceId, options) => create(core, resourceId, options),
    fork: (threadId, resourceId, options) => fork(core, threadId, resourceId, options),
    remove: (threadId) => core.threads.delete(threadId),
    agentIds: core.agents.all.map(({ id }) => id),
    evict: (threadId) => core.threads.registry.evict(threadId),
    models: () => harness.listAvailableModels(),
    abandoned: () => abandonedThreads(core),
    memory: (threadId, resourceId) => servedMemory(core, threadId, resourceId),
    nativeSessions: (folder) => nativeSessions(core, folder),
    importSession: (options, use) => importedThread(core, options, use),
    agents: () => Promise.all(core.agents.all.map(({ id }) => describe(core, id))),
  }
}

async function find(core: HarnessCore, threadId: string, resourceId: string): Promise<ThreadInfo> {
  await core.ready()
  const info = await core.store.getThread(threadId)
  if (info === null || info.resourceId !== resourceId) throw noSuchThread(threadId)
  return info
}

async function enter(
  core: HarnessCore,
  threadId: string,
  { begin, onEvicted, resourceId }: EnterOptions,
): Promise<ServedThread> {
  await core.ready()
  const guest = { resourceId: () => resourceId, leave: onEvicted }
  const { runtime } = await core.threads.enter(threadId, guest, { begin })
  return { runtime, leave: () => core.threads.leave(threadId, guest) }
}

async function currentState(core: HarnessCore, threadId: string): Promise<ThreadState> {
  await core.ready()
  return core.threads.registry.read(threadId)
}

async function create(
  core: HarnessCore,
  resourceId: string,
  { id, title }: { readonly title?: string; readonly id?: string },
): Promise<ThreadInfo> {
  await core.ready()
  return createThread(core.store, {
    id: id ?? core.newId(),
    resourceId,
    now: core.now(),
    ...(title === undefined ? {} : { title }),
  })
}

async function fork(
  core: HarnessCore,
  threadId: string,
  resourceId: string,
  { id, messageId, title }: ForkOptions,
): Promise<ThreadInfo> {
  const known = await find(core, threadId, resourceId)
  const name = title ?? (known.title === null ? undefined : `Fork of ${known.title}`)
  return core.threads.registry.fork(threadId, {
    id: id ?? core.newId(),
    resourceId,
    now: core.now(),
    ...(messageId === undefined ? {} : { messageId }),
    ...(name === undefined ? {} : { title: name }),
  })
}

async function describe(core: HarnessCore, id: string): Promise<ServedAgent> {
  const driver = core.agents.driver(id)
  if (driver === undefined) return { id }
  try {
    return { id, capabilities: await describeInTime(driver) }
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) }
  }
}
