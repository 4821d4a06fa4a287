import type { JsonObject, JsonValue } from '@evener/protocol'

/**
 * Takes out of a text what must not be written down. Pure, and leaves alone what it has redacted before. It sees one
 * string at a time: what is spread over two it cannot find.
 */
export type Redactor = (text: string) => string

/** Stands in the place of a text that could not be redacted. */
export const WITHHELD = '[withheld: it could not be redacted]'

/** Redacts what belongs to one record, and knows afterwards what became of it. */
export class Redaction {
  readonly #redact: Redactor
  #isChanged = false
  #isWithheld = false

  constructor(redact: Redactor) {
    this.#redact = redact
  }

  get isChanged(): boolean {
    return this.#isChanged
  }

  /** The redactor has failed on a text, which is therefore not given. */
  get isWithheld(): boolean {
    return this.#isWithheld
  }

  text(given: string): string {
    const text = this.#attempt(given)
    if (text !== given) this.#isChanged = true
    return text
  }

  /** Every string in it, those that things go by too. */
  json<Value extends JsonValue>(value: Value): Value {
    return this.#json(value) as Value
  }

  #json(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.text(value)
    if (typeof value !== 'object' || value === null) return value
    return isList(value) ? value.map((each) => this.#json(each)) : this.#object(value)
  }

  #object(value: JsonObject): JsonObject {
    const entries: [string, JsonValue][] = []
    const names = new Set<string>()
    for (const [key, each] of Object.entries(value)) {
      const redacted = this.text(key)
      // Two that look the same now are still two.
      let name = redacted
      for (let count = 2; names.has(name); count++) name = `${redacted} (${count})`
      names.add(name)
      entries.push([name, this.#json(each)])
    }
    return Object.fromEntries(entries)
  }

  #attempt(given: string): string {
    try {
      const text: unknown = this.#redact(given)
      if (typeof text === 'string') return text
    } catch {
      // Why is not said anywhere: the error may quote the text.
    }
    this.#isWithheld = true
    return WITHHELD
  }
}

function isList(value: readonly JsonValue[] | JsonObject): value is readonly JsonValue[] {
  return Array.isArray(value)
}
