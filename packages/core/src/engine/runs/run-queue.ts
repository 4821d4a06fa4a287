import type { QueueItem, RecordBody, ThreadState } from '@evener/protocol'
import type { Submission } from '../thread-options.ts'
import { timeOrderedId } from '../time-ordered-id.ts'

/** What was said while it could not be heard, kept for later. */
export function queueItem(
  lane: QueueItem['lane'],
  submission: Submission,
  newId: () => string = timeOrderedId,
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

/** What is to be heard in the run there is. After a cancel nobody would answer it. */
export function steeredItems({ head }: ThreadState): QueueItem[] {
  return head.queueHeld ? [] : [...head.queue].filter((item) => item.lane === 'steer')
}

/** What was said into a run that was cancelled before it could hear it: said before what is said next. */
export function unheardFacts({ head }: ThreadState, newId: () => string): HeardFact[] {
  const unheard = head.queueHeld ? [...head.queue].filter((item) => item.lane === 'steer') : []
  return unheard.flatMap((item) => heardBodies(item, newId))
}

type HeardFact = Extract<RecordBody, { type: 'queue.removed' | 'message.added' }>

/** What is put on record when it is heard. */
export function heardBodies(item: QueueItem, newId: () => string): HeardFact[] {
  return [
    { type: 'queue.removed', itemId: item.id, reason: 'heard' },
    { type: 'message.added', messageId: item.messageId ?? newId(), role: 'user', parts: item.parts },
  ]
}
