import type { SimpleCommand, Word } from '../../read/index.ts'
import { isOption, isReadable } from '../deny/argument.ts'
import { gitOrder } from './git-order.ts'
import { endsInStar, patternPaths, readPathspec } from './git-pathspec.ts'
import { spread, type Spread } from './glob-word.ts'
import type { Location, Whereabouts } from '../patterns/location.ts'
import { IS_FILE, PLAIN, type Touch } from './touch.ts'

/** Options with which git shows the contents of files in a commit. */
const PATCH = /^(?:-[abgimqrstvwz0-9]*[pucU]|--(?:patch|unified|binary|cc|combined|remerge|dd|diff-merges))/
/** The same, for subcommands that ask about every change. */
const PICKS = /^(?:-[a-zA-Z]*p|--patch)/
/** Options with which git only lists files. */
const SUMMARY =
  /^(?:-s|--(?:no-patch|quiet|stat|shortstat|numstat|dirstat|cumulative|name-only|name-status|raw|summary|compact-summary))(?:=|$)/

interface Shows {
  /** The subcommand shows contents only with one of these; when absent, always. */
  readonly with?: RegExp
  /** With one of these, and none of `PATCH`, it shows no contents. */
  readonly unless?: RegExp
}

/** Subcommands that print, pack or copy the contents of files that git keeps, whether they are named or not. */
const SHOWS: ReadonlyMap<string, Shows> = new Map<string, Shows>([
  ...['diff', 'show', 'difftool'].map((name) => [name, { unless: SUMMARY }] as const),
  ...['log', 'whatchanged', 'reflog', 'rev-list', 'diff-tree', 'diff-files', 'diff-index', 'request-pull'].map(
    (name) => [name, { with: PATCH }] as const,
  ),
  ...['add', 'stage', 'checkout', 'reset', 'restore', 'stash'].map((name) => [name, { with: PICKS }] as const),
  ...['grep', 'archive', 'fast-export', 'format-patch', 'range-diff', 'unpack-file'].map((name) => [name, {}] as const),
  ...['am', 'rebase'].map((name) => [name, { with: /^--show-current/ }] as const),
  ['status', { with: /^(?:-[a-z]*v|--verbose)/ }],
  ['commit', { with: /^--dry-run$/ }],
  ['bundle', { with: /^create$/ }],
  ['worktree', { with: /^add$/ }],
  ['checkout-index', { with: /^(?:-[a-z]*a|--all|--stdin)/ }],
  ['cat-file', { unless: /^(?:-[tse]|--batch-check.*)$/ }],
])

/** Subcommands that cannot be limited to paths. */
const TAKES_NO_PATHS = /^(?:bundle|worktree|cat-file|unpack-file|range-diff)$/
/** Options without a value, so the next word may be a path. */
const FLAG =
  /^(?:-[abcgimpqrstuvwz0-9]+|-U\d+|--(?:patch|cached|staged|follow|all|oneline|reverse|stat|merges|minimal|word-diff|color(?:-words)?|(?:no|ignore)-(?!matching)[a-z-]+))$/
