import type { ErrorData } from './error-data.ts'
import type { JsonObject, JsonValue } from './json.ts'

export type WaitKind = 'approval' | 'question' | 'plan' | 'access' | 'tool'

/** `pending` until exactly one of the others; nothing ever turns into "allow" by itself. */
export type WaitState = 'pending' | 'answered' | 'cancelled' | 'superseded'

export type WaitCancelReason = 'abort' | 'rewind' | 'delete' | 'timeout' | 'erase'

/** What an approval is bound to: other arguments or another definition of the tool ask anew. */
export interface WaitSubject {
  readonly agentId?: string
  readonly toolCallId?: string
  readonly toolName?: string
  readonly args?: JsonObject
  /** Hash over agent, tool, definition, canonical arguments and working directory. */
  readonly hash?: string
  /** Hashes of what else rules were asked about: parts of the call, or the name a foreign program has for it. */
  readonly judgedAs?: readonly string[]
}

export interface WaitRequest {
  readonly id: string
  readonly kind: WaitKind
  readonly subject: WaitSubject
  /** One line for a person. */
  readonly description: string
  /** What the asker shows: question and options, plan, path. */
  readonly payload?: JsonObject
  /** JSON Schema of the answer, as text. */
  readonly answerSchema?: string
  /** False when the asker cannot be continued after a restart: said before anybody answers. */
  readonly resumable?: boolean
  /** Checked again before the effect, e.g. the content hash of the file to be edited. */
  readonly preconditions?: JsonObject
  /** The call had begun before, and nobody knows how that ended: asked is whether it is to be made again. */
  readonly interrupted?: true
}

export interface Wait extends WaitRequest {
  readonly run?: string
  readonly turn?: string
  /** Where the tool call stands that waits, if it is one. */
  readonly call?: { readonly messageId: string; readonly partId: string }
  /** The seq of the record that opened it. */
  readonly openedAt: number
  readonly at: number
}

export type WaitDecision = 'approve' | 'decline' | 'answer'

export interface Answer {
  /** An approval takes `approve` or `decline`; what asks for data takes `answer` with a `value`, or `decline`. */
  readonly decision: WaitDecision
  /** As the wait's `answerSchema` says. */
  readonly value?: JsonValue
  /** Told to the agent with a no. */
  readonly reason?: string
  /** Also allow what comes later: kept by us, never written into a foreign program's settings. */
  readonly remember?: 'tool' | 'category'
  readonly error?: ErrorData
}

export function canWaitMove(from: WaitState, to: WaitState): boolean {
  return from === 'pending' && to !== 'pending'
}
