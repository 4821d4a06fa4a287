import type { HarnessThread } from '@evener/protocol'
import type { DeleteReport } from '../engine/erase/delete-thread.ts'
import type { Session } from './session.ts'
import type { ThreadListQuery, ThreadPage } from './sessions/session-thread.ts'

/** What is kept of conversations, in one place. */
export interface HarnessMemory {
  createThread(options?: { readonly title?: string }): Promise<HarnessThread>
  switchThread(options: { readonly threadId: string }): Promise<void>
  renameThread(options: { readonly title: string }): Promise<void>
  listThreads(query?: ThreadListQuery): Promise<ThreadPage>
  /** What forks of it need stays hidden until the last of them goes: `retained` names it. */
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
