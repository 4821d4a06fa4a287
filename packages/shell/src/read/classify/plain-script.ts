import { withItem } from '../lists.ts'
import { isSystemDirectory } from '../programs.ts'
import type { Word } from '../reading.ts'
import { literalWord } from '../words.ts'
import type { Invocation } from './invocation.ts'
import { BETWEEN, EQUALS, kindOf, QUOTE, quotedEnd, simpleQuoteEnd, unquotedWord } from './plain-words.ts'
import { relevantAt } from './relevant.ts'
import type { RelevantProgram } from './relevant.ts'
import type { Range } from './shell-script.ts'

/** A simple command of fixed words. The reader of the whole script sets where it runs. */
export interface PlainCommand extends Invocation {
  cwd: string | null
  moved: boolean
  /** The operator before it; a semicolon for the first. */
  readonly joined: Joint
  /** True for the shell's own `cd`, which changes its directory. */
  readonly isCd: boolean
}

type Joint = '|' | '&&' | '||' | ';'
type Arrow = '>' | '>>' | '>&' | '<'

/** `'other'`: the script does more than file operations, whatever the rest is. Null: only the parser can tell. */
export type PlainScript = readonly PlainCommand[] | 'other' | null

/** Longer texts are rare and can simply be parsed. */
const MAX_LENGTH = 4_096

const NEWLINE = 0x0a
const SPACE = 0x20
const AMPERSAND = 0x26
const OPENING = 0x28
const SLASH = 0x2f
const SEMICOLON = 0x3b
const LESS = 0x3c
const GREATER = 0x3e
const PIPE = 0x7c

const DIGITS = /^\d+$/
const NAME_START = /^[\w\u0080-\uffff]/
const NO_ARGUMENTS: readonly Word[] = []

/**
 * Reads a text of fixed words joined by `|`, `&&`, `||` and `;`, with the most usual redirections. Most commands of
 * agents are like that, and for them this returns what the parser would, in a fraction of its time.
 */
export function readPlainScript({ text, from, to }: Range): PlainScript {
  // A subshell is more than the commands in it.
  if (text.charCodeAt(from) === OPENING) return 'other'
  let commands: PlainCommand[] | undefined
  let program: RelevantProgram | undefined
  let isCd = false
  let args: Word[] | undefined
  let stdin: Word | null = null
  let isRedirected = false
  let joined: Joint = ';'
  let arrow: Arrow | undefined
  for (let at = from; at < to;) {
    const code = text.charCodeAt(at)
    if (code === SPACE) {
      at += 1
      continue
    }
    if (kindOf(code) === BETWEEN) {
      const operator = arrow === undefined ? operatorAt(text, at, to) : null
      if (operator === null || operator === 'other') return operator
      at += operator.length
      if (isArrow(operator)) {
        arrow = operator
        continue
      }
      if (program === undefined) return null
      commands = withItem(commands, plainCommand(program, args, stdin, joined, isCd))
      program = undefined
      args = undefined
      stdin = null
      isRedirected = false
      joined = operator
      continue
    }
    let end = at
    let kind = 0
    let hasEquals = 0
    for (; end < to; end += 1) {
      kind = kindOf(text.charCodeAt(end))
      if (kind > EQUALS) break
      hasEquals |= kind
    }
    let quoted: string | null = null
    if (end < to && kind === QUOTE) {
      const close = end === at ? simpleQuoteEnd(text, at, to) : 0
      if (close > 0 && (close === to || !goesOn(text.charCodeAt(close)))) {
        // Nearly always a word is one pair of quotes.
        end = close
        quoted = text.slice(at + 1, close - 1)
      } else {
        end = quotedEnd(text, end, to)
        quoted = end === 0 ? null : unquotedWord(text, at, end)
        if (quoted === null || mayAssign(text.slice(at, end))) return null
      }
    } else if (hasEquals !== 0 && mayAssign(text.slice(at, end))) {
      // A command that only sets a variable is no file operation.
      return program === undefined && arrow === undefined && endsCommand(text, end, to) ? 'other' : null
    }
    const next = end < to ? text.charCodeAt(end) : SPACE
    if (kindOf(next) !== BETWEEN && !(next === NEWLINE && end > at)) return null
    if ((next === LESS || next === GREATER) && DIGITS.test(text.slice(at, end))) {
      // A descriptor. Which one only matters for input.
      if (next === LESS || arrow !== undefined) return null
      at = end
      continue
    }
    const start = at
    at = end
    if (arrow === undefined && program === undefined) {
      const source = quoted ?? text
      const nameStart = quoted === null ? start : 0
      const nameEnd = quoted === null ? end : quoted.length
      const base = baseStart(source, nameStart, nameEnd)
      const found = relevantAt(source, base, nameEnd)
      if (found === undefined || (commands === undefined && !found.mayBegin)) return 'other'
      if (found.needsParser || to - from > MAX_LENGTH) return null
      if (base > nameStart && !isSystemDirectory(source.slice(nameStart, base - 1))) return 'other'
      program = found
      isCd = found.name === 'cd' && base === nameStart
    } else if (arrow === undefined) args = withItem(args, literalWord(quoted ?? text.slice(start, end)))
    else {
      const word = quoted ?? text.slice(start, end)
      if (arrow === '<') stdin = literalWord(word)
      else if (arrow === '>&') {
        // With a name as its target, `>&` writes both outputs to a file.
        if (!DIGITS.test(word)) return null
      } else if (word !== '/dev/null') return 'other'
      isRedirected = true
      arrow = undefined
    }
    if (next === NEWLINE) return null
  }
  if (arrow !== undefined) return null
  if (program !== undefined) return withItem(commands, plainCommand(program, args, stdin, joined, isCd))
  // A list may end with a semicolon, but with no other operator.
  return commands === undefined || joined !== ';' || isRedirected ? null : commands
}

