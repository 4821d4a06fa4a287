import { createHash } from 'node:crypto'
import { createTool, runnableTool } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import { unlessAborted } from '@inspan/protocol/internal'
import type { Store } from '@inspan/protocol/store'
import type { ProcessOwner } from '../threads/ownership.ts'
import type { ThreadRuntimeOptions } from '../thread-options.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { createThread } from '../threads/threads.ts'

/** The options of a delegating tool. */
export interface Delegation extends Pick<ThreadRuntimeOptions, 'agents' | 'decide' | 'faults' | 'passivateAfter'> {
  readonly store: Store
  readonly owner: ProcessOwner
  /** Called when the thread of a task is open, to listen to it or answer in it. */
  readonly onOpen?: (runtime: ThreadRuntime) => void
}

/** Returns the thread id of a task, the same for every attempt at the call. */
export function threadOfTask(idempotencyKey: string): string {
  return `task-${createHash('sha256').update(idempotencyKey).digest('hex').slice(0, 24)}`
}

/**
 * A tool that delegates its task to the agent `worker` in another thread. Run again after a crash, it finds that thread
 * and continues what was under way there.
 */
export function delegateTool({ onOpen, ...options }: Delegation): RunnableTool {
  const { store } = options
  const tool = createTool({
    id: 'delegate',
    description: 'Has somebody do a task.',
    idempotent: true,
    execute: async (input, { abortSignal, idempotencyKey, threadId }) => {
      const thread = threadOfTask(idempotencyKey)
      if ((await store.getThread(thread)) === null) {
        await createThread(store, { id: thread, resourceId: 'test', metadata: { parent: threadId } })
      }
      const runtime = await ThreadRuntime.open({ ...options, thread }, async (taken) => onOpen?.(taken))
      try {
        const { lastRun, run } = runtime.state.head
        const parts = [{ id: '0', type: 'text', text: JSON.stringify(input['task']) }] as const
        const { runId } = run ?? lastRun ?? (await runtime.submit({ agentId: 'worker', parts }))
        const outcome = await unlessAborted(abortSignal, runtime.outcome(runId))
        return `${outcome}: ${await lastWords(store, runtime)}`
      } catch (error) {
        // If the calling thread is only released, the task stays as it is.
        if (abortSignal.aborted && !InspanError.is(abortSignal.reason, 'closed')) await runtime.cancel()
        throw error
      } finally {
        await runtime.close()
      }
    },
  })
  return runnableTool(tool)
}

async function lastWords(store: Store, runtime: ThreadRuntime): Promise<string> {
  const { items } = await store.listMessages(runtime.state.head.lineage, { order: 'newest', limit: 1 })
  return (items[0]?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
}
