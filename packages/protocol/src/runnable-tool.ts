import type { HostTool, ToolOutcome } from './driver.ts'
import type { JsonObject } from './json.ts'
import type { ToolCategory } from './permission.ts'
import type { Answer, WaitKind } from './wait.ts'

/**
 * What becomes of a call that had begun when its process died, so that nobody knows whether it had its effect. `report`
 * tells the model, `ask` asks somebody whether it is to be made again, `retry` makes it again with the same key.
 */
export type OnInterrupted = 'report' | 'ask' | 'retry'

/** A tool that we carry out ourselves. */
export interface RunnableTool extends HostTool {
  readonly category?: ToolCategory
  /** Safe to carry out again after a crash, with the same key. Read-only tools are, unless only a server says so. */
  readonly isIdempotent?: boolean
  /** When a call of it was interrupted. Default: what the runtime says; `retry` for tools that are safe to repeat. */
  readonly onInterrupted?: OnInterrupted
  /** Wants somebody's approval where no rule allows the call: always, or for such input. */
  readonly requiresApproval?: boolean | ((input: JsonObject) => boolean)
  /** What is wrong with an input. Asked before anybody is asked to approve it; the model is told. */
  readonly checkInput?: (input: JsonObject) => Promise<string | undefined>
  /**
   * How things stand that the call is about, such as the content of a file. Approved is the call as they stood when it was
   * asked about: when they have changed since, it is asked about again.
   */
  readonly preconditions?: (input: JsonObject) => Promise<JsonObject | undefined>
  readonly execute: (input: JsonObject, context: ToolRunContext) => Promise<ToolOutcome | ToolSuspension>
}

export interface ToolRunContext {
  readonly signal: AbortSignal
  /** The same for every attempt at this call. */
  readonly idempotencyKey: string
  readonly toolCallId: string
  readonly runId: string
  readonly turnId: string
  readonly threadId: string
  readonly agentId: string
  readonly requestContext?: JsonObject
  /** What was answered when the tool had asked. It is carried out again from its beginning. */
  readonly resume?: Answer
  /** What it had asked then, as it stands on record. */
  readonly suspended?: JsonObject
  readonly progress: (output: string) => void
  /** Puts something that people should know on record. */
  readonly warn?: (text: string) => void
}

/** A tool that cannot go on without an answer. It is carried out again with it, maybe in another process. */
export interface ToolSuspension {
  readonly suspend: {
    readonly kind: Exclude<WaitKind, 'approval'>
    /** One line for a person. */
    readonly description: string
    readonly payload?: JsonObject
    /** JSON Schema of the answer, as text. */
    readonly answerSchema?: string
  }
}
