import type { StoredMessage } from '@inspan/protocol'
import type { OmPointer } from '@inspan/protocol/log'

/**
 * Returns the messages that stand for what is not sent itself: what memory holds of it, and how much was left out. They
 * are the user's, because much of their content comes from tools and must not have the weight of instructions.
 */
export function standingMessages(pointer: OmPointer | null, memory: string | undefined): StoredMessage[] {
  const omitted = pointer?.omitted ?? 0
  return [
    ...(memory === undefined || memory === '' ? [] : [standing('memory', memory)]),
    ...(omitted === 0 ? [] : [standing('omitted', omittedText(omitted))]),
  ]
}

function omittedText(count: number): string {
  const which =
    count === 1 ? '1 earlier message of this conversation was' : `${count} earlier messages of this conversation were`
  return `[${which} left out, because the conversation no longer fits the context window.]`
}

function standing(id: string, text: string): StoredMessage {
  const part = { id: '0', type: 'signal', kind: 'system_reminder', text, data: {} } as const
  return { id: `context:${id}`, role: 'user', order: 0, at: 0, state: 'done', parts: [part] }
}
