import { shellNames } from '../shells.ts'
import { canDoMore } from '../unknowns.ts'
import { transparentWrapperNames } from '../wrappers.ts'
import { filterNames } from './filters.ts'
import { listerNames } from './listings.ts'
import { neutralNames } from './members.ts'
import { kindOf, PLAIN } from './plain-words.ts'
import { readerNames, readerOf } from './readers.ts'
import type { Select } from './readers.ts'
import { searcherNames } from './searches.ts'

/** The names that a text of file operations can begin with. */
const BEGINNINGS: readonly string[] = [
  ...readerNames,
  ...searcherNames,
  ...listerNames,
  ...neutralNames,
  'git',
  'find',
  'gfind',
]

/**
 * Names that need the parser: programs that run others, fd, whose options do, and keywords that need no command (`case
 * x in esac`, `time` alone).
 */
const FOR_THE_PARSER: readonly string[] = [...shellNames, ...transparentWrapperNames, 'fd', 'fdfind', 'case', 'time']

const SLASH = 0x2f
const SPACE = 0x20
const NEWLINE = 0x0a
const SEMICOLON = 0x3b
const PIPE = 0x7c
const AMPERSAND = 0x26
const DASH = 0x2d
const PLUS = 0x2b

/** A program that may occur in a text of file operations, with everything that depends on its name alone. */
export interface RelevantProgram {
  /** The same string object as in the tables, for fast comparison. */
  readonly name: string
  readonly needsParser: boolean
  readonly mayBegin: boolean
  /** The program may have no effect on files. */
  readonly mayBeNeutral: boolean
  /** Some arguments make it do more than its name says. */
  readonly canDoMore: boolean
  /** Selects what it prints, if it is a program that prints files. */
  readonly select: Select | undefined
}

/** By first letter and length, so that a lookup need not create a string. */
const SHELVES: (RelevantProgram[] | undefined)[] = []
for (const name of new Set([...BEGINNINGS, ...filterNames, ...FOR_THE_PARSER])) {
  const shelf = shelfOf(name.charCodeAt(0), name.length)
  SHELVES[shelf] = [...(SHELVES[shelf] ?? []), describe(name)]
}

function shelfOf(first: number, length: number): number {
  return length * 128 + (first & 127)
}

function describe(name: string): RelevantProgram {
  const needsParser = FOR_THE_PARSER.includes(name)
  return {
    name,
    needsParser,
    mayBegin: needsParser || BEGINNINGS.includes(name),
    mayBeNeutral: neutralNames.includes(name),
    canDoMore: canDoMore(name),
    select: readerOf(name),
  }
}

/** Returns the program whose name is the text from `from` to `to`. */
export function relevantAt(text: string, from: number, to: number): RelevantProgram | undefined {
  const shelf = SHELVES[shelfOf(text.charCodeAt(from), to - from)]
  if (shelf === undefined) return undefined
  for (let at = 0; at < shelf.length; at += 1) {
    const program = shelf[at]
    if (program !== undefined && text.startsWith(program.name, from)) return program
  }
  return undefined
}

export function relevantProgram(name: string): RelevantProgram | undefined {
  return relevantAt(name, 0, name.length)
}

/** True for characters that certainly end a word. Not `<` and `>`: a number before them is a descriptor. */
function endsWord(code: number): boolean {
  return code === SPACE || code === NEWLINE || code === SEMICOLON || code === PIPE || code === AMPERSAND
}

function isOptionSign(code: number): boolean {
  return code === DASH || code === PLUS
}

/** True if the word at `from` shows that the text is not just file operations, whatever follows. */
export function beginsOtherwise(text: string, from: number, to: number): boolean {
  let base = from
  let end = from
  for (; end < to; end += 1) {
    const code = text.charCodeAt(end)
    if (kindOf(code) !== PLAIN) break
    if (code === SLASH) base = end + 1
  }
  if (end === from || end === to || !endsWord(text.charCodeAt(end)) || isOptionSign(text.charCodeAt(from))) return false
  return relevantAt(text, base, end)?.mayBegin !== true
}
