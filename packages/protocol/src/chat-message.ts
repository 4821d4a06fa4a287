import type { BlobRef } from './blob.ts'
import { toError } from './error-data.ts'
import type { MessageRole, Part, StoredMessage, ThreadMessage } from './message.ts'
import { hasArgs, isPlaceholder, settledResult } from './part-facts.ts'

/*
 * The public chat shapes. They are not `readonly`: callers build them, change them and hand them to functions of their
 * own. What is given out is a new message each time; arguments and results in it are shared and not to be changed.
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
  /** Made anew from what was recorded: its stack need not point at the place where the tool threw. */
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
  /** Where the whole result is when it is large; `result` then holds its beginning. */
  resultRef?: BlobRef
}

/** Open for what a model or agent takes besides the two that every one does. */
export type ChatImageMimeType = 'image/png' | 'image/jpeg' | (string & {})

export type ChatFileMimeType = 'application/pdf' | (string & {})

export interface ChatImagePart {
  type: 'image'
  mimeType: ChatImageMimeType
  /** Base64 without a `data:` prefix; empty when `ref` or `url` is set. */
  data: string
  fileName?: string
  ref?: BlobRef
  /** Where the file is when only its address is known. */
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

/** A message of a chat. `createdAt` is always there on reading and may be left out on writing. */
export interface ChatMessage {
  id: string
  role: MessageRole
  content: ChatMessageContent
  createdAt?: Date
}

/** A message that is nothing but one text comes as a string. */
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

/** `undefined` for what a chat does not show: calls whose input is not known, results not there yet, mute signals. */
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
      // A chat knows no signals; what the model was told stays visible as text.
      return part.text === '' ? undefined : { type: 'text', text: part.text }
  }
}
