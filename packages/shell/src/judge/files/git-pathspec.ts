import { widenName } from './glob-word.ts'
import { ALL_SOURCES } from './touch.ts'

/** `:(top,icase)`, `:/`, `:!`: how git reads the rest. */
const MAGIC = /^:(?:\(([^)]*)\)|([!^/]+):?|:?(?=[^:]))/
const IS_PATTERN = /[*?[\\]/
const MOST_STARS = 3

export interface Pathspec {
  /** The path without magic; empty for the whole repository. */
  readonly path: string
  /** True when it means everything except this path. */
  readonly isExcluded: boolean
  readonly isFromTop: boolean
  readonly isPattern: boolean
}

export function readPathspec(text: string): Pathspec {
  if (text === ':') return { path: '', isExcluded: false, isFromTop: true, isPattern: false }
  const [whole = '', long = '', short = ''] = MAGIC.exec(text) ?? []
  const path = text.slice(whole.length)
  return {
    path,
    isExcluded: /exclude/.test(long) || /[!^]/.test(short),
    isFromTop: /top/.test(long) || short.includes('/'),
    isPattern: IS_PATTERN.test(path),
  }
}

/** Returns the paths that a pattern may match, with `*` for part of a name and `**` for any folders. */
export function patternPaths(spec: Pathspec): string[] {
  const widened = widen(spec)
  const stars = widened.split('/').join('').split('*').length - 1
  // Whatever the stars match, it is below the folders in front of them.
  if (stars > MOST_STARS) return [`${/^(?:[^*/]*\/)*/.exec(widened)?.[0] ?? ''}**`]
  let found = ['']
  for (const piece of widened.split(/(\*+)/)) {
    const choices = piece === '*' ? ['*', '*/**/*'] : [piece]
    found = found.flatMap((before) => choices.map((choice) => `${before}${choice}`))
  }
  return found
}

/** True for a pattern of all sources of one kind, wherever they are. */
export function isSources(spec: Pathspec): boolean {
  return ALL_SOURCES.test(widen(spec))
}

function widen({ path }: Pathspec): string {
  const plain = path.replace(/\\(.)/gs, '$1')
  return plain.split('/').map(widenName).join('/')
}

/** True when the last name has a star. Hardly any folder is named like a hidden file, but the last name may be one. */
export function endsInStar(path: string): boolean {
  return /\*[^/]*$/.test(path)
}
