import type { Part, StoredMessage } from '@inspan/protocol'

/** Returns the message with the beginning and the end of each text that is longer than `chars`. */
export function shortenMessage(message: StoredMessage, chars: number): StoredMessage {
  return { ...message, parts: message.parts.map((part) => shortenPart(part, chars)) }
}

/** Cuts the middle out of a text, and marks the cut. Never cuts inside a surrogate pair. */
export function shortenText(text: string, chars: number): string {
  if (text.length <= chars) return text
  const half = Math.floor(chars / 2)
  const beginning = text.slice(0, isHigh(text, half - 1) ? half - 1 : half)
  const end = text.slice(isLow(text, text.length - half) ? text.length - half + 1 : text.length - half)
  const left = text.length - beginning.length - end.length
  return `${beginning}\n[… ${left} characters were left out here …]\n${end}`
}

function shortenPart(part: Part, chars: number): Part {
  switch (part.type) {
    case 'text':
    case 'signal':
      return part.text.length > chars ? { ...part, text: shortenText(part.text, chars) } : part
    case 'tool-result': {
      const { modelOutput, ...meta } = part.meta ?? {}
      const shown = modelOutput ?? part.result
      const text = typeof shown === 'string' ? shown : JSON.stringify(shown)
      if (text.length <= chars) return part
      return { ...part, result: shortenText(text, chars), ...(part.meta === undefined ? {} : { meta }) }
    }
    default:
      // Reasoning is signed and arguments are what was called: neither can be sent in part.
      return part
  }
}

function isHigh(text: string, index: number): boolean {
  return /[\uD800-\uDBFF]/.test(text[index] ?? '')
}

function isLow(text: string, index: number): boolean {
  return /[\uDC00-\uDFFF]/.test(text[index] ?? '')
}
