import { ANY, matchesText, type Wildcard } from './wildcard.ts'
import { fold } from './fold.ts'

export interface PatternWord {
  /** The word as written, without quotes. */
  readonly text: string
  readonly wildcard: Wildcard
  readonly folded: Wildcard
  /** Contains no star. */
  readonly isFixed: boolean
  /** Is nothing but a star. */
  readonly isAny: boolean
}

/** A pattern for one simple command: the program, words, and whether anything may follow. */
export interface ShellPattern {
  readonly source: string
  readonly program: PatternWord
  /** The program's name without its folder, as compared by a deny. */
  readonly base: Wildcard
  readonly words: readonly PatternWord[]
  /** The last word is a star, which matches any further arguments. */
  readonly isOpen: boolean
  /** There is no star in the pattern. */
  readonly isExact: boolean
}

export type ParsedPattern<T> =
  | { readonly ok: true; readonly pattern: T }
  | { readonly ok: false; readonly reason: string }

const CONTROL = /[\p{Cc}\p{Cs}\u2028\u2029]/u
const OPERATOR = /[;&|<>()`$]/
const BRACES = /\{[^{} ]*,[^{} ]*\}/

/**
 * Parses a pattern such as `git log *`. Words are separated by spaces; quotes and backslashes make a space or star
 * literal. A pattern that can never match is refused, so that no rule is without effect.
 */
export function parseShellPattern(source: string): ParsedPattern<ShellPattern> {
  if (CONTROL.test(source)) return refused('it holds control characters')
  const split = splitWords(source)
  if (typeof split === 'string') return refused(split)
  if (BRACES.test(source.replace(/\\.|"[^"]*"|'[^']*'/g, ''))) {
    return refused('braces are not spread: write one rule for each, or quote them')
  }
  const [program, ...rest] = split
  if (program === undefined) return refused('it is empty')
  if (/^[A-Za-z_]\w*=/.test(program.text)) return refused('a rule is about a program, not about an assignment')
  const isOpen = rest.at(-1)?.isAny === true || (rest.length === 0 && program.isAny)
  const words = rest.at(-1)?.isAny === true ? rest.slice(0, -1) : rest
  const isExact = !isOpen && program.isFixed && words.every((word) => word.isFixed)
  const base = program.folded.slice(program.folded.lastIndexOf('/') + 1)
  return { ok: true, pattern: { source, program, base, words, isOpen, isExact } }
}

function refused(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason }
}

/** Returns the words, or why the pattern is refused. */
function splitWords(source: string): PatternWord[] | string {
  const words: PatternWord[] = []
  let word: (string | typeof ANY)[] | null = null
  let quote = ''
  for (let at = 0; at < source.length; at += 1) {
    const char = source.charAt(at)
    if (quote === '' && char === ' ') {
      if (word !== null) words.push(patternWord(word))
      word = null
      continue
    }
    word ??= []
    if (char === quote) quote = ''
    else if (quote === '' && (char === '"' || char === "'")) quote = char
    else if (char === '\\' && quote !== "'") {
      at += 1
      if (at === source.length) return 'it ends with a backslash'
      word.push(source.charAt(at))
    } else if (quote !== '') word.push(char)
    else if (OPERATOR.test(char))
      return `a rule is about one simple command; quote the \`${char}\` if it is part of a word`
    else if (
      char === '*' &&
      source.charAt(at - 1) === ':' &&
      (at + 1 === source.length || source.charAt(at + 1) === ' ')
    ) {
      return 'further arguments are written as ` *`, not `:*`'
    } else word.push(char === '*' ? ANY : char)
  }
  if (quote !== '') return `the quote ${quote} is not closed`
  if (word !== null) words.push(patternWord(word))
  return words
}

function patternWord(wildcard: Wildcard): PatternWord {
  return {
    text: wildcard.map((char) => (typeof char === 'string' ? char : '*')).join(''),
    wildcard,
    folded: foldWildcard(wildcard),
    isFixed: !wildcard.includes(ANY),
    isAny: wildcard.length === 1 && wildcard[0] === ANY,
  }
}

function foldWildcard(wildcard: Wildcard): Wildcard {
  const folded: (string | typeof ANY)[] = []
  let literal = ''
  const flush = (): void => {
    // By code unit, like the text it is compared with.
    folded.push(...fold(literal).split(''))
    literal = ''
  }
  for (const char of wildcard) {
    if (typeof char === 'string') {
      literal += char
      continue
    }
    flush()
    folded.push(ANY)
  }
  flush()
  return folded
}

/** Compares as an allow does: exactly, and a star never leaves a folder. */
export function matchesExactly(word: PatternWord, text: string): boolean {
  if (!matchesText(word.wildcard, text)) return false
  return word.isFixed || !climbs(text) || climbs(word.text)
}

/** Compares as a deny does: any spelling that may mean the same. */
export function matchesLoosely(word: PatternWord, text: string): boolean {
  return matchesText(word.folded, fold(text))
}

function climbs(text: string): boolean {
  return text.split(/[/\\=]/).includes('..')
}
