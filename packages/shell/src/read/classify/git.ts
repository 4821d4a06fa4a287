import { resolveIn } from '../directory.ts'
import { tableOf } from '../../programs/harmless-options.ts'
import { optionTable, parseOptions } from '../../programs/options.ts'
import { fixed } from './invocation.ts'
import type { Invocation } from './invocation.ts'
import type { FileOperation } from './operations.ts'
import { gitGrep, listOperations, searchOperations } from './searches.ts'

// The table leaves out -c, --git-dir, --work-tree and --exec-path, which change what git does or looks at.
const GLOBAL = optionTable('-C: -P --no-pager --no-optional-locks --literal-pathspecs')

const LS_FILES = tableOf('git ls-files')

/** `git grep` and `git ls-files`; every other subcommand stays a command. */
export function gitOperations(invocation: Invocation): FileOperation[] | null {
  const parsed = parseOptions(invocation.args, GLOBAL, true)
  if (!parsed.ok) return null
  const [directory, another] = parsed.given.filter((option) => option.name === '-C')
  // Each -C would start from the previous one. Nobody writes that.
  if (another !== undefined) return null
  const moved = directory?.value ?? null
  const [subcommand, ...args] = parsed.operands
  const inner: Invocation =
    moved === null
      ? { ...invocation, args }
      : { ...invocation, args, cwd: resolveIn(invocation.cwd, moved), moved: true }
  switch (fixed(subcommand)) {
    case 'grep':
      return gitGrep(inner)
    case 'ls-files':
      return lsFiles(inner)
    default:
      return null
  }
}

/** Paths are listed. A pattern that git itself matches is a search for names. */
function lsFiles(invocation: Invocation): FileOperation[] | null {
  const parsed = parseOptions(invocation.args, LS_FILES)
  if (!parsed.ok) return null
  const patterns = parsed.operands.filter((word) => !word.dynamic && /[*?[]/.test(word.text))
  if (patterns.length === 0) return listOperations(parsed.operands, invocation)
  if (patterns.length !== parsed.operands.length) return null
  return searchOperations(patterns.map((word) => word.text).join('|'), [], invocation)
}
