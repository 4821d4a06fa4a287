/** What a character is outside quotes. */
export const PLAIN = 0
export const EQUALS = 1
export const BETWEEN = 2
export const QUOTE = 3
/** Expansions, patterns, escapes, comments … are for the parser. */
const OTHER = 4

const KINDS = new Uint8Array(0x1_0000).fill(OTHER)
for (let code = 0; code < 128; code += 1) if (/[\w./,:@%+-]/.test(String.fromCharCode(code))) KINDS[code] = PLAIN
for (const character of ' |&;<>') KINDS[character.charCodeAt(0)] = BETWEEN
for (const character of `'"`) KINDS[character.charCodeAt(0)] = QUOTE
KINDS['='.charCodeAt(0)] = EQUALS
fillLetters(KINDS, PLAIN, OTHER)

/** What a character means inside quotes; nothing for most. */
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

/** The blocks of the world's letters, without what is invisible in them or looks like a space. To a shell they are alike. */
function fillLetters(table: Uint8Array, letter: number, other: number): void {
  table.fill(letter, 0xa1, 0x2000).fill(letter, 0x3001, 0xd800)
  for (const code of [0xad, 0x61c, 0x1680, 0x180e]) table[code] = other
}

export function kindOf(code: number): number {
  return KINDS[code] ?? OTHER
}

/** The place of the first character from `at` on that is not plain. */
function plainEnd(text: string, at: number, to: number): number {
  let end = at
  while (end < to && kindOf(text.charCodeAt(end)) <= EQUALS) end += 1
  return end
}

/** The end of a word in which a quote opens at `at`; 0 when it is never closed. */
export function quotedEnd(text: string, at: number, to: number): number {
  let end = at
  while (end < to && kindOf(text.charCodeAt(end)) === QUOTE) {
    const close = quoteEnd(text, end, to)
    if (close === 0) return 0
    end = plainEnd(text, close, to)
  }
  return end
}

/** The place after the quote that closes the one at `open`; 0 when there is none. */
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

/** One pair of quotes from `open` to `close`, in which nothing is expanded. */
export const NOT_ONCE = 0
/** Every character stands for itself. */
export const AS_IT_STANDS = 1
/** Between double quotes, with backslashes. */
export const ESCAPED = 2

/** Told in one pass: nearly all scripts are given like that. */
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

/** The place after the quote that closes the one at `open`, if all in between is ordinary and stands for itself; else 0. */
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

/** What a word with quotes stands for; null when something in it is expanded, or is no ordinary character. */
export function unquotedWord(text: string, from: number, to: number): string | null {
  return (traitsOf(text, from, to) & STRANGE) === 0 ? unquoted(text, from, to) : null
}

/** The same, whatever its characters. */
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
 * A backslash stands for itself unless it comes before another one, or before a double quote. Null: a newline may be escaped,
 * which is for the parser.
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
