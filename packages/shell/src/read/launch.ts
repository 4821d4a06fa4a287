import { readsCode } from './input-code.ts'
import { interpreterRuns, isInputFile } from './interpreters.ts'
import { WRAPPERS, type Wrapper } from '../programs/launchers.ts'
import { hasOption, optionTable, optionValue, parseOptions } from '../programs/options.ts'
import type { GivenOption, ParsedOptions } from '../programs/options.ts'
import { fixedScript, launched, notKnown, NOTHING } from './launched.ts'
import type { LaunchInvocation, Launch, LaunchedCommand } from './launched.ts'
import type { Assignment, Word } from './reading.ts'
import { isPosixShell, isShell, readShellInvocation } from './shells.ts'
import { readToolLaunch } from './tool-launch.ts'
import { literalWord } from './words.ts'

export function readLaunch(invocation: LaunchInvocation): Launch {
  const { base, args } = invocation
  if (isShell(base)) return { ...readShell(invocation), dialect: isPosixShell(base) ? 'sh' : 'bash' }
  switch (base) {
    case 'eval':
      return readHere(behindDashes(args))
    case 'trap':
      return readTrap(behindDashes(args))
    case 'source':
    case '.':
      return readScriptFile(args.find((arg) => arg.text !== '--'))
    case 'find':
    case 'gfind':
      return readFind(args)
    case 'fd':
    case 'fdfind':
      return readFd(args)
    case 'watch':
      return readWatch(invocation)
    case 'flock':
      return readFlock(invocation)
    case 'su':
    case 'runuser':
      return readSwitchUser(args)
    case 'script':
      return readScriptOption(args)
    case 'at':
    case 'batch':
    case 'crontab':
      return readLater(base, args)
    case 'parallel':
      return { ...NOTHING, launcher: 'items', unknown: 'parallel builds its commands from its input' }
    default: {
      const wrapper = WRAPPERS.get(base)
      if (wrapper !== undefined) return readWrapped(base, wrapper, invocation)
      const subcommand = args[0] === undefined ? undefined : WRAPPERS.get(`${base} ${args[0].text}`)
      if (subcommand !== undefined) return readWrapped(base, subcommand, { ...invocation, args: args.slice(1) })
      const tool = readToolLaunch(invocation)
      if (tool !== null) return tool
      const runs = interpreterRuns(base, args) ?? (readsCode(base, args) ? 'stdin-script' : null)
      return runs === null ? NOTHING : { ...NOTHING, runs }
    }
  }
}

function readShell({ args, appended, stdin }: LaunchInvocation): Launch {
  const invoked = readShellInvocation(args)
  switch (invoked.kind) {
    case 'script':
      return fixedScript('shell', invoked.script, appended)
    case 'file':
      return readScriptFile(invoked.file)
    case 'nothing':
      return NOTHING
    case 'unknown':
      return notKnown('shell', invoked.reason)
    case 'stdin': {
      const body = stdin.findLast((redirection) => redirection.fd === 0)?.body ?? null
      if (body !== null && !appended) return { ...NOTHING, launcher: 'shell', scripts: [body], runs: 'stdin-script' }
      return { ...notKnown('shell', 'its script comes on its input'), runs: 'stdin-script' }
    }
  }
}

/** A script file is not read. One that is an input of the shell, or whose name is not fixed, is unknown. */
function readScriptFile(file: Word | undefined): Launch {
  const found: Launch = { ...NOTHING, runs: 'file' }
  if (file === undefined) return found
  if (isInputFile(file)) return { ...found, launcher: 'shell', unknown: 'its script comes on its input' }
  return file.expansions.some((expansion) => expansion !== 'tilde')
    ? { ...found, launcher: 'shell', unknown: 'its script is only known when it runs' }
    : found
}

const ONLY_LISTS = /^-(?:[lrdcV]|-version|-help)$/

/** These store a script, mostly from their input, that runs at another time. */
function readLater(base: string, args: readonly Word[]): Launch {
  if (args.some((arg) => ONLY_LISTS.test(arg.text))) return NOTHING
  return { ...notKnown('shell', `${base} runs what it is given at another time`), runs: 'stdin-script' }
}

function behindDashes(args: readonly Word[]): readonly Word[] {
  return args[0]?.text === '--' ? args.slice(1) : args
}

function readTrap(args: readonly Word[]): Launch {
  return args[0] === undefined || args.length < 2 || args[0].text === '-' ? NOTHING : readHere(args.slice(0, 1))
}

