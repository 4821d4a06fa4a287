import type { SimpleCommand, Word } from '../../read/index.ts'
import { isReadable } from '../deny/argument.ts'
import { programBase } from '../../programs/program-base.ts'

const SPREADS = new Set(['glob', 'brace', 'tilde'])
/** Quotes inside braces, and nested patterns: their results are not worked out here. */
const INTRICATE = /[()\\"'`$]/
const BRACES = /\{([^{}]*)\}/
const MOST_ALTERNATIVES = 64
const LONGEST = 4_096

/**
 * Returns the paths that a word with `*`, `?`, `[…]` or `{a,b}` may become. In them `*` matches any characters of one
 * name and `**` any folders, which is at least what a shell matches. Null when that cannot be told.
 */
function globPaths(word: Word): readonly string[] | null {
  const { expansions, quoted, text } = word
  if (isReadable(word) || !expansions.every((expansion) => SPREADS.has(expansion))) return null
  if (INTRICATE.test(text) || text.length > LONGEST) return null
  const isSpread = expansions.includes('brace')
  // The text does not tell which of several braces are quoted.
  if (isSpread && quoted) return null
  const texts = isSpread ? alternatives(text) : [text]
  if (texts === null || texts.some((each) => /^~(?!\/|$)/.test(each))) return null
  return texts.map((each) => each.split('/').map(widenName).join('/'))
}

export interface Spread {
  readonly word: Word
  /** A `*` in the text matches any characters. */
  readonly isGlob: boolean
}

/** Returns the word, or what the shell may make of its patterns and braces. */
export function spread(word: Word): Spread[] {
  const paths = globPaths(word)
  if (paths === null) return [{ word, isGlob: false }]
  const found = paths.map((text) => ({ word: fixed(word, text), isGlob: true }))
  // The word may become something else as well.
  return paths.some(mayClimb) ? [...found, { word, isGlob: false }] : found
}

function fixed(word: Word, text: string): Word {
  const expansions: Word['expansions'] = text.startsWith('~') ? ['tilde'] : []
  return { ...word, text, expansions, dynamic: expansions.length > 0 }
}

/** Marks something that is inserted at run time. */
const PUT_IN = /[$`]/
const AFTER_PUT_IN = /^.*[$`)}\]'"][^/]*\//s

/**
 * Returns what is known of a word although a part of it is inserted at run time: what follows the inserted folder
 * (`"$PWD/.env"`), and how a name begins that it completes (`.e$x`).
 */
export function hints(word: Word): Spread[] {
  const { text } = word
  const first = text.search(PUT_IN)
  if (first === -1 || text.length > LONGEST) return []
  const tail = AFTER_PUT_IN.test(text) ? text.replace(AFTER_PUT_IN, '') : ''
  const before = text.slice(0, first)
  const texts = [tail, /[^/=@:;,<]$/.test(before) ? `${before}*` : '']
  return texts
    .filter((each) => each !== '')
    .map((each) => ({ word: fixed(word, each.split('/').map(widenName).join('/')), isGlob: /[*?[]/.test(each) }))
}

/** Returns every alternative of the braces, the innermost first. */
export function alternatives(text: string): readonly string[] | null {
  let texts: readonly string[] = [text]
  while (texts.some((each) => BRACES.test(each))) {
    const next = texts.flatMap((each): readonly (string | null)[] => {
      const found = BRACES.exec(each)
      if (found === null) return [each]
      const [whole, inside = ''] = found
      if (!inside.includes(',') || inside.includes('..')) return [null]
      const [before, after] = [each.slice(0, found.index), each.slice(found.index + whole.length)]
      return inside.split(',').map((choice) => `${before}${choice}${after}`)
    })
    texts = next.filter((each) => each !== null)
    if (texts.length < next.length || texts.length > MOST_ALTERNATIVES) return null
  }
  return texts
}

/** Widens a name to one with stars, whether or not its wildcards are quoted and whatever its brackets exclude. */
export function widenName(segment: string): string {
  if (segment === '**') return segment
  return segment
    .replace(/\[.*\]/s, '*')
    .replaceAll('?', '*')
    .replace(/\*+/g, '*')
}

/** `.*` also matches the folder above, and `..` after a star leads anywhere. */
function mayClimb(path: string): boolean {
  const segments = path.split('/')
  const wild = segments.findIndex((segment) => segment.includes('*'))
  if (wild !== -1 && segments.includes('..', wild)) return true
  return segments.some((segment) => /^\.\**\.?\**$/.test(segment) && segment.includes('*'))
}

const SHOWS_HIDDEN = /dotglob|globignore|bashopts|glob_?dot|fignore/i
const SETS_OPTIONS = /^(?:shopt|set|setopt|emulate|export|declare|typeset)$/
const RUNS_FILE = /^(?:source|\.)$/

/** Returns whether a star may match names that begin with a dot: something in the text may have switched that on. */
export function matchesHidden(commands: readonly SimpleCommand[]): boolean {
  return commands.some(({ args, assignments, launcher, name, unknown }) => {
    const base = name === null ? '' : programBase(name.text)
    if (RUNS_FILE.test(base) || (launcher === 'shell' && unknown !== null)) return true
    if (SETS_OPTIONS.test(base) && !args.every(isReadable)) return true
    return (
      [...args, ...assignments.map(({ value }) => value)].some(({ text }) => SHOWS_HIDDEN.test(text)) ||
      assignments.some((each) => SHOWS_HIDDEN.test(each.name))
    )
  })
}
