import { isDeepStrictEqual } from 'node:util'
import type { Part, ToolCallPart } from '@inspan/protocol'
import type { ToolCallRequest } from '@inspan/protocol/driver'
import type { ThreadState } from '@inspan/protocol/log'

/** Whether the same call was interrupted earlier in this run and has not been approved again since. */
export function wasInterrupted(call: ToolCallRequest, { messages }: ThreadState): boolean {
  let interrupted = false
  for (const { parts } of messages) {
    for (const part of parts.pick(settledCall, SETTLED_CALLS)) {
      if (part.toolName !== call.toolName || part.toolCallId === call.toolCallId) continue
      if (isDeepStrictEqual(part.args, call.args)) interrupted = part.call.outcome === 'in-doubt'
    }
  }
  return interrupted
}

/** Caches the relevant parts: a step may have very many calls, and each of them is checked. */
const SETTLED_CALLS = new WeakMap<object, readonly ToolCallPart[]>()

function settledCall(part: Part): ToolCallPart | undefined {
  if (part.type !== 'tool-call') return undefined
  return part.call.outcome === 'in-doubt' || part.call.answer?.decision === 'approve' ? part : undefined
}