/** `eval` and `trap` join their words with spaces and run the result in this shell. */
function readHere(args: readonly Word[]): Launch {
  if (args.some((arg) => arg.dynamic)) return notKnown('shell', 'its script is only known when it runs')
  return {
    ...NOTHING,
    launcher: 'shell',
    scripts: [args.map((arg) => arg.text).join(' ')],
    here: true,
    dialect: 'same',
  }
}

/** For env and similar programs any word with an equals sign is an assignment, whatever the name. */
const ASSIGNMENT = /^([^=]+)=/

/** These run a shell when they get no command. */
const STARTS_SHELL = new Set(['chroot', 'unshare', 'nsenter', 'firejail', 'proot', 'fakeroot', 'fakechroot', 'pkexec'])

function readWrapped(base: string, wrapper: Wrapper, { args, appended }: LaunchInvocation): Launch {
  const parsed = wrapper.anyOptions ? passOptions(args) : parseOptions(args, wrapper.options, true)
  if (!parsed.ok) return notKnown(wrapper.launcher, `${base}: ${parsed.reason}`)
  if (hasOption(parsed.given, ...wrapper.reports)) return NOTHING
  const own = parsed.operands.slice(0, wrapper.operands)
  if (own.some((word) => word.dynamic)) return notKnown(wrapper.launcher, `${base}: its operands are not known`)
  const assignments: Assignment[] = []
  let at = wrapper.operands
  for (; wrapper.assignments && at < parsed.operands.length; at += 1) {
    const word = parsed.operands[at]
    const name = ASSIGNMENT.exec(word?.text ?? '')?.[1]
    if (word === undefined || (name === undefined && word.text !== '-')) break
    if (name !== undefined) assignments.push({ name, value: assignedPart(word, name.length + 1) })
  }
  // After a container or profile, `--` may follow a second time.
  if (wrapper.launcher === 'tool' && at > 0 && parsed.operands[at]?.text === '--') at += 1
  const words = parsed.operands.slice(at)
  const items = wrapper.launcher === 'items'
  if (words.length === 0) {
    if (appended) return notKnown(wrapper.launcher, `${base} runs what it is given as input`)
    if (!STARTS_SHELL.has(base)) return NOTHING
    return { ...notKnown(wrapper.launcher, 'its script comes on its input'), runs: 'stdin-script' }
  }
  const place = items ? optionValue(parsed.given, '-I', '-i', '--replace') : null
  const directory = wrapper.moves ? null : (optionValue(parsed.given, ...wrapper.directory) ?? 'same')
  return {
    ...NOTHING,
    launcher: wrapper.launcher,
    commands: [{ words: withPlace(words, place), assignments, appended: appended || items, directory }],
    unknown: items && completesScript(words, parsed.given) ? 'its script is completed from input' : null,
  }
}

/** Treats every leading word with a dash as an option. */
function passOptions(args: readonly Word[]): ParsedOptions {
  const end = args.findIndex(({ text }) => !text.startsWith('-') || text === '--')
  const own = end === -1 ? args : args.slice(0, end)
  if (own.some((word) => word.dynamic)) return { ok: false, reason: 'its options are not known' }
  const operands = end === -1 ? [] : args.slice(args[end]?.text === '--' ? end + 1 : end)
  return { ok: true, given: own.map(({ text }) => ({ name: text, value: null })), operands }
}

/** Writes the place that `xargs -I %` replaces as `{}`, as find does. */
function withPlace(words: readonly Word[], place: Word | null): readonly Word[] {
  if (place === null || place.dynamic || place.text === '' || place.text === '{}') return words
  return words.map((word) =>
    word.text.includes(place.text) ? { ...word, text: word.text.replaceAll(place.text, '{}') } : word,
  )
}

const HANDS_TO_SHELL = new Set(['eval', 'watch', 'su', 'runuser', 'script', 'flock', 'ssh', 'trap'])

/** True if `xargs -I %` puts its items into a script or the program's name. `{}` is checked by what it runs. */
function completesScript(words: readonly Word[], given: readonly GivenOption[]): boolean {
  const place = optionValue(given, '-I', '-i', '--replace')
  if (place === null || (place.text === '{}' && !place.dynamic)) return false
  const shell = words.findIndex(({ text }) => {
    const base = text.slice(text.lastIndexOf('/') + 1)
    return isShell(base) || HANDS_TO_SHELL.has(base)
  })
  return words.some(({ text }, at) => {
    if (!place.dynamic && !text.includes(place.text)) return false
    if (at === 0) return true
    if (shell === -1 || at < shell) return false
    return place.dynamic || text !== place.text || words[at - 1]?.text.startsWith('-') === true
  })
}

function assignedPart(word: Word, from: number): Word {
  const text = word.text.slice(from)
  return word.dynamic ? { ...word, text } : literalWord(text)
}

const FIND_ACTIONS = new Set(['-exec', '-execdir', '-ok', '-okdir'])

