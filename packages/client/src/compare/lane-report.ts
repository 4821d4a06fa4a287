import type { ClientState } from '../client-state.ts'
import { summarizeCall } from '../call-summary.ts'

export interface LaneCommand {
  readonly command: string
  readonly exitCode?: number
}

/** `waiting`: not started. `blocked`: waits for a person. Any other is how the run ended. */
export type LaneStatus = 'waiting' | 'running' | 'blocked' | 'complete' | 'error' | 'aborted' | 'interrupted'

/** What one agent of a comparison has done. */
export interface LaneReport {
  readonly name: string
  readonly thread: string
  readonly status: LaneStatus
  readonly durationMs: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** As far as the agent or the price list of its model tells; 0 when nothing is known. */
  readonly costUsd: number
  /** The part of `costUsd` that was calculated from list prices. */
  readonly estimatedUsd: number
  /** Files it wrote, each once. */
  readonly files: readonly string[]
  readonly commands: readonly LaneCommand[]
  readonly answer: string
  readonly error?: string
  /** What it changed, as a unified diff, when it worked in a worktree of its own. */
  readonly diff?: string
}

/** Reads the report of a lane from the state of its thread. `now` is the clock for a run that goes on. */
export function laneReport(name: string, state: ClientState, now: number): LaneReport {
  const { head, messages, thread } = state
  const { own, subagents } = head.usage
  const calls = messages.flatMap(({ toolCalls = [] }) => toolCalls)
  const summaries = calls.map(summarizeCall)
  const startedAt = messages[0]?.createdAt
  const endedAt = head.run === null ? (head.lastRun?.endedAt ?? startedAt) : now
  const error = head.lastRun?.error?.message
  return {
    name,
    thread,
    status: statusOf(state),
    durationMs: startedAt === undefined || endedAt === undefined ? 0 : Math.max(0, endedAt - startedAt),
    inputTokens: own.inputTokens + subagents.inputTokens,
    outputTokens: own.outputTokens + subagents.outputTokens,
    costUsd: own.costUsd + subagents.costUsd,
    estimatedUsd: (own.estimatedUsd ?? 0) + (subagents.estimatedUsd ?? 0),
    files: [...new Set(summaries.flatMap(({ written }) => written))],
    commands: summaries.flatMap(({ exitCode, kind, subject }) =>
      kind === 'command' ? [{ command: subject, ...(exitCode === undefined ? {} : { exitCode }) }] : [],
    ),
    answer: messages.findLast(({ content, role }) => role === 'assistant' && content !== '')?.content ?? '',
    ...(head.run === null && error !== undefined ? { error } : {}),
  }
}

function statusOf({ head, messages, status }: ClientState): LaneStatus {
  if (status === 'awaiting-approval') return 'blocked'
  if (head.run !== null) return 'running'
  if (head.lastRun !== null) return head.lastRun.outcome
  return messages.length === 0 ? 'waiting' : 'running'
}
