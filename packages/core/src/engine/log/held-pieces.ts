import type { BatchEvent, SealedPart } from '@inspan/protocol/log'
import { partKey, textOf } from './pending-batch.ts'
import type { RecordRedactor } from './record-redactor.ts'

/** The pieces of a part, or of one stream of its output, that are not shown yet. */
interface Held {
  readonly part: string
  /** The newest piece. What is shown has its fields. */
  event: BatchEvent
  text: string
}

/**
 * Holds back what agents and tools say until it is certain that it is no part of a secret, or the part is sealed. A
 * secret may be spread over any number of pieces.
 */
export class HeldPieces {
  readonly #held = new Map<string, Held>()

  /** Takes a piece, and returns what can be shown of its part now. */
  take(event: BatchEvent, redactor: RecordRedactor): BatchEvent | undefined {
    const part = partKey(event.messageId, event.partId)
    const stream = event.meta?.['stream']
    const key = typeof stream === 'string' ? `${part} ${stream}` : part
    const isFirst = !this.#held.has(key)
    const held = this.#held.get(key) ?? { part, event, text: '' }
    this.#held.set(key, held)
    held.event = event
    held.text += textOf(event)
    // A secret may be escaped in JSON. Only the whole input can be redacted; that it has begun can be shown.
    if (event.type === 'tool-call-delta') return isFirst ? withText(event, '', redactor) : undefined
    // Only white space ends a word, and a long one would be looked at again for every piece of it.
    const settled = /\s/.test(textOf(event)) ? redactor.settled(held.text) : 0
    if (settled === 0) return undefined
    const said = held.text.slice(0, settled)
    held.text = held.text.slice(settled)
    return shown(event, said, redactor)
  }

  /** Returns what was held back of a part that is sealed with this redacted body. */
  release(body: SealedPart, redactor: RecordRedactor): readonly BatchEvent[] {
    const part = partKey(body.messageId, body.partId)
    const released: BatchEvent[] = []
    for (const [key, held] of this.#held) {
      if (held.part !== part) continue
      this.#held.delete(key)
      if (held.text === '') continue
      if (held.event.type !== 'tool-call-delta') released.push(shown(held.event, held.text, redactor))
      else if (body.type === 'tool-call') released.push(withText(held.event, JSON.stringify(body.args), redactor))
    }
    return released
  }
}

function shown(event: BatchEvent, said: string, redactor: RecordRedactor): BatchEvent {
  const text = redactor.json(said)
  const piece = withText(event, text, redactor)
  return text === said ? piece : { ...piece, meta: { ...event.meta, redacted: true } }
}

/** Id and name of a call are redacted as in its sealed part: a model may have made them up. */
function withText(event: BatchEvent, text: string, redactor: RecordRedactor): BatchEvent {
  if (event.type !== 'tool-call-delta' && event.type !== 'tool-progress') return { ...event, text }
  const { toolName } = event
  const toolCallId = redactor.json(event.toolCallId)
  const names = { toolCallId, ...(toolName === undefined ? {} : { toolName: redactor.json(toolName) }) }
  return event.type === 'tool-progress'
    ? { ...event, ...names, output: text }
    : { ...event, ...names, argsTextDelta: text }
}
