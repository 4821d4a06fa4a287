import type { HarnessThread } from '@inspan/protocol/harness'
import type { DeleteReport } from '../engine/index.ts'
import type { Session } from './session.ts'
import type { ThreadListQuery, ThreadPage } from './sessions/session-thread.ts'

/** The threads of the harness's own session. */
export interface HarnessMemory {
  createThread(options?: { readonly title?: string }): Promise<HarnessThread>
  switchThread(options: { readonly threadId: string }): Promise<void>
  renameThread(options: { readonly title: string }): Promise<void>
  listThreads(query?: ThreadListQuery): Promise<ThreadPage>
  /** Records that forks need stay, hidden, until the last fork is deleted; `retained` in the report names them. */
  deleteThread(options: { readonly threadId: string }): Promise<DeleteReport>
}

export function harnessMemory(session: Pick<Session, 'thread'>): HarnessMemory {
  const { thread } = session
  return {
    createThread: (options) => thread.create(options),
    switchThread: (options) => thread.switch(options),
    renameThread: (options) => thread.rename(options),
    listThreads: (query) => thread.list(query),
    deleteThread: (options) => thread.delete(options),
  }
}
