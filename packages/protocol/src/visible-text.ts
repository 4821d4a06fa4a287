type EscapeState = 'text' | 'escape' | 'sequence' | 'string' | 'string-escape'

/**
 * Makes foreign text safe for a terminal. The output of agents and tools can contain sequences that move the cursor,
 * change the title, fill the clipboard or overwrite earlier text. They are removed, even when they arrive in pieces.
 * Line feeds and tabs stay.
 */
export class VisibleText {
  #state: EscapeState = 'text'

  push(text: string): string {
    // Most text has nothing to remove.
    if (this.#state === 'text' && !HIDDEN.test(text)) return text
    let shown = ''
    for (const char of text) shown += this.#next(char)
    return shown
  }

  #next(char: string): string {
    switch (this.#state) {
      case 'text':
        if (char === '\x1b') this.#state = 'escape'
        else if (char === '\x9b') this.#state = 'sequence'
        else if (STRING_STARTS.has(char)) this.#state = 'string'
        return HIDDEN.test(char) ? '' : char
      case 'escape':
        this.#state = char === '[' ? 'sequence' : ESCAPED_STRING_STARTS.has(char) ? 'string' : 'text'
        // Intermediate bytes (as in a choice of character set) are followed by one more byte.
        if (char >= ' ' && char <= '/') this.#state = 'escape'
        return char === '\n' ? char : ''
      case 'sequence':
        if (char >= '@' || char < ' ') this.#state = 'text'
        return char === '\n' ? char : ''
      case 'string':
        // A string that never ends must not hide more than its line.
        if (char === '\x07' || char === '\x9c' || char === '\n') this.#state = 'text'
        else if (char === '\x1b') this.#state = 'string-escape'
        return char === '\n' ? char : ''
      case 'string-escape':
        this.#state = char === '\\' || char === '\n' ? 'text' : 'string'
        return char === '\n' ? char : ''
    }
  }
}

/** Makes a complete text safe for a terminal. */
export function visible(text: string): string {
  return new VisibleText().push(text)
}

/** Control characters except tab and line feed, and characters that change the writing direction. */
const HIDDEN = /(?![\t\n])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u
const STRING_STARTS: ReadonlySet<string> = new Set(['\x90', '\x98', '\x9d', '\x9e', '\x9f'])
const ESCAPED_STRING_STARTS: ReadonlySet<string> = new Set(['P', 'X', ']', '^', '_'])
