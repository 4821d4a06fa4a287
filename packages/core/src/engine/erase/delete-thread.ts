import {
  EvenerError,
  type Binding,
  type DeleteResult,
  type Fence,
  type RawSpool,
  type RecordBody,
  type Store,
} from '@evener/protocol'
import type { ProcessOwner } from '../threads/ownership.ts'
import { reapProcess } from '../runs/reap-process.ts'
import { closeInterruptedRun } from '../turns/close-interrupted.ts'
import { ThreadLog } from '../log/thread-log.ts'

export interface DeleteOptions {
  /** Where the raw output of runs is kept, if it is. */
  readonly spool?: RawSpool
}

/** What is left of a thread elsewhere. */
export type DeleteRemainder =
  /** An agent's own session, which is not ours to clean. */
  | { readonly kind: 'native-session'; readonly agentId: string; readonly nativeId: string }
  | { readonly kind: 'raw'; readonly reason: string }

export interface DeleteReport extends DeleteResult {
  readonly remains: readonly DeleteRemainder[]
}

/**
 * Takes the thread, ends its run and its waits, and removes it with the raw output of its runs. What living forks need of
 * it is hidden and goes with the last of them; `retained` names it. Fails with `held` while somebody has it open.
 */
export async function deleteThread(
  store: Store,
  owner: ProcessOwner,
  thread: string,
  { spool }: DeleteOptions = {},
): Promise<DeleteReport> {
  owner.enter(thread)
  try {
    const fence = await owner.claim(thread)
    try {
      const bindings = await endRun(store, thread, fence)
      const result = await store.deleteThread(thread, fence)
      return { ...result, remains: [...bindings.map(nativeSession), ...(await removeRaw(spool, thread))] }
    } catch (error) {
      await owner.release(thread, fence).catch(() => undefined)
      throw error
    }
  } finally {
    owner.leave(thread)
  }
}

/** Whoever waits for an answer, or for the end of the run, reads in the log that there will be none. */
async function endRun(store: Store, thread: string, fence: Fence): Promise<readonly Binding[]> {
  try {
    const log = await ThreadLog.open({ store, stream: thread, fence })
    const { bindings, run, waits } = log.state.head
    for (const process of run?.processes ?? []) await reapProcess(process)
    await log.commit(
      [...waits.keys()].map((waitId): RecordBody => ({ type: 'wait.cancelled', waitId, reason: 'delete' })),
    )
    await closeInterruptedRun(log, 'aborted')
    await log.close()
    return [...bindings]
  } catch (error) {
    // What cannot be read any more can still be removed.
    if (EvenerError.is(error, 'corrupt') || EvenerError.is(error, 'newer-version')) return []
    throw error
  }
}

function nativeSession({ agentId, nativeId }: Binding): DeleteRemainder {
  return { kind: 'native-session', agentId, nativeId }
}

async function removeRaw(spool: RawSpool | undefined, threadId: string): Promise<DeleteRemainder[]> {
  try {
    await spool?.removeThread({ threadId })
    return []
  } catch (error) {
    return [{ kind: 'raw', reason: error instanceof Error ? error.message : String(error) }]
  }
}
