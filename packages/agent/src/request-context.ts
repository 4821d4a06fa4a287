import { toJson } from './to-json.ts'
import type { JsonObject } from '@inspan/protocol'

/** Data that accompanies a request: user, tenant, services. Doors (a harness, a server) add their own entries. */
export class RequestContext {
  readonly #entries: Map<string, unknown>

  constructor(entries: Iterable<readonly [string, unknown]> = []) {
    this.#entries = new Map(entries)
  }

  static from(values: JsonObject | undefined): RequestContext {
    return new RequestContext(Object.entries(values ?? {}))
  }

  get(key: string): unknown {
    return this.#entries.get(key)
  }

  set(key: string, value: unknown): void {
    this.#entries.set(key, value)
  }

  has(key: string): boolean {
    return this.#entries.has(key)
  }

  delete(key: string): boolean {
    return this.#entries.delete(key)
  }

  keys(): MapIterator<string> {
    return this.#entries.keys()
  }

  entries(): MapIterator<[string, unknown]> {
    return this.#entries.entries()
  }

  get size(): number {
    return this.#entries.size
  }

  /** Returns the entries that can be recorded, and the keys of those that cannot. */
  toRecord(): { readonly values: JsonObject; readonly dropped: readonly string[] } {
    const dropped: string[] = []
    const values: [string, JsonObject[string]][] = []
    for (const [key, value] of this.#entries) {
      const json = toJson(value)
      if (value === undefined || !json.isExact) dropped.push(key)
      else values.push([key, json.value])
    }
    return { values: Object.fromEntries(values), dropped }
  }
}
