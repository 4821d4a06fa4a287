import type { SimpleCommand, Word } from '../../read/index.ts'
import { isOption, isReadable } from '../deny/argument.ts'
import { gitOrder } from './git-order.ts'
import { spread } from './glob-word.ts'
import { endsInStar, isSources, patternPaths, readPathspec, type Pathspec } from './git-pathspec.ts'
import type { Location, Whereabouts } from '../patterns/location.ts'
import { IS_FILE, PLAIN, type Touch } from './touch.ts'

/** No project is this deep below the top of its repository, and no rule is this long. */
const MOST_FOLDERS = 100

/** Subcommands that change the files they are given, and everything below the given folders. */
const CHANGES = /^(?:checkout|restore|rm|mv|clean|stash)$/
/** Subcommands that take patterns for files. `ls-files` does, too, but only lists names. */
const TAKES_PATHS =
  /^(?:checkout|checkout-index|restore|rm|mv|clean|stash|diff|diff-files|diff-index|diff-tree|difftool|show|log|whatchanged|shortlog|rev-list|grep|blame|annotate|archive|add|stage|commit|reset|update-index|apply|format-patch|range-diff|status|worktree)$/
const TAKES_UNTRACKED = /^(?:-[a-z]*[ua]|--(?:include-untracked|all))$/
const ONLY_SAYS = /^(?:-[a-zA-Z]*n|--dry-run)$/
const STAGED = /^(?:-[a-zA-Z]*S|--staged|--cached)/
const WORKTREE = /^(?:-[a-zA-Z]*W|--worktree)/

/**
 * Returns the files that are named in git's own ways: patterns in which a star matches dots and slashes, `REV:path`
 * from the top of the repository, and folders that git changes as a whole.
 */
export function gitFiles(
  base: string,
  { args, source }: SimpleCommand,
  from: readonly Location[],
  where: Whereabouts,
): Touch[] {
  const order = gitOrder(base, args)
  if (order === null) return []
  const { subcommand, words } = order
  const isChange = CHANGES.test(subcommand) && changesHere(subcommand, words)
  const touches: Touch[] = []
  const common = { ...PLAIN, access: 'either', from, isCertain: false, part: source } as const
  for (const word of words) {
    if (word.text.startsWith('--pathspec-from')) touches.push({ ...common, path: null, isCertain: true })
    if (!isReadable(word) || /\s/.test(word.text)) continue
    for (const path of seenFromTop(word.text)) touches.push({ ...common, from: [where.root], path })
    if (isOption(word.text) || !TAKES_PATHS.test(subcommand)) continue
    const spec = readPathspec(word.text)
    if (spec.isExcluded) continue
    const places = spec.isFromTop ? [where.root, ...from] : from
    for (const path of spellings(spec, word.text, isChange)) {
      const withHidden = isChange || endsInStar(path)
      touches.push({ ...common, from: places, path, isGlob: path.includes('*'), withHidden })
    }
  }
  for (const path of searchedFolders(subcommand, words)) {
    touches.push({ ...common, access: 'read', path, isTree: true, isCertain: true })
  }
  if (!isChange) return touches
  const trees = changedFolders(subcommand, words)
  const found = foldersFound(words)
  return [
    ...touches,
    ...trees.map((path): Touch => ({ ...common, access: 'edit', from: [where.root, ...from], path, isTree: true })),
    ...found.map((path): Touch => ({ ...common, access: 'edit', path, isTree: true, isGlob: true, withHidden: true })),
  ]
}

/**
 * Returns the folders that patterns may match, in the shell or, where the shell finds nothing, in git. Hardly any
 * folder has a dot in its name.
 */
function foldersFound(words: readonly Word[]): string[] {
  return words
    .flatMap(spread)
    .filter(({ isGlob, word: { text } }) => isGlob && !/\.[^/]*$/.test(text))
    .flatMap(({ word: { text } }) => patternPaths(readPathspec(text)))
}

/** Returns every ending of the path that may lead from the project, which need not be the top of the repository. */
function seenFromTop(text: string): string[] {
  const at = text.indexOf(':')
  if (at === -1) return []
  const whole = text.slice(text.lastIndexOf(':') + 1)
  const segments = whole.split('/').slice(-MOST_FOLDERS)
  return [whole, ...segments.map((_, from) => segments.slice(from).join('/'))].filter((path) => path !== '')
}

function spellings(spec: Pathspec, text: string, isChange: boolean): string[] {
  // Showing all sources of one kind shows no more than showing without a pattern does.
  if (spec.isPattern) return !isChange && isSources(spec) ? [] : patternPaths(spec)
  return spec.path === text || spec.path === '' ? [] : [spec.path]
}

const NOT_TRACKED = /^--(?:no-index|untracked)$/

/** With these options git reads any file in the folder, not only the ones it keeps. */
function searchedFolders(subcommand: string, words: readonly Word[]): string[] {
  if (!/^(?:grep|diff)$/.test(subcommand) || !words.some(({ text }) => NOT_TRACKED.test(text))) return []
  const readable = words.filter((word) => !isOption(word.text) && isReadable(word)).map(({ text }) => text)
  return subcommand === 'diff' ? readable.filter((text) => !IS_FILE.test(text)) : ['.', ...readable.slice(1)]
}

const TAKES_VALUE = /^(?:-s|--source|-[a-zA-Z]*e|--exclude|-m|--message|-b|-B|--orphan)$/

function changesHere(subcommand: string, words: readonly Word[]): boolean {
  const dashes = words.findIndex(({ text }) => text === '--')
  // A word after `--`, or after an option that takes a value, is no option itself.
  const options = words.filter(
    (_, at) => (dashes === -1 || at < dashes) && !TAKES_VALUE.test(words[at - 1]?.text ?? ''),
  )
  const has = (option: RegExp): boolean => options.some(({ text }) => option.test(text))
  switch (subcommand) {
    case 'clean':
      return !has(ONLY_SAYS)
    case 'restore':
      return has(WORKTREE) || !has(STAGED)
    case 'rm':
      return !has(/^--cached$/)
    case 'stash':
      return !/^(?:list|show|drop|clear|create|store|branch)$/.test(words[0]?.text ?? '')
    default:
      return true
  }
}

const IS_PATH = /^(?:\.\.?(?:\/|$)|:)/

/** Returns the folders below which anything may change. */
function changedFolders(subcommand: string, words: readonly Word[]): string[] {
  const dashes = words.findIndex(({ text }) => text === '--')
  const operands = words.filter(
    ({ text }, at) => at > dashes && !isOption(text) && !TAKES_VALUE.test(words[at - 1]?.text ?? ''),
  )
  const readable = operands.filter(isReadable).map(({ text }) => text)
  const all = subcommand === 'clean' || (subcommand === 'stash' && words.some(({ text }) => TAKES_UNTRACKED.test(text)))
  if (subcommand === 'stash' && dashes === -1) return all ? ['.'] : []
  // Without `--`, a name is mostly a branch.
  const paths = subcommand === 'checkout' && dashes === -1 ? readable.filter((text) => IS_PATH.test(text)) : readable
  if (paths.length === 0) return all ? ['.'] : []
  const specs = paths.map(readPathspec)
  if (specs.every(({ isExcluded }) => isExcluded)) return ['.']
  return specs
    .filter(({ isExcluded, isPattern, path }) => !isExcluded && !isPattern && !IS_FILE.test(path))
    .map(({ path }) => (path === '' ? '.' : path))
}
