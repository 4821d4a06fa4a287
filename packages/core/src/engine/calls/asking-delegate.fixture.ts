import type { RunnableTool } from '@inspan/protocol/driver'
import { threadOfTask, type Delegation } from './delegate.fixture.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { createThread } from '../threads/threads.ts'

/**
 * A tool that delegates its task to the agent `worker` in another thread. Questions there become questions of the
 * calling thread: that one waits with them, and neither needs a process meanwhile.
 */
export function askingDelegateTool({ onOpen, ...options }: Delegation): RunnableTool {
  const { store } = options
  return {
    name: 'delegate',
    inputSchema: { type: 'object' },
    isIdempotent: true,
    execute: async (input, { idempotencyKey, resume, signal, suspended }) => {
      const thread = threadOfTask(idempotencyKey)
      if ((await store.getThread(thread)) === null) await createThread(store, { id: thread, resourceId: 'test' })
      const runtime = await ThreadRuntime.open({ ...options, thread }, async (taken) => onOpen?.(taken))
      const stop = (): void => void runtime.close()
      signal.addEventListener('abort', stop, { once: true })
      try {
        const { lastRun, run, waits } = runtime.state.head
        const answered = suspended?.['waitId']
        // An attempt that was interrupted may have passed on the answer already.
        if (resume !== undefined && typeof answered === 'string' && waits.has(answered)) {
          const { decision, reason } = resume
          await runtime.answer(answered, { decision, ...(reason === undefined ? {} : { reason }) })
        }
        const parts = [{ id: '0', type: 'text', text: JSON.stringify(input['task']) }] as const
        if (run === null && lastRun === null) await runtime.submit({ agentId: 'worker', parts })
        await runtime.idle()
        const [asked] = [...runtime.state.head.waits]
        if (asked === undefined) return { result: runtime.state.head.lastRun?.outcome ?? null }
        const { description, id: waitId } = asked
        return { suspend: { kind: 'access', description, payload: { waitId } } }
      } finally {
        signal.removeEventListener('abort', stop)
        await runtime.close()
      }
    },
  }
}
