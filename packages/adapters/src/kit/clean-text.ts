const ESC = 0x1b
const BEL = 0x07
const CSI = 0x9b
const ST = 0x9c
/** The one-byte forms of DCS, SOS, OSC, PM and APC: each opens a string that a terminal does not show. */
const STRING_OPENERS: ReadonlySet<number> = new Set([0x90, 0x98, 0x9d, 0x9e, 0x9f])
/** The letters that do the same after an ESC: P X ] ^ _ */
const STRING_LETTERS: ReadonlySet<number> = new Set([0x50, 0x58, 0x5d, 0x5e, 0x5f])

/** Up to this length a loop over the characters is faster than a search. */
const SHORT = 64
const EIGHT_BIT = /[\u0080-\u009f]/
const EIGHT_BIT_START = /[\u0090\u0098\u009b\u009d-\u009f]/g

/**
 * Removes terminal escapes from text for people.
 *
 * Chat events, tool results and `unknown.raw` keep every character, as they go back to models. The messages of `agent`,
 * `warning` and `error` activity are shown in terminals and logs, so they lose CSI sequences (colours, cursor), OSC
 * sequences (the label of a hyperlink stays) and other escape strings. Commands and paths are never changed: they say
 * what was attempted.
 */
export function cleanText(text: string): string {
  if (!hasEscapes(text)) return text
  const escapes = new Escapes(text)
  let escape = escapes.next(0)
  let clean = ''
  let from = 0
  while (escape !== -1) {
    clean += text.slice(from, escape)
    from = skipEscape(text, escape)
    escape = escapes.next(from)
  }
  return clean + text.slice(from)
}

function hasEscapes(text: string): boolean {
  if (text.length > SHORT) return text.includes('\u001b') || EIGHT_BIT.test(text)
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === ESC || isBetween(code, 0x80, 0x9f)) return true
  }
  return false
}

/** Finds the escapes of a text in order. Each kind is searched for again only when the last one found is passed. */
class Escapes {
  readonly #text: string
  #seven = -2
  #eight = -2

  constructor(text: string) {
    this.#text = text
  }

  next(from: number): number {
    if (this.#seven !== -1 && this.#seven < from) this.#seven = this.#text.indexOf('\u001b', from)
    if (this.#eight !== -1 && this.#eight < from) this.#eight = this.#findEight(from)
    if (this.#seven === -1 || this.#eight === -1) return Math.max(this.#seven, this.#eight)
    return Math.min(this.#seven, this.#eight)
  }

  #findEight(from: number): number {
    EIGHT_BIT_START.lastIndex = from
    return EIGHT_BIT_START.exec(this.#text)?.index ?? -1
  }
}

/** Returns the index after the escape sequence at `at`. An unterminated one extends to the end of its line. */
function skipEscape(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code === CSI) return skipControl(text, at + 1)
  if (STRING_OPENERS.has(code)) return skipString(text, at + 1)
  const next = text.charCodeAt(at + 1)
  if (next === 0x5b) return skipControl(text, at + 2)
  if (STRING_LETTERS.has(next)) return skipString(text, at + 2)
  let end = at + 1
  while (isBetween(text.charCodeAt(end), 0x20, 0x2f)) end += 1
  return isBetween(text.charCodeAt(end), 0x30, 0x7e) ? end + 1 : end
}

function skipControl(text: string, from: number): number {
  let end = from
  while (isBetween(text.charCodeAt(end), 0x20, 0x3f)) end += 1
  return isBetween(text.charCodeAt(end), 0x40, 0x7e) ? end + 1 : end
}

function skipString(text: string, from: number): number {
  for (let end = from; end < text.length; end += 1) {
    const code = text.charCodeAt(end)
    if (code === BEL || code === ST) return end + 1
    if (code === ESC) return text.charCodeAt(end + 1) === 0x5c ? end + 2 : end
    if (code === 0x0a) return end
  }
  return text.length
}

function isBetween(code: number, low: number, high: number): boolean {
  return code >= low && code <= high
}
