const listeners = new Set<(messageId: string) => void>()

/** Scrolls the conversation to a message, wherever the wish comes from. */
export function jumpTo(messageId: string): void {
  for (const listener of listeners) listener(messageId)
}

export function onJump(listener: (messageId: string) => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
