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
  /** Stable over restarts: what a tool uses to recognise a repeated call. */
  readonly idempotencyKey?: string
  readonly waitId?: string
  /** What the question was about: an answer counts for this and nothing else. */
  readonly hash?: string
  /** What else rules were asked about: in doubt and out of it together with the hash. */
  readonly judgedAs?: readonly string[]
  /** How things stood when it was asked about. */
  readonly preconditions?: JsonObject
  /** It had begun when it was asked about: declined, its outcome is as unknown as before. */
  readonly interrupted?: true
  /** What was answered when it waited: what it may do is decided by this and by the rules of the moment. */
  readonly answer?: Answer
  /** What was answered when the tool itself had asked: it is carried out again with this. */
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
