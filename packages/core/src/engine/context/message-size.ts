import { estimateTokenCount } from 'tokenx'
import type { JsonValue, Part, StoredMessage } from '@inspan/protocol'

/** What providers bill for an image or a document of average size; the length of its encoding says nothing. */
const FILE_TOKENS = 1500

/** What surrounds a message or a part in a request: role, ids, separators. */
const FRAME_TOKENS = 4

const sizes = new WeakMap<StoredMessage, MessageSize>()

interface MessageSize {
  readonly chars: number
  tokens: number | undefined
}

/** Returns an upper bound of the message's tokens that costs next to nothing: hardly a character is two tokens. */
export function mostTokens(message: StoredMessage): number {
  return sizeOf(message).chars + FRAME_TOKENS * (message.parts.length + 1)
}

/** Returns the length of the message's texts. */
export function charsOf(message: StoredMessage): number {
  return sizeOf(message).chars
}

/** Estimates the message's tokens. Counted once per message. */
export function tokensOf(message: StoredMessage): number {
  const size = sizeOf(message)
  size.tokens ??= message.parts.reduce((sum, part) => sum + FRAME_TOKENS + partTokens(part), FRAME_TOKENS)
  return size.tokens
}

function sizeOf(message: StoredMessage): MessageSize {
  const known = sizes.get(message)
  if (known !== undefined) return known
  const chars = message.parts.reduce((sum, part) => sum + (isFile(part) ? FILE_TOKENS : textOf(part).length), 0)
  const size: MessageSize = { chars, tokens: undefined }
  sizes.set(message, size)
  return size
}

function partTokens(part: Part): number {
  return isFile(part) ? FILE_TOKENS : estimateTokenCount(textOf(part))
}

function isFile(part: Part): boolean {
  return part.type === 'image' || part.type === 'file'
}

/** Returns the part as text, roughly as a model gets it. */
export function textOf(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'reasoning':
    case 'signal':
      return part.text
    case 'tool-call':
      return `${part.toolName} ${asText(part.args)}`
    case 'tool-result':
      return asText(part.meta?.['modelOutput'] ?? part.result)
    default:
      return ''
  }
}

function asText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
