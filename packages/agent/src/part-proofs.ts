import type { EventMeta, JsonObject } from '@inspan/protocol'

type Spoken = 'text' | 'reasoning'

/**
 * Collects what a provider wants back with a part, such as a signature or an id. It may come with the start, the end or
 * anything in between; the last one counts.
 */
export class PartProofs {
  readonly #given = new Map<string, unknown>()

  begin(kind: Spoken, id: string, provider: unknown): void {
    this.#given.delete(`${kind} ${id}`)
    this.add(kind, id, provider)
  }

  add(kind: Spoken, id: string, provider: unknown): void {
    if (provider !== undefined) this.#given.set(`${kind} ${id}`, provider)
  }

  end(kind: Spoken, id: string, provider: unknown): EventMeta {
    const last = provider ?? this.#given.get(`${kind} ${id}`)
    this.#given.delete(`${kind} ${id}`)
    return last === undefined ? { end: true } : { end: true, provider: last as JsonObject }
  }
}
