import { InspanError } from '@inspan/protocol'
import type { Binding, RawSpool } from '@inspan/protocol/driver'
import type { RecordBody } from '@inspan/protocol/log'
import type { CommandOutcome, DeleteResult, Fence, Store } from '@inspan/protocol/store'
import type { ProcessOwner } from '../threads/ownership.ts'
import { reapProcess } from '../runs/reap-process.ts'
import { closeInterruptedRun } from '../turns/close-interrupted.ts'
import { ThreadLog } from '../log/thread-log.ts'
import { messageOf } from '../../common/message-of.ts'

export interface DeleteOptions {
  /** The raw spool, if there is one. */
  readonly spool?: RawSpool
  /** Stored together with the deletion. */
  readonly outcome?: CommandOutcome
}

/** Something of the thread that is left elsewhere. */
export type DeleteRemainder =
  /** An agent's native session, which is not ours to clean. */
  | { readonly kind: 'native-session'; readonly agentId: string; readonly nativeId: string }
  | { readonly kind: 'raw'; readonly reason: string }
  /** A worktree with work that is not committed. */
  | { readonly kind: 'worktree'; readonly path: string; readonly reason: string }

export interface DeleteReport extends DeleteResult {
  readonly remains: readonly DeleteRemainder[]
}

/**
 * Takes the thread, ends its run and waits, and removes it with the raw output of its runs. What living forks need is
 * hidden and removed with the last of them; `retained` names it. Fails with `held` while somebody has the thread open.
 */
export async function deleteThread(
  store: Store,
  owner: ProcessOwner,
  thread: string,
  { outcome, spool }: DeleteOptions = {},
): Promise<DeleteReport> {
  owner.enter(thread)
  try {
    const fence = await owner.claim(thread)
    try {
      const bindings = await endRun(store, thread, fence)
      const result = await store.deleteThread(thread, fence, outcome)
      return { ...result, remains: [...bindings.map(nativeSession), ...(await removeRaw(spool, thread))] }
    } catch (error) {
      await owner.release(thread, fence).catch(() => undefined)
      throw error
    }
  } finally {
    owner.leave(thread)
  }
}

/** Ends the run and the waits in the log, for those who still await them. Returns the bindings. */
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
    // A thread that cannot be read can still be removed.
    if (InspanError.is(error, 'corrupt') || InspanError.is(error, 'newer-version')) return []
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
    return [{ kind: 'raw', reason: messageOf(error) }]
  }
}
