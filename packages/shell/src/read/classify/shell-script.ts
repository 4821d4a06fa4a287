import { shellNames } from '../shells.ts'
import {
  AS_IT_STANDS,
  EQUALS,
  ESCAPED,
  kindOf,
  NOT_ONCE,
  QUOTE,
  quotedEnd,
  quotedOnce,
  unescaped,
  unquoted,
} from './plain-words.ts'
import { beginsOtherwise } from './relevant.ts'

const SPACE = 0x20
const PLUS = 0x2b
const DASH = 0x2d
const SLASH = 0x2f
const LAST_LETTER = 0x68

/** A part of a text. */
export interface Range {
  readonly text: string
  readonly from: number
  readonly to: number
}

/**
 * Returns the script of `bash -lc 'script'`, if the text is nothing else and names a shell. The script is not read yet.
 * `'other'`: its first word shows that it is more than file operations.
 */
export function plainShellScript({ text, from, to }: Range): Range | 'other' | null {
  const start = scriptStart(text, from, to)
  if (start === 0) return null
  const script = scriptOf(text, start, to)
  if (script === null || script === 'other') return script
  const first = script.text.charCodeAt(script.from)
  // Further options may follow `-c`.
  return first === DASH || first === PLUS ? null : script
}

/** The last shell call up to its script. A program usually calls shells in one way only. */
let lastCall = 'bash -lc '

/** Returns where the script of a shell begins; 0 unless the text calls a shell by its bare name or an absolute path. */
function scriptStart(text: string, from: number, to: number): number {
  if (text.startsWith(lastCall, from)) return from + lastCall.length
  const start = findScript(text, from, to)
  if (start > 0) lastCall = text.slice(from, start)
  return start
}

function findScript(text: string, from: number, to: number): number {
  const first = text.charCodeAt(from)
  let base = from
  let at = from
  for (; at < to; at += 1) {
    const code = text.charCodeAt(at)
    if (code === SPACE) break
    if (code === SLASH) base = at + 1
  }
  // All shell names end with the same letter.
  if (text.charCodeAt(at - 1) !== LAST_LETTER || (base > from && first !== SLASH)) return 0
  const length = at - base
  for (let each = 0; each < shellNames.length; each += 1) {
    const name = shellNames[each] ?? ''
    if (name.length !== length || !text.startsWith(name, base)) continue
    if (text.startsWith(' -lc ', at)) return at + 5
    return text.startsWith(' -c ', at) ? at + 4 : 0
  }
  return 0
}

function scriptOf(text: string, from: number, to: number): Range | 'other' | null {
  if (beginsOtherwise(text, kindOf(text.charCodeAt(from)) === QUOTE ? from + 1 : from, to)) return 'other'
  const once = from < to - 1 ? quotedOnce(text, from, to - 1) : NOT_ONCE
  if (once === AS_IT_STANDS) return { text, from: from + 1, to: to - 1 }
  if (once === ESCAPED) return rangeOf(unescaped(text.slice(from + 1, to - 1)))
  let plain = from
  while (plain < to && kindOf(text.charCodeAt(plain)) <= EQUALS) plain += 1
  if (plain >= to) return { text, from, to }
  if (kindOf(text.charCodeAt(plain)) !== QUOTE || quotedEnd(text, plain, to) !== to) return null
  return rangeOf(unquoted(text, from, to))
}

function rangeOf(text: string | null): Range | null {
  return text === null ? null : { text, from: 0, to: text.length }
}
