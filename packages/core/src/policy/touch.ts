import type { Location } from './location.ts'

/** A file or folder that a command touches, or at least names. */
export interface Touch {
  readonly access: 'read' | 'edit' | 'either'
  /** As written; null when it is only known when it runs. */
  readonly path: string | null
  /** Where the command may stand: more than one when a `cd` need not have worked. */
  readonly from: readonly Location[]
  /** False when it only names something that may be a path. */
  readonly isCertain: boolean
  readonly isTree: boolean
  /** A `*` in the path stands for any characters. */
  readonly isGlob: boolean
  /** A `*` in front of a name matches a dot. */
  readonly withHidden: boolean
  /** Opened by the shell itself, whatever the program. */
  readonly isRedirection: boolean
  readonly part: string
  /** Texts of which a name may be put together; there is no path then. */
  readonly pieces?: readonly string[]
  /** Why it may be meant, where more can be said than what it is. */
  readonly why?: string
}

/** Why a rule about files may mean it. */
export function whyTouched({ isTree, path, why }: Touch): string {
  if (why !== undefined) return why
  if (path === null) return 'which files it uses is only known when it runs'
  return isTree ? `it may use what lies below \`${path}\`` : `it may use \`${path}\``
}

/** A single file that a program is told of by its name. */
export const PLAIN: { readonly [name in 'isTree' | 'isGlob' | 'withHidden' | 'isRedirection']: false } = {
  isTree: false,
  isGlob: false,
  withHidden: false,
  isRedirection: false,
}

const SOURCE =
  '[cm]?tsx?|[cm]js|jsx|py|rs|java|kt|rb|php|[ch]|[ch]pp|cs|swift|md|txt|ya?ml|toml|css|scss|go|json|lock|html?|vue|svelte|' +
  'sql|sh|proto|graphql|scala|lua|exs?|dart|less|sass|mdx|xml|svg'
/** Folders are called like the projects that they hold, too. */
const SCRIPT = '(?<!(?:^|/)(?:next|nuxt|node|vue|three|react|express|discord))\\.js'
const WITHOUT_ENDING = '(?:^|/)(?:Makefile|Dockerfile|Gemfile|LICENSE|README|CHANGELOG|\\.gitignore|\\.gitattributes)'
/** Hardly anybody names a folder like this. */
export const IS_FILE: RegExp = new RegExp(`(?:(?<=[^/*])(?:\\.(?:${SOURCE})|${SCRIPT})|${WITHOUT_ENDING})$`)
/** All sources of one kind: `src/*.ts`. */
export const ALL_SOURCES: RegExp = new RegExp(`(?:^|/)\\*\\.(?:${SOURCE}|js)$`)
