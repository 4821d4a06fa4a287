import type { ThreadState } from '@inspan/protocol/log'
import { hasRedactedCall } from '../log/record-redactor.ts'
import { isForeign, type ActiveTurn } from './active-run.ts'

/** Whether the turn can be left and continued from the log: it only waits, and no program of its own does so for it. */
export function canRest(active: ActiveTurn | undefined, state: ThreadState): boolean {
  if (active === undefined) return true
  // A waiting foreign agent keeps its process until it is parked; our own loop can go on from the log.
  const isOurs = active.capabilities !== undefined && !isForeign(active.capabilities)
  const isWaiting = state.head.run?.status === 'parked' && !active.abort.signal.aborted
  return isOurs && isWaiting && !hasRedactedCall(state)
}