const SEARCH_FLAG = /^(?:-[acEFGhHiIlLnopPqrvwWz]+|--(?:cached|no-[a-z-]+))$/
const IS_FOLDER = /^\.\.?(?:\/|$)|^[^:]*\/$/
const BLOB = /^(?!.*\{\/)[^:]*:(?!\/)(?:\d:)?./

/**
 * Returns the files that git shows, packs or copies without being given their names: everything it keeps, or what of it
 * is below the given paths. Only the repository knows which files those are.
 */
export function shownByGit(
  base: string,
  { appended, args, source }: SimpleCommand,
  from: readonly Location[],
  where: Whereabouts,
): Touch[] {
  const order = gitOrder(base, args)
  if (order === null) return []
  const { subcommand, words } = order
  const why = `it may show any file that git keeps, unless a rule allows \`git ${subcommand} *\``
  const shown = { ...PLAIN, access: 'read', isCertain: false, isTree: true, part: source, why } as const
  if (subcommand === 'clone') return copiedFrom(words).map((path): Touch => ({ ...shown, path, from }))
  if (!showsContents(subcommand, words)) return []
  const paths = appended ? [] : pathsIn(subcommand, words)
  if (paths.length === 0) {
    return namesBlobs(subcommand, words) && !appended ? [] : [{ ...shown, path: '.', from: [where.root, ...from] }]
  }
  return paths.flatMap(({ isGlob, word: { text } }): Touch[] => {
    const spec = readPathspec(text)
    const common = { ...shown, from: spec.isFromTop ? [where.root, ...from] : from }
    const isFolder = !isFile(spec.path)
    // Where the shell finds no match, git gets the pattern as written.
    const patterns = spec.isPattern ? patternPaths(spec) : []
    return [
      ...(isFolder ? [{ ...common, path: spec.path === '' ? '.' : spec.path, isGlob }] : []),
      ...patterns.map((path): Touch => {
        return { ...common, path, isGlob: true, isTree: false, withHidden: isFolder && endsInStar(path) }
      }),
    ]
  })
}

function isFile(path: string): boolean {
  return IS_FILE.test(path.replaceAll('*', 'x'))
}

function showsContents(subcommand: string, words: readonly Word[]): boolean {
  const shows = SHOWS.get(subcommand)
  if (shows === undefined) return false
  const has = (option: RegExp): boolean => words.some(({ text }) => option.test(text))
  if (shows.with !== undefined) return has(shows.with)
  return shows.unless === undefined || !has(shows.unless) || has(PATCH)
}

/** Returns the paths that limit the subcommand; none when all words might be commits. */
function pathsIn(subcommand: string, words: readonly Word[]): Spread[] {
  if (TAKES_NO_PATHS.test(subcommand)) return []
  const dashes = words.findIndex(({ text }) => text === '--')
  if (dashes !== -1) return namedFiles(words.slice(dashes + 1))
  const flag = subcommand === 'grep' ? SEARCH_FLAG : FLAG
  const operands = words.filter(({ text }, at) => {
    const before = words[at - 1]?.text ?? ''
    return !isOption(text) && (!isOption(before) || flag.test(before))
  })
  // The first operand of a search is the pattern.
  const isSearch =
    subcommand === 'grep' && !words.some(({ text }) => /^(?:-[a-zA-Z]*[ef]|--(?:regexp|file))/.test(text))
  const found = namedFiles(isSearch ? operands.slice(1) : operands)
  // Words before the first clear path are commits; git takes all words after it for paths.
  const first = found.findIndex(({ word: { text } }) => IS_FOLDER.test(text) || (isFile(text) && !text.includes(':')))
  return first === -1 ? [] : found.slice(first)
}

/** Drops excluded paths. A word that is only known when the command runs limits nothing. */
function namedFiles(words: readonly Word[]): Spread[] {
  const found = words.flatMap(spread)
  if (!found.every(({ word }) => isReadable(word))) return []
  return found.filter(({ word: { text } }) => !readPathspec(text).isExcluded)
}

/** `HEAD:src/a.ts` shows this very file, which `gitFiles` reports. */
function namesBlobs(subcommand: string, words: readonly Word[]): boolean {
  if (subcommand !== 'show' && subcommand !== 'cat-file') return false
  const operands = words.filter(({ text }) => !isOption(text) && text !== 'blob')
  return operands.length > 0 && operands.every((word) => isReadable(word) && BLOB.test(word.text))
}

/** Returns the repositories on this machine that are cloned. */
function copiedFrom(words: readonly Word[]): string[] {
  return words
    .filter(isReadable)
    .map(({ text }) => text)
    .filter((text) => /^(?:[./~]|file:)/.test(text))
}
