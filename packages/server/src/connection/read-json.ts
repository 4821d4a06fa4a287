import { InspanError, type JsonValue } from '@inspan/protocol'

/** Deep enough for any message of ours, shallow enough for code that walks it by recursion. */
const MAX_DEPTH = 100
/** More than any message of ours has. Checking as many as fit into a message would keep everybody waiting for seconds. */
const MAX_VALUES = 250_000

/** Parses JSON from outside. Nesting and values are counted before, so that a hostile text costs no more than its length. */
export function readJson(text: string): JsonValue {
  let depth = 0
  let values = 0
  let isString = false
  for (let index = 0; index < text.length; index++) {
    const char = text.charCodeAt(index)
    if (isString) {
      if (char === BACKSLASH) index++
      else if (char === QUOTE) isString = false
    } else if (char === QUOTE) isString = true
    else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      if (++depth > MAX_DEPTH) throw new InspanError('invalid-input', 'The JSON is nested too deeply.')
    } else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) depth--
    else if (char === COMMA && ++values > MAX_VALUES) {
      throw new InspanError('invalid-input', 'The JSON has too many values.')
    }
  }
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    throw new InspanError('invalid-input', 'This is not JSON.')
  }
}

const COMMA = 0x2c
const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
