/** The kinds of characters outside quotes. */
export const PLAIN = 0
export const EQUALS = 1
export const BETWEEN = 2
export const QUOTE = 3
/** Expansions, patterns, escapes, comments and the like are left to the parser. */
const OTHER = 4

const KINDS = new Uint8Array(0x1_0000).fill(OTHER)
for (let code = 0; code < 128; code += 1) if (/[\w./,:@%+-]/.test(String.fromCharCode(code))) KINDS[code] = PLAIN
for (const character of ' |&;<>') KINDS[character.charCodeAt(0)] = BETWEEN
for (const character of `'"`) KINDS[character.charCodeAt(0)] = QUOTE
KINDS['='.charCodeAt(0)] = EQUALS
fillLetters(KINDS, PLAIN, OTHER)

/** The traits of characters inside quotes; most have none. */
const STRANGE = 1
/** Expanded between double quotes. */
const ACTIVE = 2
const ESCAPING = 4

const TRAITS = new Uint8Array(0x1_0000).fill(STRANGE)
for (let code = 0x20; code < 0x7f; code += 1) TRAITS[code] = 0
for (const character of '\t\n') TRAITS[character.charCodeAt(0)] = 0
for (const character of '$`') TRAITS[character.charCodeAt(0)] = ACTIVE
TRAITS['\\'.charCodeAt(0)] = ESCAPING
fillLetters(TRAITS, 0, STRANGE)

const DOUBLE_QUOTE = 0x22
const SINGLE_QUOTE = 0x27
const BACKSLASH = 0x5c
const ESCAPED_NEWLINE = '\\\n'

/** Marks the letters of all scripts, which a shell treats alike, without invisible and space-like characters. */
function fillLetters(table: Uint8Array, letter: number, other: number): void {
  table.fill(letter, 0xa1, 0x2000).fill(letter, 0x3001, 0xd800)
  for (const code of [0xad, 0x61c, 0x1680, 0x180e]) table[code] = other
}

export function kindOf(code: number): number {
  return KINDS[code] ?? OTHER
}

/** Returns the position of the first character from `at` on that is not plain. */
function plainEnd(text: string, at: number, to: number): number {
  let end = at
  while (end < to && kindOf(text.charCodeAt(end)) <= EQUALS) end += 1
  return end
}

/** Returns the end of a word in which a quote opens at `at`, or 0 when it is never closed. */
export function quotedEnd(text: string, at: number, to: number): number {
  let end = at
  while (end < to && kindOf(text.charCodeAt(end)) === QUOTE) {
    const close = quoteEnd(text, end, to)
    if (close === 0) return 0
    end = plainEnd(text, close, to)
  }
  return end
}

/** Returns the position after the quote that closes the one at `open`, or 0 when there is none. */
function quoteEnd(text: string, open: number, to: number): number {
  if (text.charCodeAt(open) !== DOUBLE_QUOTE) {
    const close = text.indexOf("'", open + 1) + 1
    return close > to ? 0 : close
  }
  for (let at = open + 1; at < to; at += 1) {
    const code = text.charCodeAt(at)
    if (code === DOUBLE_QUOTE) return at + 1
    if (code === BACKSLASH) at += 1
  }
  return 0
}

function traitsOf(text: string, from: number, to: number): number {
  let traits = 0
  for (let at = from; at < to; at += 1) traits |= TRAITS[text.charCodeAt(at)] ?? STRANGE
  return traits
}

/** The text is not one pair of quotes without expansions. */
export const NOT_ONCE = 0
/** One pair of quotes in which every character stands for itself. */
export const AS_IT_STANDS = 1
/** One pair of double quotes with backslashes. */
export const ESCAPED = 2

/** Determines in one pass how a text is quoted, because nearly all scripts are one pair of quotes. */
export function quotedOnce(text: string, open: number, close: number): number {
  const quote = text.charCodeAt(open)
  if (text.charCodeAt(close) !== quote) return NOT_ONCE
  if (quote === SINGLE_QUOTE) return text.indexOf("'", open + 1) === close ? AS_IT_STANDS : NOT_ONCE
  if (quote !== DOUBLE_QUOTE) return NOT_ONCE
  let way = AS_IT_STANDS
  for (let at = open + 1; at < close; at += 1) {
    const code = text.charCodeAt(at)
    if (code === DOUBLE_QUOTE || (TRAITS[code] ?? STRANGE) === ACTIVE) return NOT_ONCE
    if (code !== BACKSLASH) continue
    at += 1
    if (at === close || (TRAITS[text.charCodeAt(at)] ?? STRANGE) === ACTIVE) return NOT_ONCE
    way = ESCAPED
  }
  return way
}

/** Returns the position after the closing quote if all characters before it are ordinary and literal, else 0. */
export function simpleQuoteEnd(text: string, open: number, to: number): number {
  const quote = text.charCodeAt(open)
  const limit = quote === DOUBLE_QUOTE ? 0 : ESCAPING
  for (let at = open + 1; at < to; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) return at + 1
    const traits = TRAITS[code] ?? STRANGE
    if (traits === STRANGE || traits > limit) return 0
  }
  return 0
}

/** Returns the value of a word with quotes; null when it has an expansion or a character that is not ordinary. */
export function unquotedWord(text: string, from: number, to: number): string | null {
  return (traitsOf(text, from, to) & STRANGE) === 0 ? unquoted(text, from, to) : null
}

/** Like `unquotedWord`, but accepts any character. */
export function unquoted(text: string, from: number, to: number): string | null {
  let value = ''
  for (let at = from; at < to;) {
    const plain = plainEnd(text, at, to)
    if (plain > at) value += text.slice(at, plain)
    if (plain === to) break
    at = quoteEnd(text, plain, to)
    if (at === 0) return null
    const inner =
      text.charCodeAt(plain) === DOUBLE_QUOTE ? inDoubleQuotes(text, plain + 1, at - 1) : text.slice(plain + 1, at - 1)
    if (inner === null) return null
    if (at === to && value === '') return inner
    value += inner
  }
  return value
}

function inDoubleQuotes(text: string, from: number, to: number): string | null {
  const traits = traitsOf(text, from, to)
  if ((traits & ACTIVE) !== 0) return null
  const inner = text.slice(from, to)
  return (traits & ESCAPING) === 0 ? inner : unescaped(inner)
}

/**
 * Removes backslashes before another backslash or a double quote; any other backslash is literal. Null when a newline
 * may be escaped, which is left to the parser.
 */
export function unescaped(text: string): string | null {
  if (text.includes(ESCAPED_NEWLINE)) return null
  let value = ''
  let from = 0
  for (let at = text.indexOf('\\'); at !== -1; at = text.indexOf('\\', at + 2)) {
    const next = text.charCodeAt(at + 1)
    if (next !== BACKSLASH && next !== DOUBLE_QUOTE) continue
    value += text.slice(from, at)
    from = at + 1
  }
  return value + text.slice(from)
}
