import { interpreterRuns, isInputFile } from './interpreters.ts'
import type { Word } from './reading.ts'
import { isShell, readShellInvocation } from './shells.ts'
import { literalWord } from './words.ts'

type Reads = (texts: readonly string[], args: readonly Word[]) => boolean

function names(list: string): string[] {
  return list.split(' ')
}

/** Reads commands from its input unless one of these options is given. */
function unless(option: RegExp): Reads {
  return (texts) => !texts.some((text) => option.test(text))
}

const NEVER = /(?!)/

/** Reads commands from its input only with fewer operands than `count`. */
function below(count: number, takesValue = NEVER, only = NEVER): Reads {
  return (texts) => {
    if (texts.some((text) => only.test(text))) return false
    const operands = texts.filter((text, at) => !text.startsWith('-') && !takesValue.test(texts[at - 1] ?? ''))
    return operands.length < count
  }
}

/** Options of ssh that take the next word as their value. */
const SSH_VALUE = /^-[46AaCfGgKkMNnqsTtVvXxYy]*[BbcDEeFIiJLlmOopQRSWw]$/
const SSH_NO_INPUT = /^-[46AaCGgKkMqsTtvXxYy]*[NnfVWOQG]/

/** Returns the words of the remote command, which the remote shell reads as one text. */
export function remoteWords(args: readonly Word[]): readonly Word[] {
  let at = 0
  while (args[at]?.text.startsWith('-') === true) at += SSH_VALUE.test(args[at]?.text ?? '') ? 2 : 1
  return args.slice(at + 1)
}

