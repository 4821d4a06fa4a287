import type { Word } from './reading.ts'

/** One sed command and the lines it applies to. Line 0 means `$`, null means a regular expression or step. */
export interface SedCommand {
  readonly name: string
  readonly from: number | null
  readonly to: number | null
  readonly addresses: 0 | 1 | 2
  readonly negated: boolean
}

export interface SedScript {
  readonly commands: readonly SedCommand[]
  /** The script only changes what is printed: it runs nothing and reads and writes no further file. */
  readonly pure: boolean
}

interface SedCursor {
  readonly text: string
  at: number
}

const LINE_COMMANDS = 'pPdDgGhHxnNzF='
const NUMBERED_COMMANDS = 'qQl'
const LABEL_COMMANDS = 'btT:'
const TEXT_COMMANDS = 'aic'
const FILE_COMMANDS = 'rRwWe'

const COMMA = 0x2c
const DASH = 0x2d
const ZERO = 0x30
const NINE = 0x39
const MAX_DIGITS = 9

/** Returns the lines that `sed -n 2,40p file …` prints, nearly the only use agents make of sed; null for any other. */
export function printedLines(args: readonly Word[]): { readonly start: number; readonly end: number } | null {
  const option = args[0]
  const script = args[1]
  if (option?.text !== '-n' || script === undefined || script.dynamic) return null
  for (let at = 2; at < args.length; at += 1) {
    const arg = args[at]
    if (arg === undefined || arg.text.charCodeAt(0) === DASH || arg.splits) return null
  }
  const { text } = script
  const p = text.length - 1
  if (text.charAt(p) !== 'p') return null
  const comma = digitsEnd(text, 0)
  const start = lineNumber(text, 0, comma)
  if (start === 0) return null
  if (comma === p) return { start, end: start }
  const end = text.charCodeAt(comma) === COMMA && digitsEnd(text, comma + 1) === p ? lineNumber(text, comma + 1, p) : 0
  // If the second number is below the first, sed still prints the first line.
  return end === 0 ? null : { start, end: Math.max(start, end) }
}

function digitsEnd(text: string, from: number): number {
  let end = from
  while (text.charCodeAt(end) >= ZERO && text.charCodeAt(end) <= NINE) end += 1
  return end
}

/** Parses a line number; 0 when the text is none. */
function lineNumber(text: string, from: number, to: number): number {
  if (from === to || to - from > MAX_DIGITS || text.charCodeAt(from) === ZERO) return 0
  let number = 0
  for (let at = from; at < to; at += 1) number = number * 10 + text.charCodeAt(at) - ZERO
  return number
}

/** Reads a script just enough to know what it can do; null when it is not plain sed. */
export function readSedScript(text: string): SedScript | null {
  const cursor: SedCursor = { text, at: 0 }
  const commands: SedCommand[] = []
  let pure = true
  for (;;) {
    skip(cursor, /[\s;]*/y)
    if (cursor.at >= text.length) return { commands, pure }
    const from = readAddress(cursor)
    if (from === undefined) return null
    let to: number | null | 'none' = 'none'
    if (from !== 'none' && skip(cursor, /\s*,\s*/y) !== '') {
      const second = readSecondAddress(cursor, from)
      if (second === undefined) return null
      to = second
    }
    const negated = skip(cursor, /\s*!\s*/y) !== '' || (skip(cursor, /\s*/y), false)
    const name = text.charAt(cursor.at)
    cursor.at += 1
    const effect = readArguments(cursor, name)
    if (effect === null) return null
    if (effect === 'impure') pure = false
    commands.push({
      name,
      from: from === 'none' ? null : from,
      to: to === 'none' ? null : to,
      addresses: from === 'none' ? 0 : to === 'none' ? 1 : 2,
      negated,
    })
  }
}

function skip(cursor: SedCursor, pattern: RegExp): string {
  pattern.lastIndex = cursor.at
  const matched = pattern.exec(cursor.text)?.[0] ?? ''
  cursor.at += matched.length
  return matched
}

/** Returns a line number, 0 for the last line, null for an expression, 'none' if absent, undefined if malformed. */
function readAddress(cursor: SedCursor): number | null | 'none' | undefined {
  const number = skip(cursor, /\d+/y)
  if (number !== '') return skip(cursor, /~\d+/y) === '' ? Number(number) : null
  const first = cursor.text.charAt(cursor.at)
  if (first === '$') {
    cursor.at += 1
    return 0
  }
  if (first !== '/' && first !== '\\') return 'none'
  cursor.at += first === '/' ? 1 : 2
  if (!skipDelimited(cursor, cursor.text.charAt(cursor.at - 1))) return undefined
  skip(cursor, /[IM]*/y)
  return null
}

function readSecondAddress(cursor: SedCursor, from: number | null): number | null | undefined {
  const offset = skip(cursor, /\+\d+/y)
  if (offset !== '') return from === null || from === 0 ? null : from + Number(offset.slice(1))
  if (skip(cursor, /~\d+/y) !== '') return null
  const address = readAddress(cursor)
  return address === 'none' ? undefined : address
}

/** Moves past the next unescaped delimiter. Brackets do not protect it here, which errs towards "not understood". */
function skipDelimited(cursor: SedCursor, delimiter: string): boolean {
  while (cursor.at < cursor.text.length) {
    const character = cursor.text.charAt(cursor.at)
    cursor.at += character === '\\' ? 2 : 1
    if (character === delimiter) return true
  }
  return false
}

function readArguments(cursor: SedCursor, name: string): 'pure' | 'impure' | null {
  if (name === '{' || name === '}') return 'pure'
  if (name === '#') return (skip(cursor, /[^\n]*/y), 'pure')
  if (name === 's' || name === 'y') return readSubstitution(cursor, name)
  if (name === '') return null
  // GNU sed ends a label at a blank, and takes what follows as the next command.
  if (LABEL_COMMANDS.includes(name))
    return skip(cursor, /[ \t]*[\w.-]*[ \t]*(?=[;\n}]|$)/y) !== '' || endsHere(cursor) ? 'pure' : null
  if (TEXT_COMMANDS.includes(name)) return (skip(cursor, /(?:\\[\s\S]|[^\n\\])*/y), 'pure')
  if (FILE_COMMANDS.includes(name)) return (skip(cursor, /[^\n]*/y), 'impure')
  if (NUMBERED_COMMANDS.includes(name)) skip(cursor, /\s*\d*/y)
  else if (!LINE_COMMANDS.includes(name)) return null
  // The command must end here, or it is not the command it looks like.
  return endsHere(cursor) ? 'pure' : null
}

function endsHere({ at, text }: SedCursor): boolean {
  return /^[ \t]*(?:[;\n}#]|$)/.test(text.slice(at, at + 64))
}

function readSubstitution(cursor: SedCursor, name: 's' | 'y'): 'pure' | 'impure' | null {
  const delimiter = cursor.text.charAt(cursor.at)
  if (delimiter === '' || delimiter === '\n' || delimiter === '\\') return null
  cursor.at += 1
  if (!skipDelimited(cursor, delimiter) || !skipDelimited(cursor, delimiter)) return null
  if (name === 'y') return 'pure'
  const flags = skip(cursor, /[gpiIeMm0-9]*/y)
  if (cursor.text.charAt(cursor.at) === 'w') return (skip(cursor, /[^\n]*/y), 'impure')
  return flags.includes('e') ? 'impure' : 'pure'
}
