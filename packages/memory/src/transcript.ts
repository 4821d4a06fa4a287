import type { JsonValue, Part, StoredMessage } from '@inspan/protocol'

/** The most characters of one part that an observer reads. */
const MOST_CHARS = 20_000

/** Returns messages as text for an observer. Nothing in them can end the block they are put into. */
export function transcript(messages: readonly StoredMessage[], mostChars: number = MOST_CHARS): string {
  return messages
    .map((message) => inTags(message, bodyOf(message, mostChars)))
    .filter((text) => text !== '')
    .join('\n')
}

/** Returns what a message says, with at most so many characters of each part. */
export function bodyOf({ parts }: StoredMessage, mostChars: number): string {
  return parts.flatMap((part) => lineOf(part, mostChars)).join('\n')
}

/** Returns a body with who said it and when. */
export function inTags({ at, role }: StoredMessage, body: string): string {
  const by = role === 'user' ? 'user' : 'assistant'
  return body === '' ? '' : `<message role="${by}" at="${new Date(at).toISOString()}">\n${body}\n</message>`
}

/** Makes a text harmless inside a block of tags. */
export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

function lineOf(part: Part, most: number): string[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [shown(part.text, most)]
    case 'tool-call':
      return [`[calls ${escapeText(part.toolName)}: ${shown(JSON.stringify(part.args), most)}]`]
    case 'tool-result':
      return [`[${escapeText(part.toolName)} returned: ${shown(asText(part.result), most)}]`]
    case 'image':
    case 'file':
      return [`[a file: ${escapeText(part.fileName ?? part.mimeType)}]`]
    default:
      // Reasoning is the model's own, and signals are ours: neither is worth remembering.
      return []
  }
}

function asText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function shown(text: string, most: number): string {
  return escapeText(text.length <= most ? text : `${firstChars(text, most)} […]`)
}

/** Cuts a text, not inside a surrogate pair. */
export function firstChars(text: string, most: number): string {
  return text.slice(0, Math.max(0, most)).replace(/[\ud800-\udbff]$/, '')
}
