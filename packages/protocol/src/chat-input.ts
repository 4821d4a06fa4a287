import type { ChatMessage } from './chat-message.ts'
import type { MessageAddedRecord } from './control-record.ts'
import { InspanError } from './errors.ts'
import type { MessageRole, Part } from './message.ts'
import { isSafeSegment } from './op.ts'

const ROLES: readonly MessageRole[] = ['system', 'user', 'assistant', 'tool']
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/**
 * Converts a caller's message into the record that adds it. Refuses with `invalid-input` what must not enter a
 * conversation from outside, before anything is written. The limits of models (formats, sizes, counts) are not checked
 * here.
 */
export function fromChatMessage(message: ChatMessage): MessageAddedRecord {
  const { id, role, content, createdAt } = message
  if (typeof id !== 'string' || !isSafeSegment(id)) {
    throw refused(`A message cannot have the id ${quote(id)}.`, 'Give it a unique name of its own.')
  }
  if (!ROLES.includes(role)) {
    throw refused(`Message "${id}" has the role ${quote(role)}.`, `Use one of ${ROLES.join(', ')}.`)
  }
  if (createdAt !== undefined && (!(createdAt instanceof Date) || Number.isNaN(createdAt.getTime()))) {
    throw refused(`Message "${id}" has a createdAt that is no date.`, 'Leave it out to get the current time.')
  }
  return {
    type: 'message.added',
    messageId: id,
    role,
    parts: fromChatContent(content),
    ...(createdAt === undefined ? {} : { createdAt: createdAt.getTime() }),
  }
}

/** Converts the caller's text and attachments into parts. Empty texts are left out. */
export function fromChatContent(content: ChatMessage['content']): Part[] {
  const given: readonly unknown[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  if (!Array.isArray(given)) {
    throw refused('The content of a message is neither a text nor a list of parts.', 'Pass a string or an array.')
  }
  const parts: Part[] = []
  for (const [index, piece] of given.entries()) {
    const part = partOf(piece, index, String(parts.length))
    if (part !== undefined) parts.push(part)
  }
  if (parts.length === 0) throw refused('The message is empty.', 'Give it a text, an image or a file.')
  return parts
}

function partOf(piece: unknown, index: number, id: string): Part | undefined {
  const where = `Part ${index} of the message`
  if (typeof piece !== 'object' || piece === null) throw refused(`${where} is no object.`, ALLOWED)
  const fields: Readonly<Record<string, unknown>> = { ...piece }
  const { type } = fields
  if (type === 'text') {
    const { text } = fields
    if (typeof text !== 'string') throw refused(`${where} is a text part without a text.`, 'Set `text` to a string.')
    return text === '' ? undefined : { id, type, text }
  }
  if (type === 'image' || type === 'file') return { id, type, ...attachment(fields, where) }
  throw refused(`${where} is of type ${quote(type)}.`, ALLOWED)
}

const ALLOWED = 'Only text, image and file parts can be sent; calls and results come from the agent.'

interface Attachment {
  readonly mimeType: string
  readonly data: string
  readonly fileName?: string
}

function attachment(fields: Readonly<Record<string, unknown>>, where: string): Attachment {
  const { type, mimeType, data, fileName } = fields
  if (typeof mimeType !== 'string' || !/^[\w.+-]+\/[\w.+-]+$/.test(mimeType)) {
    throw refused(`${where} has the media type ${quote(mimeType)}.`, 'Use one like "image/png".')
  }
  if (type === 'image' && !mimeType.startsWith('image/')) {
    throw refused(`${where} is an image of type ${quote(mimeType)}.`, 'Send it as a file part.')
  }
  if (typeof data !== 'string' || data.length % 4 !== 0 || !BASE64.test(data)) {
    throw refused(
      `${where} has data that is not base64.`,
      'Encode the bytes as padded base64, without a `data:` prefix.',
    )
  }
  if (fileName !== undefined && typeof fileName !== 'string') {
    throw refused(`${where} has a file name that is no text.`, 'Leave `fileName` out or set it to a string.')
  }
  return { mimeType, data, ...(fileName === undefined ? {} : { fileName }) }
}

function quote(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 80)) : typeof value
}

function refused(message: string, hint: string): InspanError {
  return new InspanError('invalid-input', message, { hint })
}
