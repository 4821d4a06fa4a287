import { hasOption, optionTable, parseOptions } from '../../programs/options.ts'
import type { Word } from '../reading.ts'
import { fixed } from './invocation.ts'
import type { Invocation } from './invocation.ts'
import type { FileOperation } from './operations.ts'
import { listOperations, searchOperations } from './searches.ts'

type Predicate = { readonly role: 'name' | 'test' | 'neutral'; readonly takes: 0 | 1 }

function predicates(role: Predicate['role'], takes: 0 | 1, names: string): [string, Predicate][] {
  return names.split(' ').map((name) => [name, { role, takes }])
}

// Predicates that act on what is found (-delete, -exec, -ok, -fprint, -fls) are missing here, so the command is
// refused.
const PREDICATES: ReadonlyMap<string, Predicate> = new Map([
  ...predicates('name', 1, '-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname'),
  ...predicates(
    'test',
    1,
    '-size -mtime -atime -ctime -mmin -amin -cmin -newer -anewer -cnewer -newermt -newerct -newerat',
  ),
  ...predicates('test', 1, '-user -group -uid -gid -perm -links -inum -samefile -fstype -used'),
  ...predicates('test', 0, '-empty -executable -readable -writable -nouser -nogroup'),
  ...predicates('test', 1, '-type -xtype'),
  ...predicates('neutral', 1, '-maxdepth -mindepth -regextype -printf'),
  ...predicates(
    'neutral',
    0,
    '-depth -d -xdev -mount -follow -noleaf -daystart -nowarn -warn -print -print0 -ls -quit -true -false',
  ),
  ...predicates('neutral', 0, '-ignore_readdir_race -noignore_readdir_race'),
])

/** Tests joined by "and"; alternatives are separate. */
interface Group {
  readonly done: Term[]
  current: Term[]
  readonly negated: boolean
}

interface Term {
  readonly role: 'name' | 'test'
  readonly text: string
}

/** Options for links and optimisation, which come before everything else. */
const LINKS = /^-(?:[HLP]|O\d)$/
const EXPRESSION_STARTS = '-(!),'
/** The query of a `find` without tests: it searches all the same, and a search needs a query. */
const EVERYTHING = '*'

export function findOperations(invocation: Invocation): FileOperation[] | null {
  const args = invocation.args
  let at = 0
  while (LINKS.test(args[at]?.text ?? '')) at += 1
  const scopes: Word[] = []
  while (at < args.length) {
    const word = args[at]
    if (word === undefined || EXPRESSION_STARTS.includes(word.text.charAt(0) || ' ')) break
    scopes.push(word)
    at += 1
  }
  const terms = readExpression(args.slice(at))
  if (terms === null) return null
  const names = terms.filter((term) => term.role === 'name').map((term) => term.text)
  if (names.length > 0) return searchOperations(names.join('|'), scopes, invocation)
  const tests = terms.map((term) => term.text).join(' ')
  return searchOperations(tests === '' ? EVERYTHING : tests, scopes, invocation)
}

/** Returns the tests that are neither negated nor there to skip a directory. Null when `find` may act. */
function readExpression(words: readonly Word[]): Term[] | null {
  const outer: Group[] = []
  let group: Group = { done: [], current: [], negated: false }
  let negate = false
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]
    if (word === undefined || word.dynamic) return null
    switch (word.text) {
      case '(':
        outer.push(group)
        group = { done: [], current: [], negated: negate }
        negate = false
        break
      case ')': {
        const parent = outer.pop()
        if (parent === undefined) return null
        endAlternative(group)
        if (!group.negated) parent.current.push(...namesJoined(group.done, '|'))
        group = parent
        break
      }
      case '!':
      case '-not':
        negate = !negate
        break
      case '-a':
      case '-and':
        break
      case '-o':
      case '-or':
      case ',':
        endAlternative(group)
        break
      case '-prune':
        group.current = []
        break
      default: {
        const predicate = PREDICATES.get(word.text)
        if (predicate === undefined) return null
        const term = readTerm(predicate, word, words[at + 1])
        if (term === null) return null
        if (term !== 'neutral' && !negate) group.current.push(term)
        negate = false
        at += predicate.takes
      }
    }
  }
  endAlternative(group)
  return outer.length > 0 ? null : group.done
}

/** Joins the tests that have to match together into one alternative. */
function endAlternative(group: Group): void {
  group.done.push(...namesJoined(group.current, ' '))
  group.current = []
}

function namesJoined(terms: readonly Term[], by: string): readonly Term[] {
  const names = terms.filter((term) => term.role === 'name')
  if (names.length < 2) return terms
  const text = names.map((name) => name.text).join(by)
  return [{ role: 'name', text }, ...terms.filter((term) => term.role === 'test')]
}

function readTerm(predicate: Predicate, word: Word, value: Word | undefined): Term | 'neutral' | null {
  if (predicate.takes === 1 && value === undefined) return null
  if (predicate.role === 'name') {
    // An unquoted pattern is meant as a pattern, although the shell may expand it.
    const onlyGlob = value?.expansions.length === 1 && value.glob
    const text = onlyGlob ? value.text : fixed(value)
    return text === null ? null : { role: 'name', text }
  }
  if (predicate.takes === 1 && fixed(value) === null) return null
  if (predicate.role === 'neutral') return 'neutral'
  return { role: 'test', text: predicate.takes === 1 ? `${word.text} ${value?.text ?? ''}` : word.text }
}

const FD = optionTable(
  '-H -I -u -s -i -g -F -a -l -L -p -0 -1 -q -d: -t: -e: -S: -E: -c: -j: -C: --hidden --no-ignore --no-ignore-vcs ' +
    '--no-ignore-parent --unrestricted --case-sensitive --ignore-case --glob --regex --fixed-strings --and: --absolute-path ' +
    '--list-details --follow --full-path --print0 --max-depth: --min-depth: --exact-depth: --exclude: --prune --type: ' +
    '--extension: --size: --changed-within: --changed-before: --owner: --format: --threads: --max-results: --quiet --color: ' +
    '--strip-cwd-prefix? --one-file-system --path-separator: --base-directory: --search-path: --show-errors --ignore-file: ' +
    '--relative-path --ignore --no-hidden',
)

export function fdOperations(invocation: Invocation): FileOperation[] | null {
  const parsed = parseOptions(invocation.args, FD)
  if (!parsed.ok || hasOption(parsed.given, '--base-directory', '-C', '--search-path', '--and', '--format')) return null
  const [pattern, ...scopes] = parsed.operands
  const text = pattern === undefined ? '.' : fixed(pattern)
  if (text === null) return null
  if (text !== '.' && text !== '') return searchOperations(text, scopes, invocation)
  const extensions = parsed.given
    .filter((option) => option.name === '-e' || option.name === '--extension')
    .map((option) => fixed(option.value))
  if (extensions.includes(null)) return null
  return extensions.length === 0
    ? listOperations(scopes, invocation)
    : searchOperations(extensions.map((extension) => `*.${extension ?? ''}`).join('|'), scopes, invocation)
}
