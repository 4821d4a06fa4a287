import { NO_RULES } from '@inspan/protocol'
import type { Fence, Store } from '@inspan/protocol/store'
import { ProcessOwner } from './threads/ownership.ts'
import { ThreadLog, type ThreadLogOptions } from './log/thread-log.ts'
import { createThread } from './threads/threads.ts'

/** A thread opened for a test. Disposing it closes everything. */
export interface TestThread extends AsyncDisposable {
  readonly store: Store
  readonly owner: ProcessOwner
  readonly fence: Fence
  readonly log: ThreadLog
  reopen(): Promise<ThreadLog>
}

export async function openTestThread(store: Store, options: Partial<ThreadLogOptions> = {}): Promise<TestThread> {
  const owner = await ProcessOwner.register(store)
  const { id } = await createThread(store, { id: 'thread', resourceId: 'test' })
  const fence = await owner.claim(id)
  const open = (): Promise<ThreadLog> => ThreadLog.open({ store, stream: id, fence, ...options })
  return {
    store,
    owner,
    fence,
    log: await open(),
    reopen: open,
    async [Symbol.asyncDispose]() {
      await owner.close()
      await store.close()
    },
  }
}

/** Starts a run with an open assistant message `m`. */
export async function startMessage(log: ThreadLog): Promise<void> {
  await log.commit([{ type: 'run.started', runId: 'r', agentId: 'a', rules: NO_RULES }])
  log.add({ type: 'message.started', messageId: 'm', role: 'assistant' })
}
