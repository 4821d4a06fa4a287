import { EvenerError, type CancelReceipt } from '@evener/protocol'

/** What is answered to whoever cancels while no turn is under way. */
export const NOTHING_RAN: CancelReceipt = Object.freeze({ how: 'gone', calls: [], orphansKilled: 0, queued: [] })

/** A session takes one turn at a time, until it is closed. */
export function assertTakesTurn(isClosed: boolean, current: object | undefined): void {
  if (isClosed) throw new EvenerError('closed', 'This session is closed.', { hint: 'Open another one.' })
  if (current === undefined) return
  throw new EvenerError('misuse', 'This session has a turn under way.', { hint: 'Wait for its finish or cancel it.' })
}
