import type { AgentEvent, FinishEvent, JsonValue } from '@inspan/protocol'

/** Reads the answer of a turn that has to be data: what the CLI reports as data, else its last message. */
export class TurnOutputReader {
  #messageId: string | undefined
  #text = ''

  hear(event: AgentEvent): void {
    if (event.type !== 'text-delta' || event.parentToolCallId !== undefined) return
    if (event.messageId !== this.#messageId) this.#text = ''
    this.#messageId = event.messageId
    this.#text += event.text
  }

  /** Returns the finish with the data, or an error before it if there is none. */
  finish(event: FinishEvent): readonly AgentEvent[] {
    if (event.finishReason !== 'stop') return [event]
    const output = event.meta?.['output'] ?? parsed(this.#text)
    if (output !== undefined) return [{ ...event, meta: { ...event.meta, output } }]
    const message = 'The answer is not JSON, though the turn asked for data.'
    const error = { name: 'InspanError', code: 'invalid-output', message }
    return [
      { type: 'error', error, code: 'invalid-output' },
      { ...event, finishReason: 'error' },
    ]
  }
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}
