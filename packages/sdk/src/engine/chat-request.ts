import type { JsonObject, Part, Wait } from '@inspan/protocol'
import type { StreamOptions, ToolApprovalMode } from '@inspan/protocol/chat'
import type { ThreadState } from '@inspan/protocol/log'
import type { Submission, ThreadRuntime } from '@inspan/core/engine'
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

/** Resolves when no turn is open. Rejects if the turn waits for an answer: whoever calls may be the one to give it. */
export async function turnsOver(runtime: ThreadRuntime): Promise<void> {
  for (let { run } = runtime.state.head; run !== null; run = runtime.state.head.run) {
    const waiting = Promise.withResolvers<'waiting'>()
    const stop = runtime.onEntry(({ state }) => (hasWait(state) ? waiting.resolve('waiting') : undefined))
    try {
      if (hasWait(runtime.state)) throw inProgress()
      if ((await Promise.race([waiting.promise, runtime.outcome(run.runId)])) === 'waiting') throw inProgress()
    } finally {
      stop()
    }
  }
}

function hasWait({ head }: ThreadState): boolean {
  return [...head.waits].some(({ run }) => run === head.run?.runId)
}

export function notPending(toolCallId: string, why: string, hint: string): AgentSDKError {
  return new AgentSDKError('TOOL_CALL_NOT_PENDING', `The tool call "${toolCallId}" cannot be settled. ${why}`, { hint })
}
