import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'

/** Finds calls that a model sends twice. Input for a known id is held back until it proves to be another call. */
export class RepeatedCalls {
  readonly #ids = new Set<string>()
  readonly #orders = new Set<string>()
  readonly #heldBack = new Map<string, string>()

  holdBack(id: string, delta: string): boolean {
    if (!this.#ids.has(id)) return false
    this.#heldBack.set(id, (this.#heldBack.get(id) ?? '') + delta)
    return true
  }

  release(id: string): string | undefined {
    const text = this.#heldBack.get(id)
    this.#heldBack.delete(id)
    return text
  }

  isRepeated(part: Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>): boolean {
    const { input, providerExecuted = false, toolCallId, toolName } = part
    const order = JSON.stringify([toolCallId, toolName, input, providerExecuted])
    // Without an id two calls cannot be told to be the same.
    if (toolCallId === '') return false
    if (this.#orders.has(order)) return true
    this.#ids.add(toolCallId)
    this.#orders.add(order)
    return false
  }
}
