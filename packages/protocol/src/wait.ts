import type { ErrorData } from './error-data.ts'
import type { JsonObject, JsonValue } from './json.ts'
import type { GrantScope } from './permission.ts'

/** `limit`: a provider refuses until a time. `child`: a subagent works. Both are answered by the engine, not by people. */
export type WaitKind = 'approval' | 'question' | 'plan' | 'access' | 'tool' | 'limit' | 'child'

/** `pending` until it becomes exactly one of the others. No wait ever turns into "allow" by itself. */
export type WaitState = 'pending' | 'answered' | 'cancelled' | 'superseded'

export type WaitCancelReason = 'abort' | 'rewind' | 'delete' | 'timeout' | 'erase'

/** What an approval is bound to. Other arguments or another definition of the tool need a new approval. */
export interface WaitSubject {
  readonly agentId?: string
  readonly toolCallId?: string
  readonly toolName?: string
  readonly args?: JsonObject
  /** Hash over agent, tool, definition, canonical arguments and working directory. */
  readonly hash?: string
  /** Hashes under which rules judged parts of the call, or the name a foreign program has for it. */
  readonly judgedAs?: readonly string[]
}

export interface WaitRequest {
  readonly id: string
  readonly kind: WaitKind
  readonly subject: WaitSubject
  /** One line for a person. */
  readonly description: string
  /** What the asker displays: question and options, plan, path. */
  readonly payload?: JsonObject
  /** JSON Schema of the answer, as text. */
  readonly answerSchema?: string
  /** False when the asker cannot continue after a restart. Known before anybody answers. */
  readonly resumable?: boolean
  /** Checked again before the call runs, e.g. the content hash of the file to be edited. */
  readonly preconditions?: JsonObject
  /** The call had already begun and its outcome is unknown. The question is whether to make it again. */
  readonly interrupted?: true
  /** When the wait settles by itself, in milliseconds since the epoch. Whichever process finds it due settles it. */
  readonly due?: number
}

export interface Wait extends WaitRequest {
  readonly run?: string
  readonly turn?: string
  /** The address of the tool call that waits, if one does. */
  readonly call?: { readonly messageId: string; readonly partId: string }
  /** The seq of the record that opened it. */
  readonly openedAt: number
  readonly at: number
}

export type WaitDecision = 'approve' | 'decline' | 'answer'

export interface Answer {
  /** For an approval `approve` or `decline`; for a wait that asks for data `answer` with a `value`, or `decline`. */
  readonly decision: WaitDecision
  /** Matches the wait's `answerSchema`. */
  readonly value?: JsonValue
  /** Passed on to the agent when the decision is no. */
  readonly reason?: string
  /** Also allows later calls. Kept by us, never written into a foreign program's settings. */
  readonly remember?: 'tool' | 'category'
  /** Where it is remembered. Default: in the thread. */
  readonly scope?: GrantScope
  readonly error?: ErrorData
}
