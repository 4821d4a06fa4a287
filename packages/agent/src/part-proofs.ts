import type { EventMeta, JsonObject } from '@evener/protocol'

type Spoken = 'text' | 'reasoning'

/**
 * What a provider wants to have back with a part: a signature, an id. It may come with its start, its end or anything in
 * between, and the last that came counts.
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