/** True if a word continues with this character after a quote. */
function goesOn(code: number): boolean {
  const kind = kindOf(code)
  return kind <= EQUALS || kind === QUOTE
}

function plainCommand(
  program: RelevantProgram,
  args: readonly Word[] | undefined,
  stdin: Word | null,
  joined: Joint,
  isCd: boolean,
): PlainCommand {
  return { program, args: args ?? NO_ARGUMENTS, stdin, cwd: null, moved: false, joined, isCd }
}

/** Returns where the last part of the path from `from` to `to` begins. */
function baseStart(text: string, from: number, to: number): number {
  let start = from
  for (let at = from; at < to; at += 1) if (text.charCodeAt(at) === SLASH) start = at + 1
  return start
}

function isArrow(operator: Joint | Arrow): operator is Arrow {
  return operator === '>' || operator === '>>' || operator === '>&' || operator === '<'
}

function operatorAt(text: string, at: number, to: number): Joint | Arrow | 'other' | null {
  const next = at + 1 < to ? text.charCodeAt(at + 1) : SPACE
  switch (text.charCodeAt(at)) {
    case PIPE:
      return next === PIPE ? '||' : next === AMPERSAND ? null : '|'
    case AMPERSAND:
      // `&` starts a background job.
      return next === AMPERSAND ? '&&' : next === GREATER ? null : 'other'
    case SEMICOLON:
      return next === SEMICOLON || next === AMPERSAND ? null : ';'
    case GREATER:
      return next === GREATER ? '>>' : next === AMPERSAND ? '>&' : next === PIPE ? null : '>'
    default:
      // The input is part of the command, or the file is opened for writing too.
      return next === LESS || next === GREATER ? 'other' : next === AMPERSAND ? null : '<'
  }
}

/** True if the command ends at `at`, apart from spaces. */
function endsCommand(text: string, at: number, to: number): boolean {
  let end = at
  while (end < to && text.charCodeAt(end) === SPACE) end += 1
  if (end >= to || text.charCodeAt(end) === SEMICOLON) return true
  return text.charCodeAt(end) === AMPERSAND && text.charCodeAt(end + 1) === AMPERSAND
}

/** True if a word like `a=b` may be an assignment. An option is none, nor is a word that begins with a quote. */
function mayAssign(source: string): boolean {
  return NAME_START.test(source) && source.includes('=')
}
