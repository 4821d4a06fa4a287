import type { ThreadInfo } from '@inspan/protocol/store'
import type { ThreadRuntime } from '../../engine/index.ts'
import type { Harness } from '../harness.ts'
import { servedHarness, type ServedHarness } from './served-harness.ts'

/** Other projects in the same store. Each needs a harness of its own: its agents work in another folder. */
export interface OtherProjects {
  /** Whether threads of this resource may be opened. */
  has(resourceId: string): boolean
  /** Returns the harness of a project. Called once for each. */
  open(resourceId: string): Promise<Harness>
}

/** Serves a harness, and to its owner also the threads of other projects, each by the harness of its project. */
export function servedProjects(main: ServedHarness, others: OtherProjects): ServedHarness {
  const { resourceId: own, store } = main
  const opened = new Map<string, Promise<ServedHarness>>()
  const open = async (resourceId: string): Promise<ServedHarness> => {
    const served = servedHarness(await others.open(resourceId))
    await served.ready()
    return served
  }
  const served = (resourceId: string): Promise<ServedHarness> => {
    if (!others.has(resourceId)) return Promise.resolve(main)
    const known = opened.get(resourceId)
    if (known !== undefined) return known
    const opening = open(resourceId)
    opened.set(resourceId, opening)
    // Whatever was missing may be there the next time.
    opening.catch(() => opened.delete(resourceId))
    return opening
  }
  const isOther = (info: ThreadInfo | null): info is ThreadInfo =>
    info !== null && info.resourceId !== own && others.has(info.resourceId)
  const of = async (threadId: string): Promise<ServedHarness> => {
    const info = await store.getThread(threadId)
    return isOther(info) ? served(info.resourceId) : main
  }
  const ofRuntime = ({ state }: ThreadRuntime): Promise<ServedHarness> => of(state.head.stream)
  /** Of a thread of another project, its own resource; that of the caller is the one of the server. */
  const resourceOf = async (threadId: string, asked: string): Promise<string> => {
    const info = await store.getThread(threadId)
    return isOther(info) ? info.resourceId : asked
  }
  return {
    ...main,
    find: async (threadId, resourceId) =>
      main.find(threadId, resourceId === own ? await resourceOf(threadId, resourceId) : resourceId),
    enter: async (threadId, options) => {
      const resourceId = await resourceOf(threadId, options.resourceId)
      return (await of(threadId)).enter(threadId, { ...options, resourceId })
    },
    state: async (threadId) => (await of(threadId)).state(threadId),
    changes: async (threadId) => (await of(threadId)).changes(threadId),
    askedFile: async (threadId, waitId) => (await of(threadId)).askedFile(threadId, waitId),
    fork: async (threadId, resourceId, options) =>
      (await of(threadId)).fork(threadId, await resourceOf(threadId, resourceId), options),
    makeWorktree: async (runtime) => (await ofRuntime(runtime)).makeWorktree(runtime),
    endWorktree: async (runtime, how) => (await ofRuntime(runtime)).endWorktree(runtime, how),
    remove: async (threadId) => (await of(threadId)).remove(threadId),
    evict: async (threadId) => (await of(threadId)).evict(threadId),
    memory: async (threadId, resourceId) =>
      (await of(threadId)).memory(threadId, await resourceOf(threadId, resourceId)),
    abandoned: async function* () {
      // A run must not go on in the folder of another project.
      for await (const info of main.abandoned()) if (info.resourceId === own || isOther(info)) yield info
    },
  }
}
