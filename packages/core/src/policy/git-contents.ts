import type { SimpleCommand, Word } from '@evener/shell/read'
import { isOption, isReadable } from './argument.ts'
import { gitOrder } from './git-order.ts'
import { endsInStar, patternPaths, readPathspec } from './git-pathspec.ts'
import { spread, type Spread } from './glob-word.ts'
import type { Location, Whereabouts } from './location.ts'
import { IS_FILE, PLAIN, type Touch } from './touch.ts'

/** With these options git shows what stands in the files of a commit. */
const PATCH = /^(?:-[abgimqrstvwz0-9]*[pucU]|--(?:patch|unified|binary|cc|combined|remerge|dd|diff-merges))/
/** The same, for what asks about every change. */
const PICKS = /^(?:-[a-zA-Z]*p|--patch)/
/** It says which files there are, and no more. */
const SUMMARY =
  /^(?:-s|--(?:no-patch|quiet|stat|shortstat|numstat|dirstat|cumulative|name-only|name-status|raw|summary|compact-summary))(?:=|$)/

interface Shows {
  /** Without one of these it shows no contents; without this field it always does. */
  readonly with?: RegExp
  /** With one of these, and none of `PATCH`, it shows none. */
  readonly unless?: RegExp
}

/** What prints, packs or copies the contents of files that git keeps, whether they are named or not. */
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

/** No path keeps them to some of the files. */
const TAKES_NO_PATHS = /^(?:bundle|worktree|cat-file|unpack-file|range-diff)$/
/** They take no value, so what stands behind them may be a path. */
const FLAG =
  /^(?:-[abcgimpqrstuvwz0-9]+|-U\d+|--(?:patch|cached|staged|follow|all|oneline|reverse|stat|merges|minimal|word-diff|color(?:-words)?|(?:no|ignore)-(?!matching)[a-z-]+))$/
const SEARCH_FLAG = /^(?:-[acEFGhHiIlLnopPqrvwWz]+|--(?:cached|no-[a-z-]+))$/
const IS_FOLDER = /^\.\.?(?:\/|$)|^[^:]*\/$/
const BLOB = /^(?!.*\{\/)[^:]*:(?!\/)(?:\d:)?./

/**
 * Files that git shows, packs or copies without being told their names: everything that it keeps, or what of it lies below
 * the paths it is given. Which files those are only the repository knows.
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
    // Where the shell finds nothing, git gets the pattern as it stands.
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

/** The paths that it is kept to; none when all words might as well be commits. */
function pathsIn(subcommand: string, words: readonly Word[]): Spread[] {
  if (TAKES_NO_PATHS.test(subcommand)) return []
  const dashes = words.findIndex(({ text }) => text === '--')
  if (dashes !== -1) return told(words.slice(dashes + 1))
  const flag = subcommand === 'grep' ? SEARCH_FLAG : FLAG
  const operands = words.filter(({ text }, at) => {
    const before = words[at - 1]?.text ?? ''
    return !isOption(text) && (!isOption(before) || flag.test(before))
  })
  // The first word of a search is what it looks for.
  const isSearch =
    subcommand === 'grep' && !words.some(({ text }) => /^(?:-[a-zA-Z]*[ef]|--(?:regexp|file))/.test(text))
  const found = told(isSearch ? operands.slice(1) : operands)
  // In front of the first that is clearly a path stand commits; all that is behind it git takes for paths.
  const first = found.findIndex(({ word: { text } }) => IS_FOLDER.test(text) || (isFile(text) && !text.includes(':')))
  return first === -1 ? [] : found.slice(first)
}

/** Without what it leaves out; a word that is only known when it runs leaves nothing to be kept to. */
function told(words: readonly Word[]): Spread[] {
  const found = words.flatMap(spread)
  if (!found.every(({ word }) => isReadable(word))) return []
  return found.filter(({ word: { text } }) => !readPathspec(text).isExcluded)
}

/** `HEAD:src/a.ts`: it shows this very file, which is seen elsewhere. */
function namesBlobs(subcommand: string, words: readonly Word[]): boolean {
  if (subcommand !== 'show' && subcommand !== 'cat-file') return false
  const operands = words.filter(({ text }) => !isOption(text) && text !== 'blob')
  return operands.length > 0 && operands.every((word) => isReadable(word) && BLOB.test(word.text))
}

/** Another repository on this machine. */
function copiedFrom(words: readonly Word[]): string[] {
  return words
    .filter(isReadable)
    .map(({ text }) => text)
    .filter((text) => /^(?:[./~]|file:)/.test(text))
}