const readsRemotely: Reads = (texts, args) => {
  const words = remoteWords(args)
  const own = texts.slice(0, texts.length - words.length)
  if (own.some((text) => SSH_NO_INPUT.test(text))) return false
  if (words.length === 0) return true
  // The result of a remote expansion is unknown. Without one, it matters whether a program that reads code is named.
  const text = words.map((word) => word.text).join(' ')
  return /[$`]/.test(text) || namesReader(text.split(/[\s;|&()<>"']+/).map((word) => literalWord(word)))
}

/** Each word is compared with all that follow. Longer commands count as reading code. */
const MOST_WORDS = 500

/** True if a word names a shell, interpreter or similar program that gets its code from its input only. */
function namesReader(words: readonly Word[]): boolean {
  if (words.length > MOST_WORDS) return true
  let isHandedOn = false
  return words.some(({ text }, at) => {
    const base = text.slice(text.lastIndexOf('/') + 1)
    const rest = words.slice(at + 1)
    if (isShell(base)) return readShellInvocation(rest).kind !== 'script' && readShellInvocation(rest).kind !== 'file'
    if (interpreterRuns(base, rest) === 'stdin-script') return true
    const reads = READERS.get(base)
    if (reads === readsRemotely || reads === readsInside) {
      // The first one checks all that follows. Checking each again would double the work with every `ssh h ssh h …`.
      if (isHandedOn) return false
      isHandedOn = true
    }
    return reads !== undefined && readsCode(base, rest)
  })
}

const RUNS_INSIDE = /^(?:exec|run|attach|start|shell|ssh|rsh|debug|create)$/
/** These start a shell when they get no command. */
const STARTS_SHELL =
  /(?:^|\/)(?:chroot|script|nsenter|unshare|setpriv|fakeroot|fakechroot|proot|firejail|bwrap|tmux|screen|su|runuser|sudo|doas)$/
const OPENS_SHELL = /^(?:attach|shell|ssh|rsh)$/
const GIVES_COMMAND = /^(?:-c|-C|--command)/
const HANDS_INPUT_ON = /^(?:-[a-zA-Z]*i[a-zA-Z]*|--interactive(?:=true)?|--stdin(?:=true)?)$/

/** In a container: reads code if a shell is named, or if the image's own program gets the input. */
const readsInside: Reads = (texts, args) => {
  const at = texts.findIndex((text) => RUNS_INSIDE.test(text))
  if (at === -1) return texts.includes('build') && texts.includes('-')
  const rest = args.slice(at + 1)
  if (namesReader(rest)) return true
  if (OPENS_SHELL.test(texts[at] ?? '') && !rest.some(({ text }) => GIVES_COMMAND.test(text))) {
    return rest.filter(({ text }) => !text.startsWith('-')).length < 2
  }
  // `exec` always has a command, and none found so far reads code.
  const mayStartShell = rest.some(({ dynamic, text }) => dynamic || STARTS_SHELL.test(text))
  if (texts[at] === 'exec' && !mayStartShell) return false
  const command = rest.find(({ text }) => isShell(text.slice(text.lastIndexOf('/') + 1)))
  return command === undefined && rest.some(({ text }) => HANDS_INPUT_ON.test(text))
}

/** Options such as `-f -`, `-f/dev/stdin` and `--file=-` make the input the program. */
function programOption(option: RegExp): Reads {
  return (texts, args) =>
    texts.some((text, at) => {
      const attached = option.exec(text)?.[1]
      if (attached === undefined) return false
      const value = attached === '' ? args[at + 1] : literalWord(attached)
      return value !== undefined && (value.text === '-' || isInputFile(value) || value.expansions.includes('process'))
    })
}

const readsFile = programOption(/^(?:-f|--file(?:=|$))(.*)$/)
const fileOrInput: Reads = (texts, args) =>
  texts.includes('-') || below(1, NEVER, /^--?(?:e|p|eval|version|help)$/)(texts, args)

const SQL_VALUE = /^--?(?:cmd|init|separator|newline|nullvalue|mmap|vfs|lookaside|pagecache)$/

/** Programs that treat their input as code and can run other programs by it. */
const READERS: ReadonlyMap<string, Reads> = new Map<string, Reads>([
  ...names('ssh slogin autossh rsh mosh plink').map((name) => [name, readsRemotely] as const),
  ...names('docker podman nerdctl kubectl oc lxc incus machinectl vagrant docker-compose gcloud fly flyctl crictl').map(
    (name) => [name, readsInside] as const,
  ),
  ...names('nc ncat netcat nc.openbsd nc.traditional').map((name) => [name, unless(/^-[a-zA-Z]*[zh]/)] as const),
  ...names('socat telnet ed red ex vi vim nvim view gvim ftp lftp sftp smbclient').map(
    (name) => [name, unless(/^-(?:h|V|-help|-version)$/)] as const,
  ),
  ...names(
    'gdb lldb dc gnuplot octave R guile sbcl jshell groovysh scala ghci irb pry ipython ipython3 iex erl clj',
  ).map((name) => [name, unless(/^--?(?:h|v|V|help|version)$/)] as const),
  ['adb', (texts) => texts.at(-1) === 'shell'],
  ...names('newgrp sg login').map((name) => [name, unless(/^-c$/)] as const),
  ...names('tsx ts-node esno qjs gjs elixir racket groovy raku swift').map((name) => [name, fileOrInput] as const),
  ...names('gcc g++ cc clang clang++ tcc rustc go').map(
    (name) => [name, (texts: readonly string[]) => texts.includes('-')] as const,
  ),
  ['m4', fileOrInput],
  [
    'psql',
    (texts, args) =>
      readsFile(texts, args) || unless(/^(?:-[a-zA-Z]*[cflV?]|--(?:command|file|list|help|version))/)(texts, args),
  ],
  ...names('mysql mariadb').map((name) => [name, unless(/^(?:-[eV?]|--(?:execute|help|version))/)] as const),
  ...names('sqlite3 duckdb').map((name) => [name, below(2, SQL_VALUE, /^--?(?:c|help|version)$/)] as const),
  ...names('mongosh mongo cqlsh sqlcmd sqlplus clickhouse-client').map(
    (name) => [name, unless(/^(?:-[eqQ]|--(?:eval|execute|query|help|version))/)] as const,
  ),
  ['redis-cli', below(1, /^-[hpsaunriDd]$|^--(?:user|pass|sni|cacert|cert|key)$/, /^--(?:help|version)$/)],
  ...names('awk gawk mawk nawk sed gsed').map((name) => [name, readsFile] as const),
  ...names('make gmake').map((name) => [name, programOption(/^(?:-[a-zA-Z]*?f|--(?:make)?file(?:=|$))(.*)$/)] as const),
])

export function readsCode(base: string, args: readonly Word[]): boolean {
  const reads = READERS.get(base)
  return (
    reads !== undefined &&
    reads(
      args.map(({ text }) => text),
      args,
    )
  )
}
