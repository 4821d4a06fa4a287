import { harmlessOptions } from '../programs/harmless-options.ts'
import { parseOptions } from '../programs/options.ts'
import { isPureAwk } from './awk-program.ts'
import type { Word } from './reading.ts'
import { printedLines, readSedScript } from './sed-script.ts'
import { canSet, unknownFromSetting } from './settings.ts'
import { literalWord } from './words.ts'

interface OptionRule {
  /** Long options. An unambiguous prefix counts, as GNU tools accept it. */
  readonly long: readonly string[]
  /** Matches any other argument with this effect. */
  readonly short?: RegExp
  /** Like `short`, where the case of a letter matters. */
  readonly letter?: RegExp
  /** Like `short`, for the first argument only. */
  readonly first?: RegExp
}

const SSH_PROGRAM =
  /^(?:-[a-z0-9]*o)?\s*(?:ProxyCommand|LocalCommand|KnownHostsCommand|Include|PKCS11Provider|SecurityKeyProvider|XAuthLocation)/i
/** Another settings file or a library may name a program. */
const SSH_FILE = /^-[46AaCfGgKkMNnqsTtVvXxYy]*[FI]/
const COMPILER: OptionRule = { long: [], short: /^(?:-wrapper|-B|-fplugin|--?specs)/ }
const EDITOR: OptionRule = { long: ['--cmd'], short: /^(?:\+|-[a-zA-Z]*[cSus])/ }
const NETCAT: OptionRule = { long: ['--exec', '--sh-exec', '--lua-exec'], short: /^-[a-zA-Z]*[ec]/ }
const MYSQL: OptionRule = { long: ['--init-command', '--pager'], short: /\\!|\bsystem\b|\bsource\b|\\\./i }
const TEX: OptionRule = { long: [], short: /^--?(?:shell-escape|enable-write18)/ }
const GO: OptionRule = { long: [], short: /^--?(?:exec|toolexec|vettool)\b/ }

