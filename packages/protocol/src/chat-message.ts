import type { BlobRef } from './blob.ts'
import { toError } from './error-data.ts'
import type { MessageRole, Part, StoredMessage, ThreadMessage } from './message.ts'
import { hasArgs, isPlaceholder, settledResult } from './part-facts.ts'

/*
 * The public chat shapes. They are not `readonly`, because callers build and change them and pass them to functions of
 * their own. Every message we return is new, but its arguments and results are shared and must not be changed.
 */

export interface ChatToolCallInfo {
  toolCallId: string
  toolName: string
  args: Record<string, unknown>
}

export interface ChatToolResultInfo {
  toolCallId: string
  toolName: string
  result: unknown
  isError?: boolean
  /** Rebuilt from the record, so its stack need not point at the place where the tool threw. */
  error?: Error
}

export interface ChatTextPart {
  type: 'text'
  text: string
}

export interface ChatReasoningPart {
  type: 'reasoning'
  text: string
}

export interface ChatToolCallPart extends ChatToolCallInfo {
  type: 'tool-call'
}

export interface ChatToolResultPart extends ChatToolResultInfo {
  type: 'tool-result'
  /** Set when the result is large: the blob that holds it. `result` then holds its beginning. */
  resultRef?: BlobRef
}

/** Open for types that a model or agent takes besides these two, which all of them take. */
export type ChatImageMimeType = 'image/png' | 'image/jpeg' | (string & {})

export type ChatFileMimeType = 'application/pdf' | (string & {})

export interface ChatImagePart {
  type: 'image'
  mimeType: ChatImageMimeType
  /** Base64 without a `data:` prefix; empty when `ref` or `url` is set. */
  data: string
  fileName?: string
  ref?: BlobRef
  /** The address of the file, when only that is known. */
  url?: string
}

export interface ChatFilePart {
  type: 'file'
  mimeType: ChatFileMimeType
  data: string
  fileName?: string
  ref?: BlobRef
  url?: string
}

export type ChatMessagePart =
  | ChatTextPart
  | ChatReasoningPart
  | ChatToolCallPart
  | ChatToolResultPart
  | ChatImagePart
  | ChatFilePart

export type ChatMessageContent = string | ChatMessagePart[]

/** A message of a chat. `createdAt` is always set on reading and optional on writing. */
export interface ChatMessage {
  id: string
  role: MessageRole
  content: ChatMessageContent
  createdAt?: Date
}

/** A message of a single text has a string as its content. */
export function toChatMessage(message: ThreadMessage | StoredMessage): ChatMessage {
  const parts: ChatMessagePart[] = []
  for (const part of message.parts) {
    const piece = toChatPart(part)
    if (piece !== undefined) parts.push(piece)
  }
  return { id: message.id, role: message.role, content: contentOf(parts), createdAt: new Date(message.at) }
}

function contentOf(parts: ChatMessagePart[]): ChatMessageContent {
  const [only, ...others] = parts
  if (only === undefined) return ''
  return others.length === 0 && only.type === 'text' ? only.text : parts
}

/** Returns `undefined` for what a chat does not show: calls without input, missing results, signals without text. */
function toChatPart(part: Part): ChatMessagePart | undefined {
  switch (part.type) {
    case 'text':
      return isPlaceholder(part) ? undefined : { type: 'text', text: part.text }
    case 'reasoning':
      return { type: 'reasoning', text: part.text }
    case 'tool-call':
      if (!hasArgs(part)) return undefined
      return { type: 'tool-call', toolCallId: part.toolCallId, toolName: part.toolName, args: part.args }
    case 'tool-result': {
      const settled = settledResult(part)
      if (settled === undefined) return undefined
      return {
        type: 'tool-result',
        toolCallId: part.toolCallId,
        toolName: part.toolName,
        result: settled.result,
        ...(settled.isError ? { isError: true } : {}),
        ...(settled.error === undefined ? {} : { error: toError(settled.error) }),
        ...(settled.resultRef === undefined ? {} : { resultRef: settled.resultRef }),
      }
    }
    case 'image':
    case 'file':
      return {
        type: part.type,
        mimeType: part.mimeType,
        data: part.data,
        ...(part.fileName === undefined ? {} : { fileName: part.fileName }),
        ...(part.ref === undefined ? {} : { ref: part.ref }),
        ...(part.url === undefined ? {} : { url: part.url }),
      }
    case 'signal':
      // A chat has no signals. What the model was told stays visible as text.
      return part.text === '' ? undefined : { type: 'text', text: part.text }
  }
}
