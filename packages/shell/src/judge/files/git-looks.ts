import type { Word } from '../../read/index.ts'
import { isOption, mayBecomeOption } from '../deny/argument.ts'
import { gitOrder } from './git-order.ts'
import { findUnlisted } from '../allow/listed.ts'

const LOOKS =
  /^(?:log|status|diff|show|shortlog|reflog|blame|annotate|grep|ls-files|ls-tree|ls-remote|rev-parse|rev-list|describe|cat-file|show-ref|for-each-ref|name-rev|merge-base|whatchanged|cherry|count-objects|var|version|check-ignore|check-attr|diff-tree|diff-index|diff-files|range-diff|verify-commit|verify-tag)$/

/** The words after the subcommand with which it only shows something. */
const LOOKS_WITH: ReadonlyMap<string, RegExp> = new Map([
  ['remote', /^(?:-v)?$|^(?:-v )?(?:show|get-url)\b/],
  ['stash', /^(?:list|show)\b/],
  ['config', /^(?:--get(?:-all|-regexp)?|--list|-l|get|list)(?: |$)/],
  ['worktree', /^list\b/],
  ['submodule', /^(?:status\b|$)/],
  ['notes', /^(?:(?:show|list)\b|$)/],
  ['bisect', /^(?:log|view)\b/],
])

const LISTS = /^(?:-l|--(?:list|contains|no-contains|merged|no-merged|points-at)(?:=.*)?)$/
const HOW_TO_LIST = /^(?:-[arv]+|-n\d*|--(?:all|remotes|verbose|show-current|sort|format|color|column)(?:=.*)?)$/

/** For branches and tags: a name creates a new one unless an option says that it is looked for. */
function onlyLists(args: readonly string[]): boolean {
  const options = args.filter(isOption)
  if (!options.every((text) => LISTS.test(text) || HOW_TO_LIST.test(text))) return false
  return options.length === args.length || options.some((text) => LISTS.test(text))
}

/** True for a git command that shows something and changes nothing. */
export function isGitLook(base: string, given: readonly Word[]): boolean {
  const order = gitOrder(base, given)
  if (order === null || given.some(mayBecomeOption)) return false
  const { subcommand, words } = order
  const rest = words.map(({ text }) => text)
  if (base === 'git' && findUnlisted(`git-${subcommand}`, rest, [...rest.keys()]) !== undefined) return false
  if (LOOKS.test(subcommand)) return !(subcommand === 'reflog' && /^(?:expire|delete)$/.test(rest[0] ?? ''))
  if (subcommand === 'branch' || subcommand === 'tag') return onlyLists(rest)
  return LOOKS_WITH.get(subcommand)?.test(rest.join(' ')) === true
}
