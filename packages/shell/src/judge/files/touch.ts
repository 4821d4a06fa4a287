import type { Location } from '../patterns/location.ts'

/** A file or folder that a command touches, or at least names. */
export interface Touch {
  readonly access: 'read' | 'edit' | 'either'
  /** The path as written; null when it is only known at run time. */
  readonly path: string | null
  /** The folders in which the command may run; more than one when a `cd` may have failed. */
  readonly from: readonly Location[]
  /** False when the command only names something that may be a path. */
  readonly isCertain: boolean
  readonly isTree: boolean
  /** A `*` in the path matches any characters. */
  readonly isGlob: boolean
  /** A `*` at the beginning of a name matches a dot. */
  readonly withHidden: boolean
  /** Opened by the shell itself, whatever the program. */
  readonly isRedirection: boolean
  readonly part: string
  /** Why the file may be meant, where the path alone does not say it. */
  readonly why?: string
}

/** Returns why a rule about files may apply to the touch. */
export function whyTouched({ isTree, path, why }: Touch): string {
  if (why !== undefined) return why
  if (path === null) return 'which files it uses is only known when it runs'
  return isTree ? `it may use what lies below \`${path}\`` : `it may use \`${path}\``
}

/** The flags of a single file that is given to a program by its name. */
export const PLAIN: { readonly [name in 'isTree' | 'isGlob' | 'withHidden' | 'isRedirection']: false } = {
  isTree: false,
  isGlob: false,
  withHidden: false,
  isRedirection: false,
}

const SOURCE =
  '[cm]?tsx?|[cm]js|jsx|py|rs|java|kt|rb|php|[ch]|[ch]pp|cs|swift|md|txt|ya?ml|toml|css|scss|go|json|lock|html?|vue|svelte|' +
  'sql|sh|proto|graphql|scala|lua|exs?|dart|less|sass|mdx|xml|svg'
/** Folders are named after their projects, too, such as `next.js`. */
const SCRIPT = '(?<!(?:^|/)(?:next|nuxt|node|vue|three|react|express|discord))\\.js'
const WITHOUT_ENDING = '(?:^|/)(?:Makefile|Dockerfile|Gemfile|LICENSE|README|CHANGELOG|\\.gitignore|\\.gitattributes)'
/** Names that hardly any folder has. */
export const IS_FILE: RegExp = new RegExp(`(?:(?<=[^/*])(?:\\.(?:${SOURCE})|${SCRIPT})|${WITHOUT_ENDING})$`)
/** All sources of one kind: `src/*.ts`. */
export const ALL_SOURCES: RegExp = new RegExp(`(?:^|/)\\*\\.(?:${SOURCE}|js)$`)
