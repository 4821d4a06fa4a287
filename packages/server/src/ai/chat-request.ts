import { InspanError, type JsonValue } from '@inspan/protocol'
import type { Command, CommandAttachment } from '@inspan/protocol/wire'

const ID = /^[\w-]{1,128}$/
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+);base64,([A-Za-z0-9+/]+={0,2})$/

type BodyFields = Readonly<Record<string, unknown>>
type ApprovalCommand = Extract<Command, { type: 'approve' | 'deny' }>

/** What a chat of the AI SDK asks for: a new message, or the answers to what waited. */
export type UiChatRequest =
  | {
      readonly id: string
      readonly message: Extract<Command, { type: 'submit' }>
      /** The id that the chat gave its message. */
      readonly messageId?: string
    }
  | { readonly id: string; readonly answers: readonly ApprovalCommand[] }

export function chatId(id: unknown): string {
  if (typeof id === 'string' && ID.test(id)) return id
  throw refused('The id of a chat has to be 1 to 128 letters, digits, "-" or "_".')
}

/** Reads the body that `DefaultChatTransport` sends. Only the last message counts: the thread has the others. */
export function readChatRequest(body: object): UiChatRequest {
  const { id: given, messages, trigger } = body as BodyFields
  const id = chatId(given)
  if (trigger === 'regenerate-message') {
    throw new InspanError('unsupported', 'A message cannot be generated again.', {
      hint: 'Rewind or fork the thread, then send the message again.',
    })
  }
  const last = Array.isArray(messages) ? fieldsOf(messages.at(-1)) : undefined
  const parts = Array.isArray(last?.['parts']) ? last['parts'].map(fieldsOf) : undefined
  if (last === undefined || parts === undefined) throw refused('"messages" has to end with a message with parts.')
  if (last['role'] === 'user') {
    const { id: messageId } = last
    return { id, message: submission(parts), ...(typeof messageId === 'string' ? { messageId } : {}) }
  }
  if (last['role'] === 'assistant') return { id, answers: parts.flatMap(answerOf) }
  throw refused('The last message has to be of the user or of the assistant.')
}

function submission(parts: readonly BodyFields[]): Extract<Command, { type: 'submit' }> {
  const texts: string[] = []
  const attachments: CommandAttachment[] = []
  for (const part of parts) {
    if (part['type'] === 'text' && typeof part['text'] === 'string') texts.push(part['text'])
    else if (part['type'] === 'file') attachments.push(attachment(part))
    else throw refused(`A message of the user cannot have a part of type ${JSON.stringify(part['type'])}.`)
  }
  return { type: 'submit', prompt: texts.join('\n'), ...(attachments.length === 0 ? {} : { attachments }) }
}

function attachment({ filename, url }: BodyFields): CommandAttachment {
  const [, mimeType, data] = DATA_URL.exec(typeof url === 'string' ? url : '') ?? []
  // An address would make the server fetch what the sender cannot reach.
  if (mimeType === undefined || data === undefined) throw refused('Files have to be sent as base64 `data:` addresses.')
  return { mimeType, data, ...(typeof filename === 'string' ? { fileName: filename } : {}) }
}

/** A part that was approved, denied, or given an output by the client. */
function answerOf({ approval, output, state, toolCallId }: BodyFields): readonly ApprovalCommand[] {
  if (typeof toolCallId !== 'string') return []
  if (state === 'output-available') return [{ type: 'approve', toolCallId, answer: output as JsonValue }]
  if (state !== 'approval-responded') return []
  const { approved, reason } = fieldsOf(approval)
  if (approved === true) return [{ type: 'approve', toolCallId }]
  return [{ type: 'deny', toolCallId, ...(typeof reason === 'string' ? { reason } : {}) }]
}

function fieldsOf(value: unknown): BodyFields {
  return typeof value === 'object' && value !== null ? (value as BodyFields) : {}
}

function refused(message: string): InspanError {
  return new InspanError('invalid-input', message)
}
