import type { WaitCancelReason, WaitState } from '@inspan/protocol'
import type { LogRecord, ThreadState } from '@inspan/protocol/log'
import type { WaitRow } from '@inspan/protocol/store'
import { erasedWait } from '@inspan/stores/shared'

type Settled = { readonly state: Exclude<WaitState, 'pending'>; readonly reason?: WaitCancelReason }

/** Returns the rows of the waits that a record opened or settled, whatever its type. */
export function waitRows(before: ThreadState, after: ThreadState, record: LogRecord): WaitRow[] {
  const old = before.head.waits
  const now = after.head.waits
  if (old === now) return []
  const { stream, at, by } = record
  const touched = waitsOf(record) ?? [...old.keys(), ...now.keys()]
  const opened = [...new Set(touched)]
    .flatMap((id) => now.get(id) ?? [])
    .filter((wait) => old.get(wait.id) !== wait)
    .map((wait): WaitRow => ({ stream, wait, state: 'pending' }))
  const settled = [...new Set(touched)]
    .flatMap((id) => old.get(id) ?? [])
    .filter((wait) => !now.has(wait.id))
    .map((wait): WaitRow => ({
      stream,
      // The state still has the question, but the row must not repeat it.
      wait: record.body.type === 'erased' ? erasedWait(wait) : wait,
      ...howSettled(record),
      settledAt: at,
      // The author of a record that only ends the wait has not answered it.
      ...(by === undefined || record.body.type !== 'wait.answered' ? {} : { answeredBy: by }),
    }))
  return [...opened, ...settled]
}

/** Returns the wait a record is about, if it is about a single one. */
function waitsOf({ body }: LogRecord): readonly string[] | undefined {
  if (body.type === 'wait.opened') return [body.wait.id]
  return 'waitId' in body ? [body.waitId] : undefined
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
