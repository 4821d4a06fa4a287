import { randomUUID } from 'node:crypto'
import type { QueueItem } from '@evener/protocol'
import type { Submission } from './thread-options.ts'

/** What was said while it could not be heard, kept for later. */
export function queueItem(
  lane: QueueItem['lane'],
  submission: Submission,
  newId: () => string = randomUUID,
): QueueItem {
  const { runId: _runId, ...item } = submission
  return { id: newId(), lane, ...item }
}

export function submissionOf(item: QueueItem, agentId: string): Submission {
  const { by, messageId, parts, requestContext, turn } = item
  return {
    parts,
    agentId,
    ...(by === undefined ? {} : { by }),
    ...(messageId === undefined ? {} : { messageId }),
    ...(requestContext === undefined ? {} : { requestContext }),
    ...(turn === undefined ? {} : { turn }),
  }
}
