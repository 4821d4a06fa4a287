import { fold } from './fold.ts'
import { below, locate, locateWidely, type Location, type Whereabouts } from './location.ts'
import type { Reach } from '../deny/reaches.ts'
import type { ParsedPattern } from './shell-pattern.ts'
import { ANY, matchesText, matchesWildcard, mayBegin, mayMeet, ONE, type Meeting, type Wildcard } from './wildcard.ts'

interface Segment {
  readonly exact: Wildcard
  readonly folded: Wildcard
  /** In the form that `loosely` returns. */
  readonly loose: Wildcard
}

/** A pattern of folders and names; `**` means any number of folders. */
export interface PathPattern {
  readonly source: string
  readonly from: 'root' | 'home' | 'start'
  readonly segments: Wildcard<Segment>
  /** A name without a folder: a deny or ask matches it anywhere. */
  readonly isName: boolean
}

const UNREADABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/u

/** Syntax that other programs understand, and that would here be a file of that very name. */
const MISREAD: readonly (readonly [RegExp, string])[] = [
  [/^\s|\s$/, 'it begins or ends with a space'],
  [/^!/, 'a rule does not negate: write the files it means'],
  [/^\$\{?[A-Z_]+\}?(?:\/|$)/, 'variables are not filled in: write the folder, or `~`'],
  [/^~[^/]/, 'only `~/` is known, not the homes of others'],
  [/^[A-Za-z][\w+.-]*:\//, 'it is written as a path, without what stands before the colon'],
  [/\{[^{}/]*,[^{}/]*\}/, 'braces are not spread: write one rule for each'],
]

export function parsePathPattern(source: string): ParsedPattern<PathPattern> {
  if (source === '') return { ok: false, reason: 'it is empty' }
  if (UNREADABLE.test(source)) return { ok: false, reason: 'it holds control characters' }
  if (source.includes('\\')) return { ok: false, reason: 'folders are separated by /' }
  const misread = MISREAD.find(([sign]) => sign.test(source))
  if (misread !== undefined) return { ok: false, reason: misread[1] }
  const written = source.split('/')
  if (written.includes('..')) return { ok: false, reason: 'it climbs out with `..`: write the folder it means' }
  if (written.some((segment) => segment.includes('**') && segment !== '**')) {
    return { ok: false, reason: '`**` stands for whole folders: write `**/*name*`' }
  }
  const from = source.startsWith('/') ? 'root' : written[0] === '~' ? 'home' : 'start'
  const kept = written.slice(from === 'home' ? 1 : 0).filter((segment) => segment !== '' && segment !== '.')
  if (source.endsWith('/') && kept.length > 0) kept.push('**')
  return {
    ok: true,
    pattern: {
      source,
      from,
      segments: kept.map((segment): Segment | typeof ANY => (segment === '**' ? ANY : parseSegment(segment))),
      isName: from === 'start' && written.length === 1 && kept.length === 1,
    },
  }
}

function parseSegment(segment: string): Segment {
  return {
    exact: wildcardOf(segment),
    folded: wildcardOf(fold(segment)),
    loose: loosely(segment).map((char) => (char === '?' ? ANY : char)),
  }
}

/**
 * Splits a name with stars into characters, decomposed so far that what a star matches cannot change its neighbours.
 */
function loosely(name: string): (string | typeof ANY)[] {
  const text = fold(name).normalize('NFKD').replaceAll('ς', 'σ')
  return text.split('').map((char) => (char === '*' ? ANY : char))
}

function wildcardOf(text: string): Wildcard {
  return text.split('').map((char) => (char === '*' ? ANY : char === '?' ? ONE : char))
}

/** Texts that tools understand as another path than the one written. */
const AMBIGUOUS = /[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\\]|^[A-Za-z][\w+.-]*:|^~(?!\/|$)/u

/** Returns whether an allow covers a path: names have to match exactly. */
export function coversPath(pattern: PathPattern, path: string, { root, start, home }: Whereabouts): boolean {
  if (path === '' || AMBIGUOUS.test(path)) return false
  const location = locate(path, start, home)
  const rest = below(folderOf(pattern, root, home), location)
  if (rest === undefined) return false
  return matchesWildcard(pattern.segments, rest, (segment, name) => matchesText(segment.exact, name))
}

/** How the names of a path are compared with those of a pattern. */
interface PathComparison {
  readonly isAlike: (folder: string, name: string) => boolean
  readonly matches: (segments: Wildcard<Segment>, names: readonly string[]) => boolean
  /** Returns true when some further folders and names would make it match. */
  readonly mayGoOn: (segments: Wildcard<Segment>, names: readonly string[]) => boolean
}

const AS_WRITTEN: PathComparison = {
  isAlike: (a, b) => fold(a) === fold(b),
  matches: (segments, names) => matchesWildcard(segments, names, isSameName),
  mayGoOn: (segments, names) => mayBegin(segments, names, { isSame: isSameName, isMatched: () => true }),
}

/**
 * Returns whether a deny or ask applies to a path: in any spelling, and to everything below what it names. With
 * `isTree` the tool looks below the path, and then it is enough that something there could match.
 */
export function pathReach(pattern: PathPattern, path: string, where: Whereabouts, isTree: boolean): Reach {
  return reachOf(pattern, path, where, isTree, AS_WRITTEN)
}

/**
 * The same for a path with stars. What they match is decided at run time, so it is never more than `maybe`.
 * `withHidden` says whether a star at the beginning of a name matches a dot.
 */
export function globReach(
  pattern: PathPattern,
  path: string,
  where: Whereabouts,
  { isTree, withHidden }: { readonly isTree: boolean; readonly withHidden: boolean },
): Reach {
  const [, top = ''] = path.split('/')
  // The first folder may lead to all others.
  if (path.startsWith('/') && (top.includes('*') || (top === 'proc' && path.includes('*')))) return 'maybe'
  const folder = folderOf(pattern, where.root, where.home)
  const meeting: Meeting<Segment, string> = {
    isSame: (segment, name) => namesMeet(segment.loose, name, withHidden),
    isMatched: (segment) => namesMeet(segment.loose, '*', withHidden),
  }
  const wild = (names: readonly string[]): Wildcard => names.map((name) => (name === '**' ? ANY : name))
  const comparison: PathComparison = {
    isAlike: (a, b) => b === '**' || namesMeet(loosely(a), b, withHidden),
    matches: (segments, names) => mayMeet(segments, wild(names), meeting),
    mayGoOn: (segments, names) => mayBegin(segments, wild(names), meeting),
  }
  // With any number of folders before the project, nothing tells how far the path leads.
  const isVague = locateWidely(path, where.start, where.home).some(({ segments }) => {
    const at = segments.indexOf('**')
    return at !== -1 && at < folder.segments.length
  })
  return isVague || reachOf(pattern, path, where, isTree, comparison) !== 'no' ? 'maybe' : 'no'
}

/** Returns whether some name matches both. */
function namesMeet(expected: Wildcard, name: string, withHidden: boolean): boolean {
  const given = loosely(name)
  if (!withHidden && given[0] === ANY && expected[0] === '.') return false
  return mayMeet(expected, given, { isSame: (a, b) => a === b, isMatched: () => true })
}

function reachOf(
  pattern: PathPattern,
  path: string,
  { home, root, start }: Whereabouts,
  isTree: boolean,
  comparison: PathComparison,
): Reach {
  const { isAlike, matches, mayGoOn } = comparison
  const folder = folderOf(pattern, root, home)
  const segments: Wildcard<Segment> = pattern.isName ? [ANY, ...pattern.segments, ANY] : [...pattern.segments, ANY]
  let found: Reach = 'no'
  for (const location of locateWidely(path, start, home)) {
    const rest = below(folder, location, isAlike)
    if (rest === undefined) {
      const outside = outsideReach(pattern, folder, location, segments, matches)
      if (outside === 'yes') return 'yes'
      const isAbove = below(location, folder, (a, b) => isAlike(b, a)) !== undefined
      if (outside === 'maybe' || (isTree && isAbove)) found = 'maybe'
      continue
    }
    if (matches(segments, rest)) return 'yes'
    if (isTree && mayGoOn(segments, rest)) found = 'maybe'
  }
  return found
}

/** No system has a file with a longer name. */
const LONGEST_NAME = 1_024

function isSameName(segment: Segment, name: string): boolean {
  return name.length <= LONGEST_NAME && matchesText(segment.folded, fold(name))
}

function folderOf(pattern: PathPattern, root: Location, home: Location | null): Location {
  if (pattern.from === 'start') return root
  return pattern.from === 'home' ? (home ?? { from: 'home', segments: [] }) : { from: 'root', segments: [] }
}

/**
 * For a path that is not below the folder the pattern starts from. It may still be meant, since that folder may be
 * unknown.
 */
function outsideReach(
  pattern: PathPattern,
  folder: Location,
  { from, segments: given }: Location,
  segments: Wildcard<Segment>,
  matches: PathComparison['matches'],
): Reach {
  if (pattern.isName) return matches(segments, given) ? 'yes' : 'no'
  if (folder.from === from) return from === 'start' && given[0] === '..' ? 'maybe' : 'no'
  if (given[0] === '..' || matches([ANY, ...segments], given)) return 'maybe'
  const ends = segments.map((_, at) => segments.slice(at)).slice(1, -1)
  return from !== 'root' && ends.some((end) => matches(end, given)) ? 'maybe' : 'no'
}
