import type { SimpleCommand, Word } from '@evener/shell/read'
import { isOption, isReadable } from './argument.ts'
import { gitOrder } from './git-order.ts'
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

/** They take no value, so what stands behind them may be a path. */
const FLAG =
  /^(?:-[abcgimpqrstuvwz0-9]+|-U\d+|--(?:patch|cached|staged|follow|all|oneline|reverse|stat|merges|no-[a-z-]+))$/
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
  const why = `it may show any file that git keeps, unless a rule names \`git ${subcommand}\``
  const common = { ...PLAIN, access: 'read', isCertain: false, isTree: true, part: source, why } as const
  if (subcommand === 'clone') return copiedFrom(words).map((path): Touch => ({ ...common, path, from }))
  if (!showsContents(subcommand, words)) return []
  const paths = appended ? [] : pathsIn(subcommand, words)
  if (paths.length === 0) {
    return namesBlobs(subcommand, words) && !appended ? [] : [{ ...common, path: '.', from: [where.root, ...from] }]
  }
  return paths.filter(mayBeFolder).map((path): Touch => ({ ...common, path, from }))
}

/** What a pattern stands for is worked out elsewhere. */
function mayBeFolder(path: string): boolean {
  return !IS_FILE.test(path) && !/[*?[]|\{.*\.\w+$/s.test(path)
}

function showsContents(subcommand: string, words: readonly Word[]): boolean {
  const shows = SHOWS.get(subcommand)
  if (shows === undefined) return false
  const has = (option: RegExp): boolean => words.some(({ text }) => option.test(text))
  if (shows.with !== undefined) return has(shows.with)
  return shows.unless === undefined || !has(shows.unless) || has(PATCH)
}

/** The paths that it is kept to; none when a word might as well be a commit. */
function pathsIn(subcommand: string, words: readonly Word[]): string[] {
  const dashes = words.findIndex(({ text }) => text === '--')
  if (dashes !== -1) return told(words.slice(dashes + 1))
  const operands = words.filter(({ text }, at) => {
    const before = words[at - 1]?.text ?? ''
    return !isOption(text) && (!isOption(before) || FLAG.test(before))
  })
  // The first word of a search is what it looks for.
  const isSearch =
    subcommand === 'grep' && !words.some(({ text }) => /^(?:-[a-zA-Z]*[ef]|--(?:regexp|file))/.test(text))
  return told(isSearch ? operands.slice(1) : operands).filter((text) => IS_FILE.test(text) && !text.includes(':'))
}

/** Without what it leaves out; a pattern that is not readable leaves nothing to be kept to. */
function told(words: readonly Word[]): string[] {
  return words.every(isSpelledOut)
    ? words.map(({ text }) => text).filter((text) => !/^:(?:[!^]|\([^)]*exclude)/.test(text))
    : []
}

/** Its text is what git gets, or a pattern that the shell makes paths of. */
function isSpelledOut(word: Word): boolean {
  return isReadable(word) || word.expansions.every((expansion) => expansion === 'glob' || expansion === 'brace')
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
