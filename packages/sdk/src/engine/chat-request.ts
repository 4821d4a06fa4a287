import type { JsonObject, Part, Wait } from '@inspan/protocol'
import type { StreamOptions, ToolApprovalMode } from '@inspan/protocol/chat'
import type { ThreadState } from '@inspan/protocol/log'
import type { Submission } from '@inspan/core/engine'
import { AgentSDKError } from '../errors.ts'

/** The keys of a run's request context that are ours. */
export interface ChatRequest {
  readonly approval?: ToolApprovalMode
  readonly model?: string
}

export function waitOf({ head }: ThreadState, toolCallId: string): Wait | undefined {
  return [...head.waits].find(({ id, subject }) => (subject.toolCallId ?? id) === toolCallId)
}

/** Returns the wait for the end of a limit, if the run waits for one. */
export function limitOf({ head }: ThreadState): Wait | undefined {
  return [...head.waits].find(({ kind, run }) => kind === 'limit' && run === head.run?.runId)
}

/** Whether the call is one of these tools and has no result yet. */
export function isOpenCall({ messages }: ThreadState, toolCallId: string, tools: ReadonlySet<string>): boolean {
  return messages.toArray().some(({ parts }) =>
    parts.toArray().some((part) => {
      if (part.type !== 'tool-call' || part.toolCallId !== toolCallId) return false
      return part.call.stage !== 'ended' && tools.has(part.toolName)
    }),
  )
}

export function requestOf(context: JsonObject | undefined): ChatRequest {
  return (context?.['chat'] ?? {}) as ChatRequest
}

export function submissionOf(
  agentId: string,
  parts: readonly Part[],
  options: StreamOptions,
  approval: ToolApprovalMode | undefined,
  isForeign: boolean,
): Submission {
  const { budget, effort, maxSteps, model, onLimit, operationId } = options
  const chat = {
    ...(approval === undefined ? {} : { approval }),
    ...(model === undefined ? {} : { model }),
  }
  const turn = {
    ...(effort === undefined ? {} : { effort }),
    ...(maxSteps === undefined ? {} : { maxSteps }),
    ...(budget === undefined ? {} : { budget }),
    ...(onLimit === undefined ? {} : { onLimit }),
    // Our own loop resolves the model with the credentials of the agent.
    ...(model === undefined || !isForeign ? {} : { model }),
  }
  return {
    agentId,
    parts,
    ...(Object.keys(chat).length === 0 ? {} : { requestContext: { chat } }),
    ...(Object.keys(turn).length === 0 ? {} : { turn }),
    ...(operationId === undefined ? {} : { runId: operationId, messageId: operationId }),
  }
}

export function inProgress(): AgentSDKError {
  return new AgentSDKError('TURN_IN_PROGRESS', 'A turn of this session is not over yet.', {
    hint: "Read its stream until `finish`, cancel it, or send the message with `whenBusy: 'queue'`.",
  })
}

export function notPending(toolCallId: string, why: string, hint: string): AgentSDKError {
  return new AgentSDKError('TOOL_CALL_NOT_PENDING', `The tool call "${toolCallId}" cannot be settled. ${why}`, { hint })
}
