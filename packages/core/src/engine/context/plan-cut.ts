import type { StoredMessage } from '@inspan/protocol'
import type { ContextCutRecord, OmPointer } from '@inspan/protocol/log'
import { charsOf, tokensOf } from './message-size.ts'

export interface CutRequest {
  /** The messages after the pointer, oldest first, as they are stored; before them, those it keeps. */
  readonly messages: readonly StoredMessage[]
  /** How many of them are only kept. */
  readonly kept: number
  readonly pointer: OmPointer | null
  /** How many tokens the messages may have after the cut. */
  readonly budget: number
  /** How many real tokens an estimated one is. */
  readonly factor: number
}

/** A message with more than this share of the budget is shortened to half of it. */
const OVERSIZED = 0.5

/** Fewer characters than this say nothing. */
const LEAST_CHARS = 200

/**
 * Plans what is left out so that the rest fits the budget: whole messages, the oldest first, and the middle of messages
 * that are too large on their own. A call and its result are in one message, so they stay together. The task that is
 * being worked on stays, however old it is. Returns `undefined` if nothing can be left out.
 */
export function planCut({
  messages,
  kept: keptBefore,
  pointer,
  budget,
  factor,
}: CutRequest): ContextCutRecord | undefined {
  const before = pointer?.shortened ?? {}
  const shortened: { [messageId: string]: number } = {}
  const sizeOf = (message: StoredMessage): number => {
    const tokens = tokensOf(message) * factor
    const chars = shortened[message.id] ?? before[message.id]
    return chars === undefined ? tokens : Math.min(tokens, (tokens * chars) / Math.max(1, charsOf(message)))
  }
  for (const message of messages) {
    if (sizeOf(message) > budget * OVERSIZED)
      shortened[message.id] = shorterBy(message, budget * OVERSIZED * 0.5, factor)
  }
  const task = messages.findLast(isTask)
  let left = budget - (task === undefined ? 0 : sizeOf(task))
  let first = messages.length
  while (first > 0) {
    const message = messages[first - 1] as StoredMessage
    const tokens = message === task ? 0 : sizeOf(message)
    // The newest message is what the model has to answer.
    if (tokens > left && first < messages.length) break
    left -= tokens
    first--
  }
  // What was kept only as the task of then is kept as the task of now, or not at all.
  first = Math.max(first, keptBefore)
  // A result that is a message of its own follows its call.
  while (first < messages.length - 1 && messages[first]?.role === 'tool') first++
  const kept = messages.slice(first)
  const isTaskKept = task === undefined || kept.includes(task)
  const sent = new Set([...kept, ...(isTaskKept ? [] : [task])].map(({ id }) => id))
  const still = Object.fromEntries(Object.entries({ ...before, ...shortened }).filter(([id]) => sent.has(id)))
  const isMore = Object.entries(shortened).some(([id, chars]) => sent.has(id) && chars < (before[id] ?? Infinity))
  if (first === keptBefore && !isMore) return undefined
  return {
    type: 'context.cut',
    generation: (pointer?.generation ?? 0) + 1,
    coversTo: first === keptBefore ? (pointer?.coversTo ?? 0) : (kept[0]?.order ?? 1) - 1,
    // A message that was kept before is counted once it is left out.
    omitted: first - (isTaskKept ? 0 : 1),
    ...(isTaskKept ? {} : { keeps: [task.id] }),
    ...(Object.keys(still).length === 0 ? {} : { shortened: still }),
  }
}

function shorterBy(message: StoredMessage, tokens: number, factor: number): number {
  const chars = charsOf(message)
  const texts = Math.max(1, message.parts.filter(({ type }) => type === 'text' || type === 'tool-result').length)
  const share = tokens / (tokensOf(message) * factor)
  return Math.max(LEAST_CHARS, Math.floor((chars * share) / texts))
}

/** Whether somebody asked for something in the message. Signals are ours. */
export function isTask({ parts, role }: StoredMessage): boolean {
  return role === 'user' && parts.some(({ type }) => type === 'text' || type === 'image' || type === 'file')
}
