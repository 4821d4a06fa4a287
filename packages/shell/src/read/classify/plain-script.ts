import type { Word } from '../reading.ts'
import { literalWord } from '../words.ts'
import { withItem } from '../lists.ts'
import { isShell } from '../shells.ts'
import { relevantProgram } from './relevant.ts'

/** A simple command of which every word is fixed. */
export interface PlainCommand {
  readonly name: Word
  /** The last part of its name. */
  readonly base: string
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

const PLAIN = 1
const BETWEEN = 2
const QUOTE = 3

/** What each character is outside quotes. The others (expansions, patterns, escapes, comments …) are for the parser. */
const KINDS = new Uint8Array(0x1_0000)
for (let code = 0; code < 128; code += 1) if (/[\w./,:@%+=-]/.test(String.fromCharCode(code))) KINDS[code] = PLAIN
for (const character of ' |&;<>') KINDS[character.charCodeAt(0)] = BETWEEN
for (const character of `'"`) KINDS[character.charCodeAt(0)] = QUOTE

const SPACE = 0x20
const DOUBLE_QUOTE = 0x22
const BACKSLASH = 0x5c
const DIGITS = /^\d+$/
const NAME_START = /^\w/
const NOT_ORDINARY = /[^\t\n -~]/
const ACTIVE_IN_QUOTES = /[$`]|\\\n/
const ESCAPED = /\\([\\"])/g

class Command {
  name: Word | undefined
  base = ''
  readonly args: Word[] = []
  stdin: Word | null = null
  isRedirected = false
  readonly joined: Joint

  constructor(joined: Joint) {
    this.joined = joined
  }
}

/**
 * The commands of a text that is nothing but fixed words, joined by `|`, `&&`, `||` and `;`, with the most usual
 * redirections. Most commands of agents are like that, and for those this gives what the parser
 * would, in a fraction of its time.
 */
export function readPlainScript(text: string): PlainScript {
  if (text.length > MAX_LENGTH) return null
  let commands: PlainCommand[] | undefined
  let command = new Command(';')
  let arrow: Arrow | undefined
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at)
    if (code === SPACE) {
      at += 1
      continue
    }
    if (KINDS[code] === BETWEEN) {
      const operator = arrow === undefined ? operatorAt(text, at) : null
      if (operator === null || operator === 'other') return operator
      at += operator.length
      if (isArrow(operator)) arrow = operator
      else {
        if (!isNamed(command)) return null
        commands = withItem(commands, command)
        command = new Command(operator)
      }
      continue
    }
    const plain = plainEnd(text, at)
    const end = kindAt(text, plain) === QUOTE ? quotedEnd(text, plain) : plain
    const source = text.slice(at, end)
    const value = end === plain ? source : NOT_ORDINARY.test(source) ? null : unquoted(source)
    if (value === null || (end < text.length && kindAt(text, end) !== BETWEEN) || mayAssign(source)) return null
    at = end
    const next = text.charAt(end)
    if ((next === '<' || next === '>') && DIGITS.test(source)) {
      // A descriptor. Which one makes a difference to input only.
      if (next === '<' || arrow !== undefined) return null
      continue
    }
    const word = literalWord(value, source)
    if (arrow === undefined) {
      if (command.name !== undefined) {
        command.args.push(word)
        continue
      }
      const program = relevantProgram(baseName(value))
      if (program === undefined) return 'other'
      if (program.needsParser) return null
      command.name = word
      command.base = program.name
      continue
    }
    if (arrow === '<') command.stdin = word
    else if (arrow === '>&') {
      // To a name it would write both outputs.
      if (!DIGITS.test(value)) return null
    } else if (value !== '/dev/null') return 'other'
    command.isRedirected = true
    arrow = undefined
  }
  if (arrow !== undefined) return null
  if (isNamed(command)) return withItem(commands, command)
  // A list may end in a semicolon, and in no other operator.
  return commands === undefined || command.joined !== ';' || command.isRedirected ? null : commands
}

/** The text of `bash -lc 'text'`, where that is all there is and its name is that of a shell. It is yet to be read. */
export function plainShellScript(text: string): string | null {
  const space = text.indexOf(' ')
  if (space === -1) return null
  const at = space + (text.startsWith(' -lc ', space) ? 5 : text.startsWith(' -c ', space) ? 4 : 0)
  if (at === space) return null
  const name = text.slice(0, space)
  const base = baseName(name)
  // Where `./bash` leads is not known.
  if (!isShell(base) || (base !== name && !name.startsWith('/'))) return null
  const word = text.slice(at)
  const plain = plainEnd(word, 0)
  const script = plain === word.length ? word : quotedEnd(word, plain) === word.length ? unquoted(word) : null
  // More options may come after `-c`.
  return script === null || script.startsWith('-') || script.startsWith('+') ? null : script
}

function baseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1)
}

function isNamed(command: Command): command is Command & PlainCommand {
  return command.name !== undefined
}

function isArrow(operator: Joint | Arrow): operator is Arrow {
  return operator === '>' || operator === '>>' || operator === '>&' || operator === '<'
}

function operatorAt(text: string, at: number): Joint | Arrow | 'other' | null {
  const next = text.charAt(at + 1)
  switch (text.charAt(at)) {
    case '|':
      return next === '|' ? '||' : next === '&' ? null : '|'
    case '&':
      // A job in the background.
      return next === '&' ? '&&' : next === '>' ? null : 'other'
    case ';':
      return next === ';' || next === '&' ? null : ';'
    case '>':
      return next === '>' ? '>>' : next === '&' ? '>&' : next === '|' ? null : '>'
    default:
      // The input is written in the command, or opened for writing too.
      return next === '<' || next === '>' ? 'other' : next === '&' ? null : '<'
  }
}

function kindAt(text: string, at: number): number | undefined {
  return at < text.length ? KINDS[text.charCodeAt(at)] : undefined
}

/** The place of the first character from `at` on that is not plain. */
function plainEnd(text: string, at: number): number {
  let end = at
  while (end < text.length && KINDS[text.charCodeAt(end)] === PLAIN) end += 1
  return end
}

/** The same for a word in which a quote opens at `at`. */
function quotedEnd(text: string, at: number): number {
  let end = at
  while (kindAt(text, end) === QUOTE) {
    const close = quoteEnd(text, end)
    if (close === 0) return end
    end = plainEnd(text, close)
  }
  return end
}

/** The place after the quote that closes the one at `open`; 0 when there is none. */
function quoteEnd(text: string, open: number): number {
  if (text.charCodeAt(open) !== DOUBLE_QUOTE) return text.indexOf("'", open + 1) + 1
  for (let at = open + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === DOUBLE_QUOTE) return at + 1
    if (code === BACKSLASH) at += 1
  }
  return 0
}

/** `a=b` may assign; an option does not, nor does what begins with a quote. */
function mayAssign(source: string): boolean {
  return source.includes('=') && NAME_START.test(source)
}

/** What a word with quotes stands for; null when something in them is expanded. */
function unquoted(source: string): string | null {
  if (source.startsWith("'") && source.indexOf("'", 1) === source.length - 1) return source.slice(1, -1)
  let text = ''
  for (let at = 0; at < source.length;) {
    const plain = plainEnd(source, at)
    if (plain > at) text += source.slice(at, plain)
    at = plain === source.length ? plain : quoteEnd(source, plain)
    if (at === 0) return null
    if (at === plain) break
    const inner = source.slice(plain + 1, at - 1)
    if (source.charCodeAt(plain) !== DOUBLE_QUOTE) text += inner
    else if (ACTIVE_IN_QUOTES.test(inner)) return null
    else text += inner.includes('\\') ? inner.replace(ESCAPED, '$1') : inner
  }
  return text
}
