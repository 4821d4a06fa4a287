import type { JsonObject, MessageRole } from '@inspan/protocol'
import { toHarnessMessage, type HarnessMessage } from '@inspan/protocol/harness'
import { signalPart } from './signal-part.ts'
import type { ThreadPort } from './thread-port.ts'

export interface SystemReminder {
  readonly message: string
  readonly reminderType: string
  readonly role?: Extract<MessageRole, 'user' | 'assistant' | 'system'>
  readonly metadata?: JsonObject
}

/** Adds a reminder to the conversation. Starts no run: the model reads it when it is asked next. */
export async function saveSystemReminder(port: ThreadPort, reminder: SystemReminder): Promise<HarnessMessage | null> {
  const { message, reminderType, metadata } = reminder
  const messageId = port.newId()
  const part = signalPart(
    'system_reminder',
    { tagName: 'system-reminder', message, attributes: { type: reminderType } },
    { ...metadata, reminderType },
  )
  await port.record([{ type: 'message.added', messageId, role: reminder.role ?? 'user', parts: [part] }])
  const stored = await port.getMessage(messageId)
  return stored === null ? null : toHarnessMessage(stored)
}
