import { InspanError } from '@inspan/protocol'
import type { ThreadState } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { readStreamState } from '../log/load-state.ts'

/**
 * Returns the state of a thread as it is on disk, from its stored head and the records since. Takes nothing, writes
 * nothing and resumes nothing: an interrupted run is shown as it was left. For a thread that may be open in this
 * process, use `ThreadRegistry.read`.
 */
export async function readThread(store: Store, threadId: string): Promise<ThreadState> {
  if ((await store.getThread(threadId)) === null) throw noSuchThread(threadId)
  return readStreamState(store, threadId)
}

export function noSuchThread(threadId: string): InspanError {
  return new InspanError('not-found', `There is no thread "${threadId}".`, { details: { threadId } })
}
