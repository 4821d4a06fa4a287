import type { JsonObject } from '@inspan/protocol'
import { RequestContext } from './request-context.ts'

/** The turn a dynamic value is computed for. */
export interface AgentContext {
  readonly threadId: string
  readonly runId: string
  readonly turnId: string
  readonly requestContext: RequestContext
}

/** A value, or a function that computes it for a turn; called again before every step. */
export type Dynamic<T> = T | ((context: AgentContext) => T | Promise<T>)

export async function resolveDynamic<T>(value: Dynamic<T>, context: AgentContext): Promise<T> {
  return typeof value === 'function' ? (value as (context: AgentContext) => T | Promise<T>)(context) : value
}

export function agentContext(turn: {
  readonly threadId: string
  readonly runId: string
  readonly turnId: string
  readonly requestContext?: JsonObject | undefined
}): AgentContext {
  const { threadId, runId, turnId } = turn
  return { threadId, runId, turnId, requestContext: RequestContext.from(turn.requestContext) }
}
