import { isOption } from './argument.ts'
import { subcommandPlace } from './git-order.ts'

/**
 * Options with which a program that otherwise only reads writes, runs code or works elsewhere. A pattern's star does
 * not cover them; a pattern that spells them out does. Options that run a program are also known to the shell reading,
 * for more programs.
 */
interface RiskyOptions {
  /** Long names without dashes; an abbreviation counts. */
  readonly long?: readonly string[]
  /** Letters, also inside a bundle. */
  readonly short?: string
  /** Whole words, options or not. */
  readonly words?: RegExp
  /** The program takes no abbreviations, so `--cache` does not mean `--cache-location`. */
  readonly isExact?: true
  /** Applies to the first operand only. */
  readonly first?: RegExp
  /** Applies to the first argument, a bundle of letters without a dash. */
  readonly bundle?: RegExp
  /** An option whose value is a file to run. */
  readonly loads?: RegExp
  /** Operands after this many are files that are written. */
  readonly operands?: number
}

const NODE_TOOL: RiskyOptions = {
  long: ['prefix', 'dir', 'cwd', 'script-shell', 'node-options', 'userconfig', 'globalconfig', 'git', 'shell-emulator'],
  short: 'C',
}
const SED: RiskyOptions = { long: ['in-place', 'file'], short: 'if' }
const FIND: RiskyOptions = { words: /^-(?:delete|fprint0?|fprintf|fls|files0-from)$/ }
const AWK: RiskyOptions = {
  long: ['file', 'include', 'load', 'exec', 'profile', 'dump-variables', 'pretty-print'],
  short: 'filEopd',
}
const MAKE: RiskyOptions = {
  long: ['file', 'makefile', 'directory', 'eval', 'include-dir'],
  short: 'fCIE',
  words: /^[A-Za-z_]\w*[:+?!]*=/,
}
/** `-v` evaluates a variable's subscript as code. */
const TEST: RiskyOptions = { words: /^-v$/ }

const TAR: RiskyOptions = {
  long: [
    'directory',
    'absolute-names',
    'one-top-level',
    'files-from',
    'index-file',
    'transform',
    'xform',
    'to-command',
    'use-compress-program',
    'checkpoint-action',
    'rsh-command',
    'info-script',
    'new-volume-script',
    'listed-incremental',
    'volno-file',
  ],
  short: 'CPITFg',
  bundle: /^[a-zA-Z]*[CPITFg]/,
}
const PYTEST: RiskyOptions = {
  isExact: true,
  long: [
    'rootdir',
    'confcutdir',
    'config-file',
    'override-ini',
    'basetemp',
    'junit-xml',
    'junitxml',
    'log-file',
    'pdbcls',
  ],
  words: /^-[pco]/,
}

