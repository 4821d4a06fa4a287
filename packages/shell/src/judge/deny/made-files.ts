import type { SimpleCommand, Word } from '../../read/index.ts'
import { baseOf, isOption, isReadable } from './argument.ts'
import { plainCode } from './plain-code.ts'
import { programBase } from '../../programs/program-base.ts'
import { isAwk, isLanguage, isSed } from '../../programs/programs.ts'

const WRITES = new Set(['write', 'append', 'read-write'])
const WRITES_ALL =
  /^(?:tee|sponge|sed|gsed|touch|xxd|uniq|script|patch|ed|ex|vi|vim|nvim|nano|unzip|tar|bsdtar|7z|7za)$/
/** Programs that leave a file beside the given one, with the same name except for its ending. */
const UNPACKS = /^(?:gunzip|gzip|unxz|xz|unzstd|zstd|bunzip2|bzip2|gpg)$/
const WRITES_LAST = /^(?:cp|mv|ln|install|rsync|scp|link)$/
const COPIES_OUT = /^(?:docker|podman|nerdctl|kubectl|oc)$/
const FETCHES = /^(?:curl|wget|aria2c)$/
const OUTPUT_VALUE = /^(?:-[a-zA-Z]*[oO]|--?out(?:put)?(?:-document|-file)?|-fprint0?|-fprintf|-fls)$/
const OUTPUT_ATTACHED = /^(?:-o|--out(?:put)?[a-z-]*=)(.+)$/
/** Compilers: their output only repeats their input in another form. */
const COMPILES = /^(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|tcc|rustc|go|javac|tsc|esbuild|swiftc|ghc|ocamlopt|nim|zig)$/

/** The files that a program runs without being given a name. */
const RUNS_BY_NAME: ReadonlyMap<string, RegExp> = new Map([
  ...['make', 'gmake'].map((name) => [name, /^(?:GNU)?makefile$/i] as const),
  ['git', /^(?:\.git|\.gitconfig|(?:pre|post)-[a-z-]+|(?:prepare-)?commit-msg)$/],
  ['just', /^\.?justfile$/i],
  ['rake', /^rakefile$/i],
  ...['npm', 'pnpm', 'yarn', 'bun'].map((name) => [name, /^(?:package\.json|\.npmrc|\.yarnrc(?:\.yml)?)$/] as const),
  ['task', /^taskfile\.ya?ml$/i],
  ['cmake', /^CMakeLists\.txt$/],
  ...['gradle', 'gradlew'].map((name) => [name, /\.gradle(?:\.kts)?$/] as const),
  ['mvn', /^pom\.xml$/],
  ['cargo', /^(?:build\.rs|Cargo\.toml)$/],
  ['grunt', /^gruntfile\./i],
  ['gulp', /^gulpfile\./i],
  ['nox', /^noxfile\.py$/],
  ['tox', /^(?:tox\.ini|setup\.py|pyproject\.toml)$/],
  ['pytest', /^conftest\.py$/],
  ...['pip', 'pip3'].map((name) => [name, /^(?:setup\.py|pyproject\.toml)$/] as const),
  ...['docker', 'podman', 'docker-compose'].map(
    (name) => [name, /^(?:dockerfile|containerfile|(?:docker-)?compose\.ya?ml)/i] as const,
  ),
  ['vagrant', /^vagrantfile$/i],
  ['direnv', /^\.envrc$/],
  ['pre-commit', /^\.pre-commit-config\.yaml$/],
  ...['terraform', 'tofu'].map((name) => [name, /\.tf$/] as const),
  ...['bash', 'sh', 'zsh'].map((name) => [name, /^\.(?:bashrc|bash_profile|profile|zshrc|zshenv|zprofile)$/] as const),
  ...['vim', 'nvim', 'vi'].map((name) => [name, /^\.(?:n?vimrc|exrc)$|^init\.(?:vim|lua)$/] as const),
  ...['ssh', 'scp', 'sftp'].map((name) => [name, /^config$/] as const),
])

/** Programs that run a file that any of their arguments may name. */
const RUNS_ARGUMENT =
  /^(?:g?make|[gmn]?awk|g?sed|psql|mysql|mariadb|sqlite3|duckdb|ansible-playbook|java|swift|tsx|ts-node|esno|zx|groovy|scala|kotlin|gdb|lldb|expect|jshell|vim|nvim|vi|emacs|crontab|at|tmux|screen)$/

/** Maps file names without folder to the commands of a text that make them; null means any file. */
export type MadeFiles = ReadonlyMap<string | null, ReadonlySet<number>>

export function madeFiles(commands: readonly SimpleCommand[]): MadeFiles {
  const made = new Map<string | null, Set<number>>()
  for (const command of commands) {
    for (const name of madeBy(command, made)) {
      const makers = made.get(name) ?? new Set()
      made.set(name, makers.add(command.index))
    }
  }
  return made
}

