import {
  handOffId,
  type QueueAddedRecord,
  type QueueItem,
  type RecordBody,
  type ThreadState,
} from '@inspan/protocol/log'
import { GO_ON } from '../waits/continuation.ts'
import type { HandOff, Submission } from '../thread-options.ts'
import { timeOrderedId } from '../../common/time-ordered-id.ts'

/** Returns the queue item for a message that cannot be heard now. */
export function queueItem(
  lane: QueueItem['lane'],
  submission: Submission,
  newId: () => string = timeOrderedId,
): QueueItem {
  const { isNewMessageId: _isNew, runId: _runId, ...item } = submission
  return { id: newId(), lane, ...item }
}

/** Returns the record that hands off the floor of the run: taken when the calls of the step have their results. */
export function handOffFact(run: { readonly runId: string }, { agentId, input = GO_ON }: HandOff): QueueAddedRecord {
  return { type: 'queue.added', item: { id: handOffId(run), lane: 'hand-off', agentId, parts: input } }
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

/** Returns the messages steered into the open run; none while the queue is held, as nobody would answer them. */
export function steeredItems({ head }: ThreadState): QueueItem[] {
  return head.queueHeld ? [] : [...head.queue].filter((item) => item.lane === 'steer')
}

/** Returns the records of what was steered into a cancelled run and not heard: it is said before the next message. */
export function unheardFacts({ head }: ThreadState, newId: () => string): HeardFact[] {
  const undelivered = head.queueHeld ? [...head.queue].filter((item) => item.lane === 'steer') : []
  return undelivered.flatMap((item) => heardBodies(item, newId))
}

type HeardFact = Extract<RecordBody, { type: 'queue.removed' | 'message.added' }>

/** Returns the records that move a queued message into the conversation. */
export function heardBodies(item: QueueItem, newId: () => string): HeardFact[] {
  return [
    { type: 'queue.removed', itemId: item.id, reason: 'heard' },
    { type: 'message.added', messageId: item.messageId ?? newId(), role: 'user', parts: item.parts },
  ]
}
