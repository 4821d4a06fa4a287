import { widenName } from './glob-word.ts'
import { ALL_SOURCES } from './touch.ts'

/** `:(top,icase)`, `:/`, `:!`: how git is to read what follows. */
const MAGIC = /^:(?:\(([^)]*)\)|([!^/]+):?|:?(?=[^:]))/
const IS_PATTERN = /[*?[\\]/
const MOST_STARS = 3

export interface Pathspec {
  /** Without magic; nothing where it means the whole repository. */
  readonly path: string
  /** It means all but this. */
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

/** The paths that a pattern may stand for, where a star is within a name and `**` any folders. */
export function patternPaths(spec: Pathspec): string[] {
  const widened = widen(spec)
  const stars = widened.split('/').join('').split('*').length - 1
  // Whatever they become, it lies below the folders in front of them.
  if (stars > MOST_STARS) return [`${/^(?:[^*/]*\/)*/.exec(widened)?.[0] ?? ''}**`]
  let found = ['']
  for (const piece of widened.split(/(\*+)/)) {
    const choices = piece === '*' ? ['*', '*/**/*'] : [piece]
    found = found.flatMap((before) => choices.map((choice) => `${before}${choice}`))
  }
  return found
}

/** All sources of one kind, wherever they lie. */
export function isSources(spec: Pathspec): boolean {
  return ALL_SOURCES.test(widen(spec))
}

function widen({ path }: Pathspec): string {
  const plain = path.replace(/\\(.)/gs, '$1')
  return plain.split('/').map(widenName).join('/')
}

/** Hardly a folder is called like a hidden file, but the name at the end may be one. */
export function endsInStar(path: string): boolean {
  return /\*[^/]*$/.test(path)
}
