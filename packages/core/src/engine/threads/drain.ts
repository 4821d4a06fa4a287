import type { ThreadRuntime } from '../thread-runtime.ts'
import { timerMs } from '../checks/check-options.ts'

/**
 * Lets go of a run that is at work, at the next point where little is lost: before a step, when it parks or when it ends.
 * Returns whether it was left for another process. After `timeoutMs` it is left wherever it is, as after a crash.
 */
export async function drainThread(runtime: ThreadRuntime, timeoutMs: number): Promise<boolean> {
  if (!isAtWork(runtime)) return false
  await nextBarrier(runtime, timeoutMs)
  return abandonRun(runtime)
}

/** Leaves a run that is at work to the process that takes the thread next. Returns false if there is none. */
export async function abandonRun(runtime: ThreadRuntime): Promise<boolean> {
  if (!isAtWork(runtime)) return false
  await runtime.abandon()
  return true
}

function isAtWork({ run, state }: ThreadRuntime): boolean {
  return run !== undefined && state.head.run !== null && state.head.run.status !== 'parked'
}

async function nextBarrier(runtime: ThreadRuntime, timeoutMs: number): Promise<void> {
  const reached = Promise.withResolvers<void>()
  const stop = runtime.onEntry((entry) => {
    if (entry.kind === 'record' && BARRIERS.has(entry.record.body.type)) reached.resolve()
  })
  const timer = setTimeout(reached.resolve, timerMs(timeoutMs))
  await reached.promise
  clearTimeout(timer)
  stop()
}

/** Everything before these is on disk, and nothing that they announce has happened yet. */
const BARRIERS: ReadonlySet<string> = new Set(['step.started', 'run.parked', 'run.ended'])
