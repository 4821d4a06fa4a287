import type { Part, ThreadMessage, ToolCallPart, ToolResultPart } from '@inspan/protocol'

/** Returns the files that a call has changed, as the agent reports them, else as the call itself says. */
export function editedFiles(
  message: ThreadMessage,
  result: ToolResultPart,
  ofCall: (call: ToolCallPart) => string | undefined,
): readonly string[] {
  const written = (result.activity?.events ?? []).flatMap((event) => (event.type === 'write' ? [event.path] : []))
  if (written.length > 0) return written
  const isCall = (part: Part): boolean => part.type === 'tool-call' && part.toolCallId === result.toolCallId
  const call = message.parts.at(message.parts.findLastIndex(isCall))
  const own = call?.type === 'tool-call' && call.toolCallId === result.toolCallId ? ofCall(call) : undefined
  return own === undefined ? [] : [own]
}
