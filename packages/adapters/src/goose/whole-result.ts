import type { JsonObject, JsonValue } from '@inspan/protocol'
import { asArray, asObject, asText } from '../kit/fields.ts'
import { parseRecord } from '../kit/json-line.ts'
import type { HeldRecord, Run } from '../kit/mapper.ts'

/** Limit for waiting lines, so that memory does not grow with the output. */
const MOST_BYTES = 64 * 1024 * 1024
/** Memory that a waiting line takes besides its text. */
const LINE_BYTES = 600

/**
 * Reads `--output-format json`: one object at the end, over many lines. The lines wait until the object is complete.
 * Lines that do not become one are handled on their own.
 */
export class WholeResult {
  readonly #run: Run
  #lines: string[] = []
  #held: HeldRecord[] = []
  #size = 0

  constructor(run: Run) {
    this.#run = run
  }

  /** Returns the object with its last line, `true` for a line that waits for it, `false` for any other. */
  line(text: string): JsonObject | boolean {
    // Within the object, all braces but the first and the last are indented.
    if (text === '{') this.giveUp()
    if (text.trim() === '' || (this.#lines.length === 0 && text !== '{')) return false
    this.#lines.push(text)
    this.#size += text.length + LINE_BYTES
    if (text === '}') {
      const result = parseRecord(this.#lines.join('\n'))
      const isWhole = asArray(result?.['messages']) !== undefined
      this.#settle(isWhole ? 'partial' : undefined)
      return isWhole && result !== undefined ? result : false
    }
    this.#held.push(this.#run.hold([{ type: 'unknown', raw: text }]))
    if (this.#size > MOST_BYTES) this.giveUp()
    return true
  }

  /** Releases the waiting lines, because they will not become an object. */
  giveUp(): void {
    if (this.#lines.length > 0) this.#settle(undefined)
  }

  #settle(consumed: string | undefined): void {
    const held = this.#held
    this.#lines = []
    this.#held = []
    this.#size = 0
    for (const line of held) {
      if (consumed === undefined) line.keep()
      else line.drop(consumed)
    }
  }
}

/** Returns the messages of this run: a resumed session prints all it has. */
export function messagesOfRun(result: JsonObject): readonly JsonValue[] {
  const messages = asArray(result['messages']) ?? []
  return messages.slice(Math.max(0, messages.findLastIndex(isPrompt)))
}

function isPrompt(item: JsonValue): boolean {
  const message = asObject(item)
  if (message?.['role'] !== 'user' || asObject(message['metadata'])?.['userVisible'] === false) return false
  return (asArray(message['content']) ?? []).some((block) => asText(asObject(block)?.['text']) !== undefined)
}
