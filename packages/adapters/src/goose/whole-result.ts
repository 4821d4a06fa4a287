import type { JsonObject, JsonValue } from '@evener/protocol'
import { asArray, asObject, asText } from '../kit/fields.ts'
import { parseRecord } from '../kit/json-line.ts'
import type { HeldRecord, Run } from '../kit/mapper.ts'

/** More than this is not waited for: memory does not grow with what somebody prints. */
const MOST_BYTES = 64 * 1024 * 1024
/** What a line that waits takes besides its text. */
const LINE_BYTES = 600

/**
 * `--output-format json`: one object when all is over, over many lines. They wait until it is whole; lines that do not
 * become one are what they are.
 */
export class WholeResult {
  readonly #run: Run
  #lines: string[] = []
  #held: HeldRecord[] = []
  #size = 0

  constructor(run: Run) {
    this.#run = run
  }

  /** Gives the object with its last line, `true` for a line that waits for it, `false` for any other. */
  line(text: string): JsonObject | boolean {
    // Within one, all braces but the first and the last are indented.
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

  /** It will not become whole. */
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

/** The messages of this run: a session that was gone on with gives all it has. */
export function messagesOfRun(result: JsonObject): readonly JsonValue[] {
  const messages = asArray(result['messages']) ?? []
  return messages.slice(Math.max(0, messages.findLastIndex(isPrompt)))
}

function isPrompt(item: JsonValue): boolean {
  const message = asObject(item)
  if (message?.['role'] !== 'user' || asObject(message['metadata'])?.['userVisible'] === false) return false
  return (asArray(message['content']) ?? []).some((block) => asText(asObject(block)?.['text']) !== undefined)
}
