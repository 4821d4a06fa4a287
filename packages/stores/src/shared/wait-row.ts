import type { Wait, WaitCancelReason, WaitState } from '@inspan/protocol'
import type { PageRequest, Store, WaitRow } from '@inspan/protocol/store'
import { CursorScope } from './cursor.ts'
import { checkTime } from './input-checks.ts'
import { parseOrDamaged, tryParse } from './record-row.ts'

/** A wait as it is stored, with a number, since lists are in the order of opening. */
export interface StoredWait {
  readonly no: number
  readonly stream: string
  readonly id: string
  readonly state: WaitState
  readonly due: number | null
  readonly wait: string
  /** `answeredBy`, `settledAt` and `reason` as JSON, if there are any. */
  readonly settled: string | null
}

/** Returns the wait of a row. `whole` restores what a store keeps apart from the row. */
export function waitFromRow(row: StoredWait, whole: (wait: Wait) => Wait = (wait) => wait): WaitRow {
  const what = `Wait ${row.id} of ${row.stream}`
  const details = { stream: row.stream, wait: row.id }
  return {
    stream: row.stream,
    wait: whole(parseOrDamaged(row.wait, what, details) as Wait),
    state: row.state,
    ...(row.settled === null ? {} : (parseOrDamaged(row.settled, what, details) as Partial<WaitRow>)),
  }
}

type WaitContent = Pick<StoredWait, 'state' | 'wait' | 'settled'>

/** Returns what an erasure leaves of a row. A wait that is still pending is cancelled. */
export function erasedRow(
  { settled, state, wait: text }: WaitContent,
  reason: WaitCancelReason,
  now: number,
): WaitContent {
  const stored = tryParse(text) as Wait | undefined
  const wait = stored === undefined ? '' : JSON.stringify(erasedWait(stored))
  if (state !== 'pending') return { wait, state, settled }
  return { wait, state: 'cancelled', settled: JSON.stringify({ settledAt: now, reason }) }
}

export type WaitQuery = Parameters<Store['listWaits']>[0]

export function waitsScope({ root, state, stream }: WaitQuery): CursorScope<readonly [number]> {
  return new CursorScope(['waits', stream ?? null, root ?? null, state ?? null], [0])
}

export type DueQuery = PageRequest & { readonly now: number }

/** Due waits are listed by the time they are due, then in the order of opening. */
export function dueScope({ now }: DueQuery): CursorScope<readonly [number, number]> {
  checkTime('`now`', now)
  return new CursorScope(['due'], [0, 0])
}

/** Returns a wait without its content: only what ties its records together stays. */
export function erasedWait(wait: Wait): Wait {
  return {
    id: wait.id,
    kind: wait.kind,
    description: '',
    subject: {
      ...(wait.subject.hash === undefined ? {} : { hash: wait.subject.hash }),
      ...(wait.subject.judgedAs === undefined ? {} : { judgedAs: wait.subject.judgedAs }),
    },
    ...(wait.interrupted === undefined ? {} : { interrupted: true }),
    ...(wait.run === undefined ? {} : { run: wait.run }),
    ...(wait.turn === undefined ? {} : { turn: wait.turn }),
    ...(wait.call === undefined ? {} : { call: wait.call }),
    openedAt: wait.openedAt,
    at: wait.at,
  }
}