const RISKY: ReadonlyMap<string, RiskyOptions> = new Map<string, RiskyOptions>([
  ['sed', SED],
  ['gsed', SED],
  ['find', FIND],
  ['gfind', FIND],
  ['fd', { long: ['exec', 'exec-batch'], short: 'xX' }],
  ['sort', { long: ['output', 'compress-program', 'files0-from'], short: 'oT' }],
  ['uniq', { operands: 1 }],
  ['xxd', { short: 'r', operands: 1 }],
  ['tree', { short: 'oR' }],
  ['yq', { long: ['inplace', 'in-place', 'split-exp'], short: 'is' }],
  ['awk', AWK],
  ['gawk', AWK],
  ['file', { long: ['compile', 'magic-file'], short: 'Cm' }],
  ['date', { long: ['set'], words: /^-u*s/ }],
  ['less', { long: ['log-file', 'LOG-FILE', 'lesskey-file'], short: 'oOk', words: /^\+/ }],
  ['printf', { words: /^-v|%[-#+ 0-9.*]*n/ }],
  ['test', TEST],
  ['[', TEST],
  [
    'curl',
    {
      long: [
        'output-dir',
        'remote-name-all',
        'remote-header-name',
        'config',
        'dump-header',
        'cookie-jar',
        'trace-ascii',
        'stderr',
        'upload-file',
        'etag-save',
        'hsts',
        'alt-svc',
        'libcurl',
        'engine',
        'unix-socket',
        'abstract-unix-socket',
      ],
      short: 'oOJKDcT',
      words: /%output\{/,
    },
  ],
  ['wget', { long: ['execute', 'use-askpass', 'post-file', 'body-file', 'config', 'input-file'], short: 'ei' }],
  ['tar', TAR],
  ['bsdtar', TAR],
  ['pytest', PYTEST],
  [
    'eslint',
    {
      isExact: true,
      long: [
        'config',
        'rulesdir',
        'plugin',
        'resolve-plugins-relative-to',
        'output-file',
        'cache-location',
        'cache-file',
      ],
      words: /^-[co]/,
      loads: /^(?:-f|--format|--parser)$/,
    },
  ],
  ['prettier', { isExact: true, long: ['config', 'plugin', 'plugin-search-dir', 'cache-location', 'parser'] }],
  ['gh', { first: /^(?:alias|config|extensions?|ext)$/, words: /^--$/ }],
  ['npm', NODE_TOOL],
  ['pnpm', NODE_TOOL],
  ['yarn', NODE_TOOL],
  ['bun', NODE_TOOL],
  ['make', MAKE],
  ['gmake', MAKE],
  ['cargo', { long: ['config', 'manifest-path', 'target-dir'], short: 'CZ', words: /^\+/ }],
  ['go', { words: /^--?(?:exec|toolexec|overlay|modfile|vettool|C|o|cpuprofile|memprofile|trace)(?:=|$)/ }],
])

/** Option names that mean "run this", "load this" or "write there" in most programs that have them. */
const TELLING =
  /^--?(?:pre|preprocessor|.*exec(?:ute)?|.*command|cmd|eval|require|import|loader|plugins?|.*-plugin|rulesdir|resolver|pager|editor|shell|.*-shell|rsh|hooks?|.*-hook|.*compress-program|config|config-file|init-script|rcfile|init-file|open|in-?place|output|output-(?:file|dir|path)|out-?(?:file|dir)|global-?setup|setup-files.*)(?:=|$)/i

/**
 * Returns the argument that a star does not cover; `undefined` when it covers them all. `covered` are indexes in
 * `args`.
 */
export function findRisky(program: string, args: readonly string[], covered: readonly number[]): string | undefined {
  if (program === 'git') return findRiskyGit(args, covered)
  // The word after `-m` is the program.
  if (/^python[\d.]*$/.test(program) && args[0] === '-m' && args[1] !== undefined) {
    const places = covered.filter((at) => at > 1).map((at) => at - 2)
    return findRisky(args[1], args.slice(2), places)
  }
  const risky = RISKY.get(program)
  for (const at of covered) {
    const text = args[at] ?? ''
    if (risky === undefined ? TELLING.test(text) : isRisky(risky, text)) return text
    if (risky?.loads?.test(args[at - 1] ?? '') === true && /[./]/.test(text)) return text
  }
  if (covered.includes(0) && risky?.bundle?.test(args[0] ?? '') === true) return args[0]
  const first = args.findIndex((arg) => !isOption(arg))
  if (covered.includes(first) && risky?.first?.test(args[first] ?? '') === true) return args[first]
  return risky?.operands === undefined ? undefined : args.filter((arg) => !isOption(arg))[risky.operands]
}

function isRisky({ isExact, long, short, words }: RiskyOptions, text: string): boolean {
  if (words?.test(text) === true) return true
  if (!isOption(text)) return false
  if (!text.startsWith('--')) return (short ?? '').split('').some((letter) => text.includes(letter, 1))
  const name = text.slice(2).split('=', 1)[0] ?? ''
  if (isExact === true) return long?.includes(name) === true
  return name !== '' && long?.some((option) => option.startsWith(name)) === true
}

/** These options use another folder's settings, which name programs to run, or set such settings themselves. */
const GIT_OWN = /^(?:-[cC]|--(?:git-dir|work-tree|exec-path|config-env|namespace|attr-source))/
const GIT_SUBCOMMAND: RiskyOptions = {
  long: ['output', 'output-directory', 'template', 'upload-pack', 'receive-pack', 'exec', 'config'],
}
const GIT_SHORT: Readonly<Record<string, string>> = { clone: 'cu', 'format-patch': 'o', archive: 'o', 'ls-remote': 'u' }
const GIT_SETTING =
  /pager|editor|hookspath|sshcommand|fsmonitor|askpass|proxy|^gpg\.|\.program|cmd|command|filter|\.update$|\.vcs$|\.path$|templatedir|smtpserver|textconv|\.clean|\.smudge|\.process|\.driver|helper|external|browser|uploadpack|receivepack|packobjectshook|^alias|^include|^core\.worktree/i
const GIT_CONFIG_EDITS = /^(?:--ed(?:it?)?|-[a-z]*e|edit)$/

/** True for a `git config` that sets a program to run later. */
export function setsGitProgram(args: readonly string[]): boolean {
  return args.includes('config') && args.some((arg) => GIT_SETTING.test(arg))
}

function findRiskyGit(args: readonly string[], covered: readonly number[]): string | undefined {
  const subcommand = subcommandPlace(args)
  const name = args[subcommand] ?? ''
  const after: RiskyOptions = {
    ...GIT_SUBCOMMAND,
    short: Object.hasOwn(GIT_SHORT, name) ? (GIT_SHORT[name] ?? '') : '',
  }
  return covered
    .map((at) => [at, args[at] ?? ''] as const)
    .find(([at, text]) => {
      if (subcommand === -1 || at < subcommand) return GIT_OWN.test(text)
      return isRisky(after, text) || (name === 'config' && (GIT_SETTING.test(text) || GIT_CONFIG_EDITS.test(text)))
    })?.[1]
}