function madeBy(command: SimpleCommand, before: MadeFiles): (string | null)[] {
  const { args, redirections } = command
  const base = baseOf(command)
  const targets = redirections.flatMap(({ kind, target }) => (WRITES.has(kind) && target !== null ? [target] : []))
  const operands = args.filter(({ text }) => !isOption(text))
  if (WRITES_ALL.test(base) || UNPACKS.test(base)) targets.push(...operands)
  if (WRITES_LAST.test(base)) targets.push(...operands.slice(-1))
  if (COPIES_OUT.test(base) && operands[0]?.text === 'cp') targets.push(...operands.slice(-1))
  // Without an output name, the file is named after the address.
  if (FETCHES.test(base)) targets.push(...operands)
  if (base === 'dd') targets.push(...args.filter(({ text }) => text.startsWith('of=')))
  const isMade = ({ text }: Word): boolean => before.has(null) || before.has(lastPart(text))
  // A compiler adds nothing of its own to its input.
  if (!COMPILES.test(base) || operands.some(isMade)) targets.push(...outputs(args))
  const known = targets
    .filter(({ text }) => !text.startsWith('/dev/'))
    .flatMap((word) => (isReadable(word) ? namesOf(word.text, UNPACKS.test(base)) : [null]))
  // The names of their output begin like the given name.
  if (/^c?split$/.test(base)) known.push(null)
  return [...known, ...writtenByCode(base, command)]
}

function outputs(args: readonly Word[]): Word[] {
  return args.flatMap((word, at) => {
    if (OUTPUT_VALUE.test(args[at - 1]?.text ?? '')) return [word]
    const attached = OUTPUT_ATTACHED.exec(word.text)?.[1]
    return attached === undefined ? [] : [{ ...word, text: attached }]
  })
}

/** Code may write any file, unless its strings name all that it uses. */
function writtenByCode(base: string, command: SimpleCommand): (string | null)[] {
  if (command.runs === 'inline-code') return plainCode(command)?.map(lastPart) ?? [null]
  return (isAwk(base) || isSed(base)) && command.unknown !== null ? [null] : []
}

const GIT_RUNS = /(?:^|\/)\.git\/(?:hooks\/|config$)/
const PACKED = /\.(?:gz|tgz|xz|zst|bz2|gpg|asc)$/

/** Hooks and settings of a repository count as `.git`. */
function namesOf(path: string, isPacked: boolean): string[] {
  const name = lastPart(path)
  const names = isPacked ? [name, name.replace(PACKED, '')] : [name]
  return GIT_RUNS.test(path) ? [...names, '.git'] : names
}

function lastPart(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('='), path.lastIndexOf(':')) + 1)
}

function withoutEnding(name: string): string {
  return name.replace(/(?<=[^.])\.\w+$/, '')
}

/** True when a command runs a file that another command of the same text makes. */
export function runsMadeFile(command: SimpleCommand, files: MadeFiles): boolean {
  const { appended, args, name, runs } = command
  if (name === null || files.size === 0 || !isReadable(name)) return false
  const made = new Set(
    [...files].filter(([, makers]) => makers.size > 1 || !makers.has(command.index)).map(([file]) => file),
  )
  if (made.size === 0) return false
  const isNamed = (text: string): boolean => made.has(lastPart(text))
  const isMade = (text: string): boolean => made.has(null) || isNamed(text) || (appended && text.includes('{}'))
  if (runs === 'file' && args.some((word) => !isOption(word.text) && isMade(word.text))) return true
  if (name.text.includes('/') && !/^\/(?:usr\/)?s?bin\//.test(name.text) && isMade(name.text)) return true
  const base = programBase(name.text)
  const takesFile = RUNS_ARGUMENT.test(base) || (base === 'go' && args[0]?.text === 'run')
  if (takesFile && args.some(({ text }) => isNamed(text))) return true
  if (isLanguage(base) && loadsMadeFile(args, made)) return true
  const found = RUNS_BY_NAME.get(base)
  return found !== undefined && [...made].some((file) => file !== null && found.test(file))
}

const MOST_WORDS = 2_000

/** `import x`, `-Mx`, `-r ./x`: code loads a file by its name without the ending. */
function loadsMadeFile(args: readonly Word[], made: ReadonlySet<string | null>): boolean {
  const modules = new Set(
    [...made]
      .filter((file) => file !== null)
      .filter((file) => /\.\w+$/.test(file))
      .map(withoutEnding),
  )
  if (modules.size === 0) return false
  return args
    .flatMap(({ text }) => text.split(/[^\w./-]+/, MOST_WORDS))
    .flatMap((word) => [word, word.replace(/^-[a-zA-Z]/, '')])
    .some((word) => modules.has(withoutEnding(lastPart(word))))
}
