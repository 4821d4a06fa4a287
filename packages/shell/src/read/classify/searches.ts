import { withItem } from '../lists.ts'
import { tableOf } from '../../programs/harmless-options.ts'
import { hasOption, parseOptions } from '../../programs/options.ts'
import type { GivenOption, OptionTable } from '../../programs/options.ts'
import type { Word } from '../reading.ts'
import { fixed, scopePath } from './invocation.ts'
import type { Invocation } from './invocation.ts'
import type { FileOperation } from './operations.ts'

const GREP = tableOf('grep')

const RG = tableOf('rg')

const AG = tableOf('ag')

const ACK = tableOf('ack')

const GIT_GREP = tableOf('git grep')

const GLOB_OPTIONS = ['-g', '--glob', '--iglob'] as const

interface Query {
  readonly query: string
  readonly scopes: readonly Word[]
  readonly given: readonly GivenOption[]
}

/** Returns the pattern and the operands after it. Several patterns are joined as alternatives. */
function readQuery(args: readonly Word[], table: OptionTable): Query | null {
  const parsed = parseOptions(args, table)
  return parsed.ok ? queryOf(parsed.given, parsed.operands) : null
}

function queryOf(given: readonly GivenOption[], operands: readonly Word[]): Query | null {
  let query: string | null = null
  for (let at = 0; at < given.length; at += 1) {
    const option = given[at]
    if (option === undefined || (option.name !== '-e' && option.name !== '--regexp')) continue
    const text = fixed(option.value)
    if (text === null) return null
    query = query === null ? text : `${query}|${text}`
  }
  const isFirst = query === null
  query ??= fixed(operands[0])
  return query === null || query === '' ? null : { query, scopes: isFirst ? operands.slice(1) : operands, given }
}

function isOneOf(name: string, names: readonly string[]): boolean {
  return names.includes(name)
}

export function searchOperations(
  query: string,
  scopes: readonly Word[],
  invocation: Invocation,
): FileOperation[] | null {
  if (scopes.length === 0) return here(invocation, { kind: 'search', query })
  let operations: FileOperation[] | undefined
  for (let at = 0; at < scopes.length; at += 1) {
    const path = scopePath(scopes[at], invocation)
    if (path === null) return null
    operations = withItem(operations, { kind: 'search', query, path })
  }
  return operations ?? null
}

export function listOperations(scopes: readonly Word[], invocation: Invocation): FileOperation[] | null {
  if (scopes.length === 0) return here(invocation, { kind: 'list' })
  let operations: FileOperation[] | undefined
  for (let at = 0; at < scopes.length; at += 1) {
    const path = scopePath(scopes[at], invocation)
    if (path === null) return null
    operations = withItem(operations, { kind: 'list', path })
  }
  return operations ?? null
}

/** Adds the working directory as the path only if a `cd` in the command chose it. */
function here({ cwd, moved }: Invocation, operation: FileOperation): FileOperation[] | null {
  if (cwd === null) return null
  return [moved ? { ...operation, path: cwd } : operation]
}

/** `grep` without a file reads its input: a redirected file, or something we do not know. */
function grep(invocation: Invocation): FileOperation[] | null {
  const found = readQuery(invocation.args, GREP)
  if (found === null) return null
  if (found.scopes.length > 0) return searchOperations(found.query, found.scopes, invocation)
  if (invocation.stdin !== null) return searchOperations(found.query, [invocation.stdin], invocation)
  const recursive = found.given.some(
    ({ name, value }) =>
      isOneOf(name, ['-r', '-R', '--recursive', '--dereference-recursive']) ||
      (isOneOf(name, ['-d', '--directories']) && value?.text === 'recurse'),
  )
  return recursive ? searchOperations(found.query, [], invocation) : null
}

function treeSearch(table: OptionTable): (invocation: Invocation) => FileOperation[] | null {
  return (invocation) => searchTree(readQuery(invocation.args, table), invocation)
}

function searchTree(found: Query | null, invocation: Invocation): FileOperation[] | null {
  if (found === null) return null
  const scopes = found.scopes.length === 0 && invocation.stdin !== null ? [invocation.stdin] : found.scopes
  return searchOperations(found.query, scopes, invocation)
}

/** `rg --files` lists files; with a glob it searches for names. */
function ripgrep(invocation: Invocation): FileOperation[] | null {
  const parsed = parseOptions(invocation.args, RG)
  if (!parsed.ok) return null
  if (!hasOption(parsed.given, '--files')) return searchTree(queryOf(parsed.given, parsed.operands), invocation)
  const globs = parsed.given.filter((option) => isOneOf(option.name, GLOB_OPTIONS)).map((option) => fixed(option.value))
  if (globs.includes(null)) return null
  // `-g '!dist'` only excludes.
  const wanted = globs.filter((glob) => glob?.startsWith('!') === false)
  return wanted.length === 0
    ? listOperations(parsed.operands, invocation)
    : searchOperations(wanted.join('|'), parsed.operands, invocation)
}

const REVISION = /^(?:HEAD|FETCH_HEAD|ORIG_HEAD)\b|[~^@:]|^[0-9a-f]{7,40}$/

export function gitGrep(invocation: Invocation): FileOperation[] | null {
  const found = readQuery(invocation.args, GIT_GREP)
  if (found === null) return null
  // Operands may name a commit. Then the searched files are not those on disk.
  if (found.scopes.some((scope) => REVISION.test(scope.text)) || namesCommit(invocation.args)) return null
  return searchOperations(found.query, found.scopes, invocation)
}

/** True if there is an operand between the pattern and `--`: it is a commit. */
function namesCommit(args: readonly Word[]): boolean {
  const end = args.findIndex((word) => word.text === '--' && !word.dynamic)
  const before = end === -1 ? null : readQuery(args.slice(0, end), GIT_GREP)
  return before !== null && before.scopes.length > 0
}

const SEARCHERS: ReadonlyMap<string, (invocation: Invocation) => FileOperation[] | null> = new Map([
  ['grep', grep],
  ['egrep', grep],
  ['fgrep', grep],
  ['ggrep', grep],
  ['rg', ripgrep],
  ['ag', treeSearch(AG)],
  ['ack', treeSearch(ACK)],
])

export const searcherNames: readonly string[] = [...SEARCHERS.keys()]

/** True for programs that exit with 1 when nothing matched. */
export function isSearcher(program: string): boolean {
  return program === 'git' || SEARCHERS.has(program)
}

export function searchFiles(invocation: Invocation): FileOperation[] | null {
  return SEARCHERS.get(invocation.program.name)?.(invocation) ?? null
}

/** True for a search in a pipe that only filters its input lines. */
export function isSearchFilter(program: string, args: readonly Word[]): boolean {
  const table = program === 'rg' ? RG : program === 'grep' || program === 'egrep' || program === 'fgrep' ? GREP : null
  const found = table === null ? null : readQuery(args, table)
  return found !== null && found.scopes.every((scope) => scope.text === '-') && !hasOption(found.given, '--files')
}
