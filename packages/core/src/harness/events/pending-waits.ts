import type { Wait } from '@inspan/protocol'
import { askerOf } from '../subagents/passed-question.ts'
import type { PendingToolApproval, PendingToolSuspension } from '@inspan/protocol/harness'
import type { Head } from '@inspan/protocol/log'

/** In the order in which they were opened. */
type Waits = Iterable<Wait>

/** Returns the id of the call that waits. A wait without a call goes by its own id. */
export function callIdOf(wait: Wait): string {
  return wait.subject.toolCallId ?? wait.id
}

export function toolNameOf(wait: Wait): string {
  return wait.subject.toolName ?? wait.kind
}

export function approvalWaits(waits: Waits): Wait[] {
  return [...waits].filter(({ kind }) => kind === 'approval')
}

/** Returns the questions that tools ask themselves. Limits and subagents settle without anybody's answer. */
export function suspendedWaits(waits: Waits): Wait[] {
  return [...waits].filter(({ kind }) => kind !== 'approval' && kind !== 'limit' && kind !== 'child')
}

/**
 * True when a parked run waits for answers to tools' questions. While an approval is open or only subagents are at
 * work, the run counts as at work for listeners.
 */
export function isSuspended({ run, waits }: Head): boolean {
  return run?.status === 'parked' && suspendedWaits(waits).length > 0 && approvalWaits(waits).length === 0
}

export function pendingApproval(wait: Wait): PendingToolApproval {
  const { description, subject } = wait
  const subagent = askerOf(wait)
  return {
    toolCallId: callIdOf(wait),
    toolName: toolNameOf(wait),
    args: subject.args ?? {},
    description,
    ...(subagent === undefined ? {} : { subagent }),
  }
}

export function pendingSuspension(wait: Wait): PendingToolSuspension {
  return {
    toolCallId: callIdOf(wait),
    toolName: toolNameOf(wait),
    args: wait.subject.args ?? {},
    suspendPayload: wait.payload ?? {},
    ...(wait.answerSchema === undefined ? {} : { resumeSchema: wait.answerSchema }),
  }
}

export function pendingApprovals(waits: Waits): readonly PendingToolApproval[] {
  return approvalWaits(waits).map(pendingApproval)
}

export function pendingSuspensions(waits: Waits): ReadonlyMap<string, PendingToolSuspension> {
  return new Map(suspendedWaits(waits).map((wait) => [callIdOf(wait), pendingSuspension(wait)]))
}
