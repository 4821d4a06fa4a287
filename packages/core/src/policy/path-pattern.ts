import { fold } from './fold.ts'
import { below, locate, locateWidely, type Location, type Whereabouts } from './location.ts'
import type { Reach } from './reaches.ts'
import type { ParsedPattern } from './shell-pattern.ts'
import { ANY, matchesText, matchesWildcard, ONE, type Wildcard } from './wildcard.ts'

interface Segment {
  readonly exact: Wildcard
  readonly folded: Wildcard
}

/** Folders and names; `**` stands for any number of folders. */
export interface PathPattern {
  readonly source: string
  readonly from: 'root' | 'home' | 'start'
  readonly segments: Wildcard<Segment>
  /** A name without a folder: a deny or ask means it anywhere. */
  readonly isName: boolean
}

const UNREADABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/u

export function parsePathPattern(source: string): ParsedPattern<PathPattern> {
  if (source === '') return { ok: false, reason: 'it is empty' }
  if (UNREADABLE.test(source)) return { ok: false, reason: 'it holds control characters' }
  if (source.includes('\\')) return { ok: false, reason: 'folders are separated by /' }
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
  return { exact: wildcardOf(segment), folded: wildcardOf(fold(segment)) }
}

function wildcardOf(text: string): Wildcard {
  return text.split('').map((char) => (char === '*' ? ANY : char === '?' ? ONE : char))
}

/** Texts that tools take for something else than the path that stands there. */
const AMBIGUOUS = /[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\\]|^[A-Za-z][\w+.-]*:|^~(?!\/|$)/u

/** As an allow reads it: to the letter. */
export function coversPath(pattern: PathPattern, path: string, { root, start, home }: Whereabouts): boolean {
  if (path === '' || AMBIGUOUS.test(path)) return false
  const location = locate(path, start, home)
  const rest = below(folderOf(pattern, root, home), location)
  if (rest === undefined) return false
  return matchesWildcard(pattern.segments, rest, (segment, name) => matchesText(segment.exact, name))
}

/**
 * As a deny or ask reads it: any spelling, and everything below what it names. With `isTree` the tool looks below the
 * path, and then it is enough that something there could be meant.
 */
export function pathReach(pattern: PathPattern, path: string, where: Whereabouts, isTree: boolean): Reach {
  const { root, start, home } = where
  const folder = folderOf(pattern, root, home)
  const segments: Wildcard<Segment> = pattern.isName ? [ANY, ...pattern.segments, ANY] : [...pattern.segments, ANY]
  let found: Reach = 'no'
  for (const location of locateWidely(path, start, home)) {
    const rest = below(folder, location, isAlike)
    if (rest === undefined) {
      const outside = outsideReach(pattern, folder, location, segments)
      if (outside === 'yes') return 'yes'
      if (outside === 'maybe' || (isTree && below(location, folder, isAlike) !== undefined)) found = 'maybe'
      continue
    }
    if (matchesWildcard(segments, rest, isSameName)) return 'yes'
    if (isTree && mayGoOn(segments, rest)) found = 'maybe'
  }
  return found
}

function isAlike(a: string, b: string): boolean {
  return fold(a) === fold(b)
}

function isSameName(segment: Segment, name: string): boolean {
  return matchesText(segment.folded, fold(name))
}

function folderOf(pattern: PathPattern, root: Location, home: Location | null): Location {
  if (pattern.from === 'start') return root
  return pattern.from === 'home' ? (home ?? { from: 'home', segments: [] }) : { from: 'root', segments: [] }
}

/** It is not below the folder the pattern starts from, but it may be meant: that folder may be unknown. */
function outsideReach(
  pattern: PathPattern,
  folder: Location,
  { from, segments: given }: Location,
  segments: Wildcard<Segment>,
): Reach {
  if (pattern.isName) return matchesWildcard(segments, given, isSameName) ? 'yes' : 'no'
  if (folder.from === from) return from === 'start' && given[0] === '..' ? 'maybe' : 'no'
  if (given[0] === '..' || matchesWildcard([ANY, ...segments], given, isSameName)) return 'maybe'
  const ends = segments.map((_, at) => segments.slice(at)).slice(1, -1)
  return from !== 'root' && ends.some((end) => matchesWildcard(end, given, isSameName)) ? 'maybe' : 'no'
}

/** Some further folders and names would make it match. */
function mayGoOn(pattern: Wildcard<Segment>, given: readonly string[]): boolean {
  let states = new Set([0])
  for (const name of given) {
    const next = new Set<number>()
    for (const state of withSkips(pattern, states)) {
      const expected = pattern[state]
      if (expected === ANY) next.add(state)
      else if (expected !== undefined && expected !== ONE && isSameName(expected, name)) next.add(state + 1)
    }
    states = next
  }
  return states.size > 0
}

function withSkips(pattern: Wildcard<Segment>, states: ReadonlySet<number>): Set<number> {
  const all = new Set(states)
  for (const state of all) if (pattern[state] === ANY) all.add(state + 1)
  return all
}
