import type { CallOutcome } from '@inspan/protocol'
import type { RecordBody } from '@inspan/protocol/log'
import type { PartTracker } from './part-tracker.ts'

/**
 * Returns records that close the calls of a message without a result, so that no history holds an unanswered call.
 * `noted` overrides `outcome` for calls about which more is known.
 */
export function closeCalls(
  tracker: PartTracker,
  outcome: CallOutcome,
  noted: ReadonlyMap<string, CallOutcome>,
): RecordBody[] {
  const inputs = tracker.openInputs().map((part): RecordBody => ({
    type: 'tool-call',
    ...tracker.take('tool-call', part.key),
    toolCallId: part.key,
    toolName: part.text,
    args: {},
    meta: { interrupted: true, synthetic: true },
  }))
  const results = tracker.unanswered().map(([toolCallId, call]): RecordBody => {
    tracker.answer(toolCallId)
    const how = noted.get(toolCallId) ?? outcome
    return {
      type: 'tool-result',
      ...tracker.take('tool-result', toolCallId),
      toolCallId,
      toolName: call.toolName,
      result: how === 'aborted' ? 'The call was aborted.' : 'The call was interrupted; its outcome is unknown.',
      isError: true,
      call: { messageId: call.messageId, partId: call.partId },
      outcome: how,
      meta: { synthetic: true },
    }
  })
  return [...inputs, ...results]
}