function readFind(args: readonly Word[]): Launch {
  const commands: LaunchedCommand[] = []
  for (let at = 0; at < args.length; at += 1) {
    const action = args[at]?.text ?? ''
    if (!FIND_ACTIONS.has(action)) continue
    const words: Word[] = []
    for (at += 1; at < args.length; at += 1) {
      const word = args[at]
      if (word === undefined || word.text === ';') break
      if (word.text === '+' && words.at(-1)?.text === '{}') break
      words.push(word)
    }
    if (words.length > 0) {
      commands.push({ words, assignments: [], appended: true, directory: action.endsWith('dir') ? null : 'same' })
    }
  }
  return commands.length === 0 ? NOTHING : { ...NOTHING, launcher: 'items', commands }
}

function readFd(args: readonly Word[]): Launch {
  const at = args.findIndex((arg) => /^(?:-[a-zA-Z0-9]*[xX]|--exec|--exec-batch)$/.test(arg.text))
  if (at === -1) {
    const attached = args.some((arg) => /^(?:-[a-zA-Z0-9]*[xX].|--exec(?:-batch)?=)/.test(arg.text))
    return attached ? notKnown('items', 'fd: the command is not understood') : NOTHING
  }
  const rest = args.slice(at + 1)
  const end = rest.findIndex((arg) => arg.text === ';')
  const words = end === -1 ? rest : rest.slice(0, end)
  if (words.length === 0) return notKnown('items', 'fd: the command is missing')
  return launched('items', words, { appended: true })
}

const WATCH = optionTable(
  '-b -c -d? -e -g -n: -p -q: -t -w -x --beep --color --differences? --errexit --chgexit --interval: --precise --no-title --no-wrap --exec --equexit:',
)

function readWatch({ args, appended }: LaunchInvocation): Launch {
  const parsed = parseOptions(args, WATCH, true)
  if (!parsed.ok) return notKnown('transparent', `watch: ${parsed.reason}`)
  const words = parsed.operands
  if (words.length === 0) return appended ? notKnown('transparent', 'watch runs what it is given as input') : NOTHING
  if (hasOption(parsed.given, '-x', '--exec')) return launched('transparent', words, { appended })
  // The words are joined and passed to a shell, so a quoted word becomes script text again.
  const unknown = words.some((word) => word.dynamic)
  return unknown
    ? notKnown('shell', 'its script is only known when it runs')
    : { ...NOTHING, launcher: 'shell', scripts: [words.map((word) => word.text).join(' ')] }
}

const FLOCK = optionTable(
  '-s -x -e -u -n -w: -E: -o -F --shared --exclusive --unlock --nonblock --nb --timeout: --wait: --conflict-exit-code: --close --no-fork --verbose',
)

function readFlock({ args, appended }: LaunchInvocation): Launch {
  const parsed = parseOptions(args, FLOCK, true)
  if (!parsed.ok) return notKnown('transparent', `flock: ${parsed.reason}`)
  const [lock, first, second] = parsed.operands
  if (lock === undefined || first === undefined) return NOTHING
  if (lock.dynamic) return notKnown('transparent', 'flock: its operands are not known')
  if (first.text === '-c' || first.text === '--command') {
    return second === undefined ? NOTHING : fixedScript('shell', second, appended)
  }
  return launched('transparent', parsed.operands.slice(1), { appended })
}

/** `su -c 'script'` and `runuser -u name command`. Without either they start a shell that reads its input. */
function readSwitchUser(args: readonly Word[]): Launch {
  const at = args.findIndex((arg) => /^(?:-[a-z]*c|--command|--session-command)$/.test(arg.text))
  const script = at === -1 ? undefined : args[at + 1]
  if (script !== undefined) return fixedScript('elevated', script)
  const user = args.findIndex((arg) => arg.text === '-u' || arg.text === '--user')
  const words = user === -1 ? [] : args.slice(user + 2)
  const command = words[0]?.text === '--' ? words.slice(1) : words
  if (command.length > 0 && command[0]?.text.startsWith('-') === false) {
    return launched('elevated', command, { directory: null })
  }
  return { ...notKnown('elevated', 'its script comes on its input'), runs: 'stdin-script' }
}

/** `script -c 'text' file` records a session. Without `-c` it starts a shell. */
function readScriptOption(args: readonly Word[]): Launch {
  const at = args.findIndex((arg) => /^(?:-[a-z]*c|--command)$/.test(arg.text))
  const script = at === -1 ? undefined : args[at + 1]
  if (script !== undefined) return fixedScript('shell', script)
  return { ...notKnown('shell', 'its script comes on its input'), runs: 'stdin-script' }
}
