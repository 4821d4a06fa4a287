import type { JsonObject } from './json.ts'
import type { Answer } from './wait.ts'

/**
 * The life of a tool call.
 *
 * `ordered` the model asked for it · `waiting` someone has to answer first · `started` its effect may have begun ·
 * `ended` its result is recorded. A call found `started` after a crash is in doubt: it is never run again by us.
 */
export type CallStage = 'ordered' | 'waiting' | 'started' | 'ended'

export type CallOutcome = 'ok' | 'error' | 'denied' | 'aborted' | 'in-doubt'

export interface CallState {
  readonly stage: CallStage
  readonly outcome?: CallOutcome
  readonly attempt?: number
  /** Stable over restarts, so that a tool can recognise a repeated call. */
  readonly idempotencyKey?: string
  readonly waitId?: string
  /** Hash of the call that was asked about. An answer counts for this hash only. */
  readonly hash?: string
  /** Further hashes under which rules judged the call. They enter and leave doubt together with `hash`. */
  readonly judgedAs?: readonly string[]
  /** The state of what the call is about when the approval was asked for, e.g. the content hash of a file. */
  readonly preconditions?: JsonObject
  /** The call had already begun when the approval was asked for. If it is declined, its outcome stays unknown. */
  readonly interrupted?: true
  /** The answer to the call's approval. This and the current rules decide whether the call may run. */
  readonly answer?: Answer
  /** The answer to a question the tool itself asked. The tool runs again with it. */
  readonly resume?: Answer
}

const NEXT: Readonly<Record<CallStage, readonly CallStage[]>> = {
  ordered: ['waiting', 'started', 'ended'],
  waiting: ['ordered', 'started', 'ended'],
  // `started` again: another attempt at a call that is declared safe to repeat.
  started: ['started', 'waiting', 'ended'],
  ended: [],
}

/** Foreign agents run their tools themselves, so `ordered` may be followed by `ended` at once. */
export function canCallMove(from: CallStage, to: CallStage): boolean {
  return NEXT[from].includes(to)
}
