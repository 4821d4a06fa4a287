import { InspanError } from '@inspan/protocol'
import type { CancelReceipt } from '@inspan/protocol/log'

/** The receipt for a cancel while no turn is running. */
export const NOTHING_RAN: CancelReceipt = Object.freeze({ how: 'gone', calls: [], orphansKilled: 0, queued: [] })

/** Throws unless the session can take a turn: it takes one at a time, until it is closed. */
export function assertTakesTurn(isClosed: boolean, current: object | undefined): void {
  if (isClosed) throw new InspanError('closed', 'This session is closed.', { hint: 'Open another one.' })
  if (current === undefined) return
  throw new InspanError('misuse', 'This session has a turn under way.', { hint: 'Wait for its finish or cancel it.' })
}
