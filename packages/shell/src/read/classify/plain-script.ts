import { withItem } from '../lists.ts'
import { isSystemDirectory } from '../programs.ts'
import type { Word } from '../reading.ts'
import { literalWord } from '../words.ts'
import { BETWEEN, EQUALS, kindOf, QUOTE, quotedEnd, unquotedWord } from './plain-words.ts'
import { relevantAt } from './relevant.ts'
import type { RelevantProgram } from './relevant.ts'
import type { Range } from './shell-script.ts'

/** A simple command of which every word is fixed. */
export interface PlainCommand {
  readonly name: string
  readonly program: RelevantProgram
  readonly args: readonly Word[]
  readonly stdin: Word | null
  /** What stands before it; a semicolon before the first. */
  readonly joined: Joint
}

type Joint = '|' | '&&' | '||' | ';'
type Arrow = '>' | '>>' | '>&' | '<'

/**
 * `'other'`: something in it settles, whatever the rest is, that it is more than file operations. Null: it takes the parser
 * to tell.
 */
export type PlainScript = readonly PlainCommand[] | 'other' | null

/** Longer texts are rare, and nothing is lost by parsing them. */
const MAX_LENGTH = 4_096

const NEWLINE = 0x0a
const SPACE = 0x20
const AMPERSAND = 0x26
const SLASH = 0x2f
const SEMICOLON = 0x3b
const LESS = 0x3c
const GREATER = 0x3e
const PIPE = 0x7c

const DIGITS = /^\d+$/
const NAME_START = /^\w/
const NO_ARGUMENTS: readonly Word[] = []

/**
 * The commands of a text that is nothing but fixed words, joined by `|`, `&&`, `||` and `;`, with the most usual
 * redirections. Most commands of agents are like that, and for those this gives what the parser
 * would, in a fraction of its time.
 */
export function readPlainScript({ text, from, to }: Range): PlainScript {
  let commands: PlainCommand[] | undefined
  let name = ''
  let program: RelevantProgram | undefined
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
      commands = withItem(commands, { name, program, args: args ?? NO_ARGUMENTS, stdin, joined })
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
    let word: string | null
    if (end < to && kind === QUOTE) {
      end = quotedEnd(text, end, to)
      word = end === 0 ? null : unquotedWord(text, at, end)
      if (word === null || mayAssign(text.slice(at, end))) return null
    } else {
      word = text.slice(at, end)
      if (hasEquals !== 0 && mayAssign(word)) return null
    }
    const next = end < to ? text.charCodeAt(end) : SPACE
    if (kindOf(next) !== BETWEEN && !(next === NEWLINE && end > at)) return null
    if ((next === LESS || next === GREATER) && DIGITS.test(text.slice(at, end))) {
      // A descriptor. Which one makes a difference to input only.
      if (next === LESS || arrow !== undefined) return null
      at = end
      continue
    }
    at = end
    if (arrow === undefined && program === undefined) {
      const base = baseStart(word)
      const found = relevantAt(word, base, word.length)
      if (found === undefined || (commands === undefined && !found.mayBegin)) return 'other'
      if (found.needsParser || to - from > MAX_LENGTH) return null
      if (base > 0 && !isSystemDirectory(word.slice(0, base - 1))) return 'other'
      name = word
      program = found
    } else if (arrow === undefined) args = withItem(args, literalWord(word))
    else {
      if (arrow === '<') stdin = literalWord(word)
      else if (arrow === '>&') {
        // To a name it would write both outputs.
        if (!DIGITS.test(word)) return null
      } else if (word !== '/dev/null') return 'other'
      isRedirected = true
      arrow = undefined
    }
    if (next === NEWLINE) return null
  }
  if (arrow !== undefined) return null
  if (program !== undefined) return withItem(commands, { name, program, args: args ?? NO_ARGUMENTS, stdin, joined })
  // A list may end in a semicolon, and in no other operator.
  return commands === undefined || joined !== ';' || isRedirected ? null : commands
}

/** Where the last part of a name begins. */
function baseStart(name: string): number {
  let start = 0
  for (let at = 0; at < name.length; at += 1) if (name.charCodeAt(at) === SLASH) start = at + 1
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
      // A job in the background.
      return next === AMPERSAND ? '&&' : next === GREATER ? null : 'other'
    case SEMICOLON:
      return next === SEMICOLON || next === AMPERSAND ? null : ';'
    case GREATER:
      return next === GREATER ? '>>' : next === AMPERSAND ? '>&' : next === PIPE ? null : '>'
    default:
      // The input is written in the command, or opened for writing too.
      return next === LESS || next === GREATER ? 'other' : next === AMPERSAND ? null : '<'
  }
}

/** `a=b` may assign; an option does not, nor does what begins with a quote. */
function mayAssign(source: string): boolean {
  return NAME_START.test(source) && source.includes('=')
}
