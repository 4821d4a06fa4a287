import type { LogRecord, ThreadState, WaitCancelReason, WaitRow, WaitState } from '@evener/protocol'
import { erasedWait } from '../stores/erased-wait.ts'

type Settled = { readonly state: Exclude<WaitState, 'pending'>; readonly reason?: WaitCancelReason }

/** The rows of the waits that a record opened or settled, whichever kind of record it was. */
export function waitRows(before: ThreadState, after: ThreadState, record: LogRecord): WaitRow[] {
  const old = before.head.waits
  const now = after.head.waits
  if (old === now) return []
  const { stream, at, by } = record
  const opened = Object.values(now)
    .filter((wait) => old[wait.id] !== wait)
    .map((wait): WaitRow => ({ stream, wait, state: 'pending' }))
  const settled = Object.values(old)
    .filter((wait) => !Object.hasOwn(now, wait.id))
    .map((wait): WaitRow => ({
      stream,
      // The state still knows what was asked; the row must not say it again.
      wait: record.body.type === 'erased' ? erasedWait(wait) : wait,
      ...howSettled(record),
      settledAt: at,
      ...(by === undefined ? {} : { answeredBy: by }),
    }))
  return [...opened, ...settled]
}

function howSettled({ body }: LogRecord): Settled {
  switch (body.type) {
    case 'wait.answered':
      return { state: 'answered' }
    case 'wait.superseded':
      return { state: 'superseded' }
    case 'wait.cancelled':
      return { state: 'cancelled', reason: body.reason }
    case 'rewind':
      return { state: 'cancelled', reason: 'rewind' }
    case 'erased':
      return { state: 'cancelled', reason: 'erase' }
    default:
      return { state: 'cancelled', reason: 'abort' }
  }
}