const RUNNING_OPTIONS: ReadonlyMap<string, OptionRule> = new Map<string, OptionRule>([
  ['rg', { long: ['--pre', '--hostname-bin'] }],
  ['ag', { long: ['--pager'] }],
  ['ack', { long: ['--pager'] }],
  ['cargo', { long: [], short: /\b(?:runner|linker|rustdoc|rustc(?:-(?:workspace-)?wrapper)?)\s*=/ }],
  [
    'tar',
    {
      long: [
        '--to-command',
        '--use-compress-program',
        '--checkpoint-action',
        '--rsh-command',
        '--info-script',
        '--new-volume-script',
      ],
      short: /^-[A-Za-z]*[IF]/,
      first: /^[a-zA-Z]*[IF][a-zA-Z]*$/,
    },
  ],
  ['sort', { long: ['--compress-program'] }],
  ['split', { long: ['--filter'] }],
  ['rsync', { long: ['--rsh', '--rsync-path'], short: /^-[a-zA-Z]*e/ }],
  ['ssh', { long: [], short: SSH_PROGRAM, letter: SSH_FILE }],
  ['scp', { long: [], short: new RegExp(`${SSH_PROGRAM.source}|^-[a-zA-Z0-9]*S`, 'i'), letter: /^-[a-zA-Z0-9]*F/ }],
  ['sftp', { long: [], short: new RegExp(`${SSH_PROGRAM.source}|^-[a-zA-Z0-9]*[SD]`, 'i'), letter: /^-[a-zA-Z0-9]*F/ }],
  ['man', { long: ['--pager', '--html'], short: /^-[a-zA-Z]*[PH]/ }],
  ['less', { long: [], short: /^\+/ }],
  ['bat', { long: ['--pager'] }],
  ['batcat', { long: ['--pager'] }],
  ['vi', EDITOR],
  ['vim', EDITOR],
  ['nvim', { long: ['--cmd'], short: /^(?:\+|-[a-zA-Z]*[cSlus])/ }],
  ['ex', EDITOR],
  [
    'emacs',
    { long: ['--eval', '--execute', '--load', '--funcall', '--script'], short: /^--?(?:l|f|x|eval|exec|load|script)/ },
  ],
  ['gdb', { long: ['--eval-command', '--command', '--init-command'], short: /^-(?:ex|iex|x|ix)$/ }],
  ['zip', { long: ['--unzip-command'], short: /^-TT/ }],
  ['tcpdump', { long: [], short: /^-[a-zA-Z]*z/ }],
  ...['gcc', 'g++', 'cc', 'c++', 'clang', 'clang++'].map((name) => [name, COMPILER] as const),
  ...['nc', 'ncat', 'netcat'].map((name) => [name, NETCAT] as const),
  ['socat', { long: [], short: /(?:^|[,!])(?:exec|system|shell):/i }],
  ['psql', { long: [], short: /\\!|\\(?:o|g|w|copy|i)|\bprogram\b/i }],
  ['mysql', MYSQL],
  ['mariadb', MYSQL],
  [
    'sqlite3',
    { long: [], short: /^-(?:init|cmd)$|^[^\S\n]*\.(?:sh|sy|lo|rea|im|ou|on)|\bload_extension\b|\bedit\(/im },
  ],
  ['go', GO],
  ...['tex', 'latex', 'pdftex', 'pdflatex', 'xelatex', 'lualatex'].map((name) => [name, TEX] as const),
  ['groff', { long: [], short: /^-[a-zA-Z]*U/ }],
  ['fzf', { long: ['--preview', '--bind'] }],
  ['nmap', { long: ['--script'] }],
  ['wget', { long: ['--use-askpass'], short: /use[-_]?askpass/i }],
  ['compgen', { long: [], short: /^-[a-zA-Z]*[CF]/ }],
  ['enable', { long: [], short: /^-[a-z]*f/ }],
  ['hash', { long: [], short: /^-[a-z]*p/ }],
  ['complete', { long: [], short: /^-[a-zA-Z]*[CF]/ }],
  ['bind', { long: [], short: /^-[a-zA-Z]*x/ }],
  ['mapfile', { long: [], short: /^-[a-zA-Z]*C/ }],
  ['readarray', { long: [], short: /^-[a-zA-Z]*C/ }],
])

const WITH_RULES: ReadonlySet<string> = new Set(['git', 'awk', 'gawk', 'mawk', 'nawk', 'sed', 'gsed', 'alias'])

/** `git-push` is `git push`. */
const GIT_PROGRAM = 'git-'

/** True if `unknownFromArguments` can return a reason for this program with some arguments. */
export function canDoMore(base: string): boolean {
  return WITH_RULES.has(base) || base.startsWith(GIT_PROGRAM) || RUNNING_OPTIONS.has(base) || canSet(base)
}

/** Returns why a program with these arguments does more than its name says; null when nothing of the kind is found. */
export function unknownFromArguments(base: string, args: readonly Word[]): string | null {
  if (base.startsWith(GIT_PROGRAM)) return unknownGit([literalWord(base.slice(GIT_PROGRAM.length)), ...args])
  switch (base) {
    case 'git':
      return unknownGit(args)
    case 'awk':
    case 'gawk':
    case 'mawk':
    case 'nawk':
      // In mawk `-W exec` is what `-f` is in others.
      return awkPrograms(args).every((arg) => isPureAwk(arg.text) && !arg.text.startsWith('-W'))
        ? null
        : 'the awk program can run commands or use files'
    case 'sed':
    case 'gsed':
      return unknownSed(args)
    case 'alias':
      return args.some((arg) => arg.text.includes('=')) ? 'an alias changes what later names run' : null
    default: {
      const setting = unknownFromSetting(base, args)
      const rule = RUNNING_OPTIONS.get(base)
      if (rule === undefined || setting !== null) return setting
      const found = args.find(
        (arg, at) =>
          rule.short?.test(arg.text) === true ||
          rule.letter?.test(arg.text) === true ||
          (at === 0 && rule.first?.test(arg.text) === true) ||
          beginsOneOf(rule.long, arg.text),
      )
      return found === undefined ? null : `${base} ${found.source} can run a program`
    }
  }
}

/** Returns the program; every argument where an option leaves open which one it is. */
function awkPrograms(args: readonly Word[]): readonly Word[] {
  const table = harmlessOptions('awk')
  const parsed = table === undefined ? undefined : parseOptions(args, table, true)
  return parsed?.ok === true ? parsed.operands.slice(0, 1) : args
}

function beginsOneOf(options: readonly string[], text: string): boolean {
  if (!text.startsWith('--') || text.length < 3) return false
  const name = text.split('=', 1)[0] ?? text
  return options.some((option) => option.startsWith(name))
}

const HARMLESS_SETTING =
  /^(?:color\..*|core\.quotepath|user\.(?:name|email)|advice\..*|commit\.gpgsign|init\.defaultbranch)=/i
const GIT_LONG = [
  '--config-env',
  '--exec-path',
  '--ext-diff',
  '--open-files-in-pager',
  '--upload-pack',
  '--receive-pack',
  '--exec',
  '--extcmd',
]
const GIT_SUBCOMMANDS =
  /^(?:filter-branch|difftool|mergetool|instaweb|daemon|credential.*|sh-.*|send-email|shell|remote-.*|for-each-repo|web--browse)$/
/** Options that give settings or remote programs to these subcommands. */
const GIT_FETCHES: ReadonlyMap<string, RegExp> = new Map([
  ['clone', /^(?:-[a-zA-Z]*[cu]|--conf|--temp)/],
  ['init', /^--temp/],
  ['ls-remote', /^-[a-zA-Z]*u/],
])
/** Letters before it that take the rest as their value belong to other options. */
const GREP_PAGER = /^-[a-dg-ln-zD-NP-Z0-9]*O/

function unknownGit(args: readonly Word[]): string | null {
  const texts = args.map((arg) => arg.text)
  // Options before the subcommand are git's own. `-C dir` and `-c x=y` take the next word.
  const found = texts.findIndex((text, at) => !text.startsWith('-') && !/^-[cC]$/.test(texts[at - 1] ?? ''))
  const subcommand = texts[found] ?? ''
  const own = found === -1 ? texts : texts.slice(0, found)
  for (const [at, text] of own.entries()) {
    const sets = text === '-c' ? !HARMLESS_SETTING.test(texts[at + 1] ?? '') : /^-c./.test(text)
    if (sets) return 'git -c can set a program to run'
  }
  for (const text of texts) {
    // `--exec-path` alone only prints.
    if (beginsOneOf(GIT_LONG, text) && text !== '--exec-path') return `git ${text} can run a program`
    if (text.includes('ext::')) return 'git ext:: runs a program'
    if (GIT_FETCHES.get(subcommand)?.test(text) === true) return `git ${text} can run a program`
    if (subcommand === 'grep' && GREP_PAGER.test(text)) return 'git grep -O opens a pager'
    if (subcommand === 'rebase' && /^-[A-Za-z]*x/.test(text)) return 'git rebase -x runs a program'
  }
  if (GIT_SUBCOMMANDS.test(subcommand)) return `git ${subcommand} runs other programs`
  if (subcommand === 'config' && texts.some((text) => /^alias\./i.test(text))) {
    return 'an alias changes what later names run'
  }
  if (subcommand === 'bisect' && texts.includes('run')) return 'git bisect run runs a program'
  if (subcommand === 'submodule' && texts.includes('foreach')) return 'git submodule foreach runs a program'
  return null
}

function unknownSed(args: readonly Word[]): string | null {
  if (printedLines(args) !== null) return null
  const scripts: string[] = []
  // Not every sed knows these spellings. For one that does not, the first operand is still the script.
  const spelledOtherwise: string[] = []
  for (const [at, arg] of args.entries()) {
    if (!arg.text.startsWith('-')) continue
    const [name = '', value = args[at + 1]?.text ?? ''] = splitOption(arg.text)
    if (/^-[a-zA-Z]*f/.test(arg.text) || arg.text.startsWith('--file') || isShortened(name, '--file')) {
      return 'the sed script is in a file'
    }
    if (/^-[nErsuz]*e$/.test(arg.text) || arg.text === '--expression') scripts.push(args[at + 1]?.text ?? '')
    else if (arg.text.startsWith('--expression=')) scripts.push(arg.text.slice('--expression='.length))
    else if (/^-[nErsuz]*e./.test(arg.text)) scripts.push(arg.text.slice(arg.text.indexOf('e') + 1))
    else if (isShortened(name, '--expression')) spelledOtherwise.push(value)
    else if (/^-[a-hj-zA-Z0-9]*e/.test(arg.text)) spelledOtherwise.push(arg.text.slice(arg.text.indexOf('e') + 1))
  }
  if (scripts.length === 0) {
    const script = args.find((arg) => arg.text !== '' && !arg.text.startsWith('-'))
    if (script !== undefined) scripts.push(script.text)
  }
  return [...scripts, ...spelledOtherwise].every((script) => readSedScript(script)?.pure === true)
    ? null
    : 'the sed script can run commands or use files'
}

function splitOption(text: string): [string] | [string, string] {
  const equals = text.indexOf('=')
  return equals === -1 ? [text] : [text.slice(0, equals), text.slice(equals + 1)]
}

function isShortened(name: string, option: string): boolean {
  return name.length > 2 && option.startsWith(name)
}
