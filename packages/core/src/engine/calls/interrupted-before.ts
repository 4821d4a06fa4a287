import { isDeepStrictEqual } from 'node:util'
import type { Part, ThreadState, ToolCallPart, ToolCallRequest } from '@evener/protocol'

/** The same call was cut short in this run, and since then nobody has looked at it. */
export function wasInterrupted(call: ToolCallRequest, { messages }: ThreadState): boolean {
  let interrupted = false
  for (const { parts } of messages) {
    for (const part of parts.pick(telling, TELLING)) {
      if (part.toolName !== call.toolName || part.toolCallId === call.toolCallId) continue
      if (isDeepStrictEqual(part.args, call.args)) interrupted = part.call.outcome === 'in-doubt'
    }
  }
  return interrupted
}

/** Asked about every call of a step, which may have very many. */
const TELLING = new WeakMap<object, readonly ToolCallPart[]>()

function telling(part: Part): ToolCallPart | undefined {
  if (part.type !== 'tool-call') return undefined
  return part.call.outcome === 'in-doubt' || part.call.answer?.decision === 'approve' ? part : undefined
}
