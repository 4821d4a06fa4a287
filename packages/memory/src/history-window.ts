import type { MemoryThread } from '@inspan/protocol/driver'

/** The share of the window that is left when older messages are dropped. */
const AFTER_CUT = 0.6

/**
 * Leaves out all but the newest messages, if there are more than `most`. They stay in the thread. The first request of a
 * fork is sent as it is: up to the new message, the provider has it in its cache.
 */
export async function keepLast(thread: MemoryThread, most: number): Promise<void> {
  if (thread.isFreshFork()) return
  const basis = thread.basis()
  const messages = await thread.messages()
  if (messages.length <= most) return
  let first = messages.length - Math.max(1, Math.floor(most * AFTER_CUT))
  // A result that is a message of its own follows its call.
  while (first < messages.length - 1 && messages[first]?.role === 'tool') first++
  await thread.cut((messages[first]?.order ?? 1) - 1, basis)
}
