import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'
import type { JsonValue } from '@inspan/protocol'
import type { ModelOutputPart, ToolOutcome } from '@inspan/protocol/driver'

/** A model sees the beginning and the end of a longer text. The record keeps all of it. */
const MAX_MODEL_TEXT = 100_000

/** Turns what a server returned into the outcome of a call. */
export function outcomeOf(result: CallToolResult): ToolOutcome {
  const { content, isError, structuredContent } = result
  const [first] = content
  // Nearly every result is one short text.
  if (content.length === 1 && first?.type === 'text' && structuredContent === undefined && !isLongText(first.text)) {
    return isError === true ? { result: first.text, isError } : { result: first.text }
  }
  const parts = content.flatMap((block) => partsOf(block))
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  const isPlain = content.every(({ type }) => type === 'text')
  const isLong = parts.some((part) => part.type === 'text' && isLongText(part.text))
  return {
    result: isPlain && structuredContent === undefined ? text : recorded(result),
    ...(isError === true ? { isError: true } : {}),
    ...(isPlain && !isLong && structuredContent === undefined ? {} : { modelOutput: shown(parts, structuredContent) }),
  }
}

function recorded({ content, structuredContent }: CallToolResult): JsonValue {
  return JSON.parse(
    JSON.stringify({ content, ...(structuredContent === undefined ? {} : { structuredContent }) }),
  ) as JsonValue
}

function shown(parts: readonly ModelOutputPart[], structured: unknown): NonNullable<ToolOutcome['modelOutput']> {
  // Servers repeat structured content as text for clients that do not know it.
  if (parts.length === 0 && structured !== undefined)
    return { type: 'text', value: shortened(JSON.stringify(structured)) }
  const value = parts.map((part) => (part.type === 'text' ? { ...part, text: shortened(part.text) } : part))
  return { type: 'content', value }
}

function partsOf(block: ContentBlock): ModelOutputPart[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text }]
    case 'image':
    case 'audio':
      return [{ type: 'file', mediaType: block.mimeType, data: block.data }]
    case 'resource': {
      const { mimeType = 'application/octet-stream', uri } = block.resource
      if ('text' in block.resource) return [{ type: 'text', text: `${uri}:\n${block.resource.text}` }]
      return [{ type: 'file', mediaType: mimeType, data: block.resource.blob, fileName: uri }]
    }
    case 'resource_link':
      return [{ type: 'text', text: `${block.name}: ${block.uri}` }]
    default:
      return [{ type: 'text', text: JSON.stringify(block) }]
  }
}

function shortened(text: string): string {
  if (!isLongText(text)) return text
  const half = MAX_MODEL_TEXT / 2
  return `${text.slice(0, half)}\n[${text.length - MAX_MODEL_TEXT} characters left out]\n${text.slice(-half)}`
}

function isLongText(text: string): boolean {
  return text.length > MAX_MODEL_TEXT
}
