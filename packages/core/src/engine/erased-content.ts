import type { LogRecord, Part } from '@evener/protocol'

/** What a range of records said, as far as copies of it outside the range can be recognised by it. */
export interface ErasedContent {
  readonly runs: ReadonlySet<string>
  /** Lower case, words one blank apart. */
  readonly texts: readonly string[]
}

export function textsOf({ body }: LogRecord): string[] {
  switch (body.type) {
    case 'text-delta':
      return [wordsOf(body.text)]
    case 'message.added':
      return textsOfParts(body.parts)
    case 'queue.added':
      return textsOfParts(body.item.parts)
    default:
      return []
  }
}

/** A title is often a beginning with an ellipsis. */
export function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .replace(/(\.{3}|…)$/, '')
    .trim()
}

function textsOfParts(parts: readonly Part[]): string[] {
  return parts.flatMap((part) => (part.type === 'text' ? [wordsOf(part.text)] : []))
}
