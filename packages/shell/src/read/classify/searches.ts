import { withItem } from '../lists.ts'
import { hasOption, optionTable, parseOptions } from '../options.ts'
import type { GivenOption, OptionTable } from '../options.ts'
import type { Word } from '../reading.ts'
import { fixed, scopePath } from './invocation.ts'
import type { Invocation } from './invocation.ts'
import type { FileOperation } from './operations.ts'

const GREP = optionTable(
  '-E -F -G -P -i -y -v -w -x -c -l -L -q -s -o -n -b -H -h -Z -z -a -I -r -R -U -T -u -e: -m: -A: -B: -C: -d: -D: ' +
    '--extended-regexp --fixed-strings --basic-regexp --perl-regexp --regexp: --ignore-case --no-ignore-case --word-regexp ' +
    '--line-regexp --null-data --no-messages --invert-match --max-count: --byte-offset --line-number --line-buffered ' +
    '--with-filename --no-filename --label: --only-matching --quiet --silent --binary-files: --text --directories: --devices: ' +
    '--recursive --dereference-recursive --include: --exclude: --exclude-from: --exclude-dir: --files-without-match ' +
    '--files-with-matches --count --initial-tab --null --before-context: --after-context: --context: --group-separator: ' +
    '--no-group-separator --color? --colour? --binary',
  { digits: true },
)

// The table leaves out --pre and --hostname-bin, which run programs, -f, which reads patterns from a file, and
// --type-list and --generate, which search nothing.
const RG = optionTable(
  '-i -s -S -c -l -H -I -F -L -. -n -N -U -o -P -p -a -w -x -z -b -v -0 -q -u -A: -B: -C: -E: -e: -g: -d: -m: -M: -j: -r: -t: -T: ' +
    '--ignore-case --case-sensitive --smart-case --after-context: --before-context: --context: --column --no-column --count ' +
    '--count-matches --include-zero --encoding: --no-encoding --engine: --files-with-matches --files-without-match ' +
    '--with-filename --no-filename --one-file-system --fixed-strings --no-fixed-strings --follow --no-follow --glob: --iglob: ' +
    '--glob-case-insensitive --heading --no-heading --hidden --no-hidden --auto-hybrid-regex --no-ignore --ignore ' +
    '--ignore-file-case-insensitive --no-ignore-exclude --no-ignore-global --no-ignore-parent --no-ignore-vcs --no-require-git ' +
    '--no-ignore-dot --no-ignore-files --json --no-json --line-number --no-line-number --crlf --null-data ' +
    '--max-columns-preview --max-depth: --maxdepth: --no-messages --messages --no-ignore-messages --mmap --no-mmap --multiline ' +
    '--multiline-dotall --only-matching --passthru --passthrough --pcre2 --pcre2-unicode --pretty --vimgrep --regexp: --replace: ' +
    '--sort: --sortr: --sort-files --stats --text --binary --no-binary --threads: --trim --no-trim --type: --type-add: ' +
    '--type-clear: --type-not: --word-regexp --line-regexp --no-unicode --search-zip --byte-offset --color: --colors: ' +
    '--context-separator: --no-context-separator --debug --trace --field-context-separator: --field-match-separator: ' +
    '--dfa-size-limit: --files --ignore-file: --invert-match --max-columns: --max-count: --max-filesize: --no-config --null ' +
    '--path-separator: --quiet --regex-size-limit: --unrestricted --line-buffered --block-buffered --stop-on-nonmatch',
)

const AG = optionTable(
  '-i -s -S -l -L -c -o -v -w -Q -F -a -t -u -U -z -r -R -n -f -0 -A? -B? -C? -G: -m: -p: -W: --ignore-case --case-sensitive ' +
    '--smart-case --files-with-matches --files-without-matches --count --only-matching --invert-match --word-regexp --literal ' +
    '--fixed-strings --hidden --all-types --all-text --unrestricted --skip-vcs-ignores --nocolor --color --noheading --heading ' +
    '--nogroup --group --numbers --nonumbers --nobreak --break --filename --nofilename --column --stats --vimgrep --follow ' +
    '--norecurse --recurse --ignore: --ignore-dir: --file-search-regex: --depth: --max-count: --after? --before? --context? ' +
    '--js --ts --python --ruby --go --java --cpp --cc --html --css --json --yaml --markdown --rust --php --shell',
)

const ACK = optionTable(
  '-i -I -S -l -L -c -o -v -w -Q -h -H -n -r -R -s -k -1 -x -A: -B: -C: -m: -t: --ignore-case --smart-case --files-with-matches ' +
    '--files-without-matches --count --output: --invert-match --word-regexp --literal --no-filename --with-filename --nocolor ' +
    '--color --noheading --heading --nogroup --group --nobreak --break --column --follow --sort-files --after-context: ' +
    '--before-context: --context: --max-count: --ignore-dir: --ignore-file: --type: --known-types ' +
    '--js --ts --python --ruby --go --java --cpp --cc --html --css --json --yaml --markdown --rust --php --shell --perl',
)

const GIT_GREP = optionTable(
  '-a -i -w -v -h -H -E -G -P -F -n -l -L -z -o -c -p -W -q -r -I -A: -B: -C: -e: -m: --text --ignore-case --word-regexp ' +
    '--invert-match --extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column --files-with-matches ' +
    '--name-only --files-without-match --null --only-matching --count --color? --no-color --break --heading --show-function ' +
    '--function-context --after-context: --before-context: --context: --threads: --quiet --cached --untracked --no-index ' +
    '--exclude-standard --no-exclude-standard --recurse-submodules --recursive --no-recursive --max-depth: --full-name ' +
    '--max-count: --and --or --not --all-match',
  { digits: true },
)

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
