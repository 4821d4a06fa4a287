import { HARMLESS_SETTING } from '../../programs/git-options.ts'
import { harmlessOptions } from '../../programs/harmless-options.ts'
import type { OptionTable } from '../../programs/options.ts'
import { unknownSubcommand } from '../../programs/subcommands.ts'
import { wordList } from '../../programs/word-list.ts'

/**
 * What a star of an allow covers. For a program of the table, every option must be listed, as it is spelled there. For
 * any other program, plain words pass, and so do options whose names consist of words that are harmless anywhere.
 */

/** Every argument of these is text to print or compare. */
const TAKES_WORDS = /^(?:echo|test|\[|true|false|:|expr)$/
/** Letters are not bundled, and words may follow a single dash. */
const WHOLE_WORDS =
  /^(?:g?find|go|node|nodejs|npm|pnpm|yarn|bun|tsc|kill|xxd|gradle|gradlew|mvn|jest|vitest|mocha|eslint|prettier)$/
/** They run or load what lies where their operands point to. */
const WORKS_WHERE_TOLD =
  /^(?:pytest|py\.test|jest|vitest|mocha|ava|tap|eslint|prettier|tsc|make|gmake|go|cargo|gradle|gradlew|mvn|npm|pnpm|yarn|bun|node|nodejs|mypy|ruff|black|isort|git (?:clone|init|worktree|submodule|apply|am))$/
/** Git runs a merge strategy by its name, and a name may be a path. */
const NAMES_STRATEGY = /^(?:-[a-zA-Z]*s|--strategy(?:=|$))/
const TAKES_STRATEGY = /^git (?:merge|cherry-pick|revert|rebase)$/
const LOADS_BY_VALUE = /^(?:-f|-R|--(?:format|reporter|test-reporter|reporters|profile|target|rule|parser))$/
const ELSEWHERE = /^(?:[/~]|file:)|(?:^|[/=:])\.\.(?:\/|$)/
/** More operands than these are files to write. */
const MOST_OPERANDS: ReadonlyMap<string, number> = new Map([
  ['uniq', 1],
  ['xxd', 1],
  ['json.tool', 1],
  ['comm', 2],
])

/** Where any other word is a script of the project: subcommands that change settings, or run something else. */
const SETS_UP = /^(?:config|c|set|pkg|plugin|policies|exec|x|dlx|node|create|init|setup|env|deploy|self-update)$/
/** They take options from a file whose name follows an `@`. */
const READS_OPTIONS =
  /^(?:nm|strings|objdump|readelf|size|ar|ranlib|strip|objcopy|c\+\+filt|pytest|py\.test|mypy|ruff|black|isort)$/
/** Operands that mean more than a file or a name. */
const TELLING_OPERAND: ReadonlyMap<string, RegExp> = new Map([
  ['date', /^[^+]/],
  ['gdate', /^[^+]/],
  ['tsc', /^(?:false|true|null|@.*)$/],
  ['less', /^\+/],
  ['more', /^\+/],
  ['man', /\//],
  ['bat', /^cache$/],
  ['batcat', /^cache$/],
  ['make', /=/],
  ['gmake', /=/],
  ['cargo', /^\+/],
  // The coordinates of a plugin, wherever it comes from.
  ['mvn', /:.*:/],
  ['curl', /^(?!(?:https?:\/\/)?(?:[^\s/?#@{}[\]]+@)?(?:[^\s/?#:@{}[\]]+|\[[\da-f:.]+\])(?::\d+)?(?:[/?#]|$))/i],
  // A name with a colon is a file on another machine.
  ['tar', /:/],
  ['bsdtar', /:/],
  ['bun', SETS_UP],
  ['pnpm', SETS_UP],
  ['yarn', SETS_UP],
  ['printf', /%[-#+ 0-9.*]*n/],
])

/** A format may be in a file, and write one. */
const WRITES_OUT = /^(?:-[a-zA-Z]*w|--write-out)/
/** Values that are written, or come from elsewhere. */
const TELLING_VALUE: ReadonlyMap<string, RegExp> = new Map([
  ['curl', /%output\{|^file:|(?:^|\w)@(?:[/~]|(?:.*\/)?\.\.\/)/i],
  ['tar', /:/],
  ['bsdtar', /:/],
])

/**
 * In programs that we do not know, an option passes if each part of its name is one of these words, which are about what
 * is shown, how much, and which of the things that the operands name.
 */
const HARMLESS_WORDS = wordList(
  'abbrev actual all any ascending ask backward bail bare basic batch bold brief bytes case changed chars check ' +
    'ci clean color colors colour colours cols columns compact concurrency confirm continue count coverage current ' +
    'date dates day days debug deep default defaults delay delete depth desc descending detail details dev diff ' +
    'disable dry duration each empty end errors exact exclude exit expand extended fail failed fast field fields ' +
    'find first fix flag follow force foreground format forward frozen full fuzzy global grep group head header ' +
    'headers height help hidden hide human id ids ignore immediate indent info insensitive integer interactive ' +
    'interval invert items jobs json keep kind label labels last latest length level limit line lines list lock ' +
    'locked long lower major mark match matching max maximum merge messages min minify minimum minor mode month ' +
    'months name names new newest next no non null number numbers numeric offline offset oldest once only optional ' +
    'or order page pages paginate parallel parseable patch pattern percent plain prefer pretty preview print prod ' +
    'production progress prompt prune public quick quiet random range rate raw readable recurse recursive regex ' +
    'regexp release remove repeat reset retries retry reverse rows sample scan seed select selected sensitive ' +
    'separator sequential serial short show silent since single size skip slow sort sorted stable staged stat state ' +
    'stats status step steps stop strict string strip style sum summary symbols table tag tags tail task tasks test ' +
    'tests text threads threshold throttle time timeout times timestamp timestamps title top total totals tree trim ' +
    'truncate type types unicode unique unit units until update upgrade upper usage utc utf8 valid validate verbose ' +
    'verbosity verify version versions visible wait warn warning warnings watch week weeks weight when width ' +
    'without word words workers wrap year years yes zero zone',
)
const HARMLESS_LETTERS = /^-[abhjklmnqstvyzAGHJNQUVWYZ0-9]{1,4}$/

/** Returns the argument that a star does not cover; `undefined` when it covers them all. `open` are its places. */
export function findUnlisted(program: string, args: readonly string[], open: readonly number[]): string | undefined {
  if (/^python[\d.]*$/.test(program) && args[0] === '-m' && args[1] !== undefined) {
    return findUnlisted(
      args[1],
      args.slice(2),
      open.filter((at) => at > 1).map((at) => at - 2),
    )
  }
  const inner = innerProgram(program, args) ?? -1
  if (inner !== -1 && args[inner] !== undefined) {
    const own = findUnlisted('', args.slice(0, inner), open)
    const rest = open.filter((at) => at > inner).map((at) => at - inner - 1)
    return own ?? findUnlisted(args[inner], args.slice(inner + 1), rest)
  }
  if (TAKES_WORDS.test(program)) return undefined
  const [name, from] = tableName(program, args)
  if (program === 'git' && args[from - 1]?.startsWith('-') === true && open.includes(from - 1)) return args[from - 1]
  const table = program === 'printf' ? NO_OPTIONS : harmlessOptions(name)
  if (table === undefined) {
    if (program !== 'git' && !name.startsWith('git ')) return findTelling(args, open)
    return from > 0 && open.includes(from - 1) ? args[from - 1] : findOption(args, open)
  }
  return findIn(name, table, args, /^g?find$/.test(name) ? withoutActions(args, open) : open, from)
}

const RUNS_PROGRAM = /^(?:npx|bunx|pnpx|uvx)$/
const RUNS_BY_SUBCOMMAND = /^(?:uv|poetry|pipenv|pdm|rye|hatch) run$|^(?:pnpm|yarn|bundle|npm) exec$/

/** Returns where the program is that a package tool runs with the rest of its arguments. */
function innerProgram(program: string, args: readonly string[]): number | undefined {
  if (RUNS_BY_SUBCOMMAND.test(`${program} ${args[0] ?? ''}`))
    return args.findIndex((text, at) => at > 0 && !text.startsWith('-'))
  return RUNS_PROGRAM.test(program) ? args.findIndex((text) => !text.startsWith('-')) : undefined
}

const NO_OPTIONS: OptionTable = { options: new Map(), letters: [], digits: false }

/** Returns the name in the table, and where the arguments for it begin. */
function tableName(program: string, args: readonly string[]): readonly [string, number] {
  if (program.startsWith('git-')) return [`git ${program.slice('git-'.length)}`, 0]
  if (/^(?:docker|podman)$/.test(program) && /^(?:compose|build|buildx|builder|image)$/.test(args[0] ?? '')) {
    // Elsewhere `-f` follows or filters; here it names a file of instructions.
    return ['docker-compose', 1]
  }
  if (program !== 'git') return [program.replace(/(?<=^(?:python|node))[\d.]+$/, ''), 0]
  const at = gitSubcommand(args)
  return [`git ${args[at] ?? ''}`, at + 1]
}

const GIT_OWN = /^(?:-P|--no-pager|--no-optional-locks|--literal-pathspecs|--version|--help|-h|-v)$/

/** Returns where git's subcommand is, after options of git itself that are known to be harmless. */
export function gitSubcommand(args: readonly string[]): number {
  let at = 0
  while (GIT_OWN.test(args[at] ?? '') || (args[at] === '-C' && args[at + 1] === '.')) at += args[at] === '-C' ? 2 : 1
  return at
}

/** Drops the commands that find runs, which are judged on their own. */
function withoutActions(args: readonly string[], open: readonly number[]): number[] {
  let isInside = false
  return open.filter((at) => {
    const text = args[at] ?? ''
    const wasInside = isInside
    if (/^-exec(?:dir)?$/.test(text)) isInside = true
    else if (text === ';' || (text === '+' && args[at - 1] === '{}')) isInside = false
    return !wasInside
  })
}

function findIn(
  name: string,
  table: OptionTable,
  args: readonly string[],
  open: readonly number[],
  from: number,
): string | undefined {
  const operands: number[] = []
  const runner = WORKS_WHERE_TOLD.test(name)
  const readsFind = /^g?find$/.test(name)
  let end = args.length
  for (let at = from, mayBeValue = false; at < end; at += 1) {
    const text = args[at] ?? ''
    if (text === '--' && !readsFind && !mayBeValue) {
      end = at
      break
    }
    mayBeValue = false
    const isBundle = at === 0 && /^(?:bsd)?tar$/.test(name) && !text.startsWith('-')
    const isBehind = operands.length > 0 && name === 'xxd'
    if (isBehind || (!isBundle && (text.length < 2 || !text.startsWith('-')))) {
      operands.push(at)
      continue
    }
    // `-mtime -1`
    if (readsFind && /^-\d+[a-zA-Z]?$/.test(text)) continue
    const value = isBundle ? bundleValue(name, text, table) : valueOf(name, text, table)
    if (value === null) {
      if (open.includes(at)) return text
      continue
    }
    const given = value === 'next' ? (args[at + 1] ?? '') : value
    // What begins with a dash is looked at as an option, too; programs differ in that.
    mayBeValue = value === 'next'
    if (mayBeValue && !given.startsWith('-')) {
      at += 1
      mayBeValue = false
    }
    if (!open.includes(at)) continue
    if (runner && (ELSEWHERE.test(given) || (LOADS_BY_VALUE.test(text.split('=', 1)[0] ?? '') && /[./]/.test(given))))
      return given
    if (name === 'curl' && given.startsWith('@') && WRITES_OUT.test(text)) return given
    if (TELLING_VALUE.get(name)?.test(given) === true) return given
    if (TAKES_STRATEGY.test(name) && NAMES_STRATEGY.test(text) && given.includes('/')) return given
  }
  const passed = [...args.keys()].slice(end + 1)
  const subcommand =
    from === 1 && name === 'docker-compose'
      ? unknownSubcommand('docker', args, open, [0, ...operands])
      : unknownSubcommand(name, args, open, operands)
  if (subcommand !== undefined) return subcommand
  if (name === 'git config') return unlistedSetting(args, from, [...operands, ...passed])
  // What follows are options of git.
  if (name === 'gh' && open.includes(end)) return args[end]
  const telling = TELLING_OPERAND.get(name)
  const most = MOST_OPERANDS.get(name) ?? Number.POSITIVE_INFINITY
  const isPassedOn = /^(?:npm|pnpm|yarn|bun|cargo)$/.test(name)
  for (const [count, at] of [...operands, ...(isPassedOn ? [] : passed)].entries()) {
    const text = args[at] ?? ''
    if (!open.includes(at)) continue
    if (count >= most || telling?.test(text) === true || (runner && ELSEWHERE.test(text))) return text
    if (text.startsWith('@') && READS_OPTIONS.test(name)) return text
  }
  if (!isPassedOn) return undefined
  const behind = open.filter((at) => at > end)
  const second = harmlessOptions(`${name} --`)
  return second === undefined ? findTelling(args, behind) : findIn(`${name} --`, second, args, behind, end + 1)
}

/** In the old style of tar, the values of its letters follow the bundle: only `f` may have one. */
function bundleValue(name: string, text: string, table: OptionTable): string | null {
  return valueOf(name, `-${text.replace('f', '')}`, table) === '' ? '' : null
}

const READS_SETTING = /^(?:--get(?:-all|-regexp|-urlmatch|-color|-colorbool)?|--list|-l|get|list)$/

/** Returns the setting of git that a command changes, unless it is known to be harmless. */
function unlistedSetting(args: readonly string[], from: number, operands: readonly number[]): string | undefined {
  const [first = '', second = ''] = operands.map((at) => args[at] ?? '')
  const isRead = args.slice(from, (operands[0] ?? args.length) + 1).some((text) => READS_SETTING.test(text))
  if (first === '' || (!/^(?:edit|set|unset|rename-section|remove-section)$/.test(first) && isRead)) return undefined
  const key = first === 'set' || first === 'unset' ? second : first
  return (operands.length === 1 && key.includes('.')) || HARMLESS_SETTING.test(key) ? undefined : first
}

/** Returns the attached value, `next` when it is the next word, empty without one; null for an unlisted option. */
function valueOf(name: string, text: string, { digits, letters, options }: OptionTable): string | null {
  const equals = text.indexOf('=')
  const long = equals === -1 ? text : text.slice(0, equals)
  const arity = options.get(long)
  if (arity !== undefined && (text.startsWith('--') || WHOLE_WORDS.test(name) || text.length > 2)) {
    if (equals !== -1) return arity === 'flag' && !/^g?find$|^go$/.test(name) ? null : text.slice(equals + 1)
    return arity === 'value' ? 'next' : ''
  }
  if (digits && /^-\d+$/.test(text)) return ''
  if (text.startsWith('--') || WHOLE_WORDS.test(name)) return null
  for (let at = 1; at < text.length; at += 1) {
    const option = letters[text.charCodeAt(at)]
    if (option === undefined) return null
    if (option.arity === 'flag') continue
    if (at + 1 < text.length) return text.slice(at + 1)
    return option.arity === 'value' ? 'next' : ''
  }
  return ''
}

/** `--no-color`, `-maxdepth`, `--dryRun`: all its parts are harmless words. */
function isHarmless(option: string): boolean {
  const name = /^--?([a-zA-Z][\w-]*)$/.exec(option)?.[1]
  if (name === undefined) return false
  const parts = name
    .replace(/(?<=[a-z])(?=[A-Z])/g, '-')
    .toLowerCase()
    .replace('dry-run', 'dry')
  return parts.split('-').every((part) => HARMLESS_WORDS.has(part))
}

/** For subcommands that are not in the table, of a program that is. */
function findOption(args: readonly string[], open: readonly number[]): string | undefined {
  return args.find((text, at) => open.includes(at) && text.startsWith('-') && text !== '--')
}

/** For programs that are not in the table, and for the arguments of scripts. */
export function findTelling(args: readonly string[], open: readonly number[]): string | undefined {
  return args.find((text, at) => {
    if (!open.includes(at)) return false
    if (!text.startsWith('-') || text === '-' || text === '--') {
      return ELSEWHERE.test(text) || /^(?:@|[A-Za-z_.]\w*[:+?!]*=)/.test(text)
    }
    if (/^-[^-]{0,4}$/.test(text)) return !HARMLESS_LETTERS.test(text)
    const [option = '', value = ''] = text.split('=', 2)
    return !isHarmless(option) || value.includes('/')
  })
}
