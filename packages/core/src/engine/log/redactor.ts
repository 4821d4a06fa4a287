import type { JsonObject, JsonValue } from '@inspan/protocol'

/**
 * Removes from a text what must not be recorded. Pure, and leaves its own output unchanged. It sees one string at a
 * time and cannot find what is spread over two.
 */
export interface Redactor {
  (text: string): string
  /**
   * Returns how many characters at the beginning of a text, which goes on, cannot belong to anything that is to be
   * removed, whatever follows: that much is shown while the text is streamed. Called after white space. Absent: nothing
   * is shown before the text is complete.
   */
  readonly settled?: (text: string) => number
}

/** Replaces a text that could not be redacted. */
export const WITHHELD = '[withheld: it could not be redacted]'

/** Redacts the texts of one record, and knows afterwards whether any was changed or withheld. */
export class RecordRedaction {
  readonly #redact: Redactor
  #isChanged = false
  #isWithheld = false

  constructor(redact: Redactor) {
    this.#redact = redact
  }

  get isChanged(): boolean {
    return this.#isChanged
  }

  /** Whether the redactor failed on a text, which was therefore withheld. */
  get isWithheld(): boolean {
    return this.#isWithheld
  }

  text(given: string): string {
    const text = this.#attempt(given)
    if (text !== given) this.#isChanged = true
    return text
  }

  /** Redacts every string in the value, including object keys. */
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
      // Keys that became equal stay two keys.
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
      // The reason is not reported: the error may quote the text.
    }
    this.#isWithheld = true
    return WITHHELD
  }
}

function isList(value: readonly JsonValue[] | JsonObject): value is readonly JsonValue[] {
  return Array.isArray(value)
}
