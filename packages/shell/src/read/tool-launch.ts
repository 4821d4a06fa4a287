import { fixedScript, launched, notKnown, NOTHING } from './launched.ts'
import type { LaunchInvocation, Launch } from './launched.ts'
import { hasOption, optionTable, optionValue, parseOptions } from '../programs/options.ts'
import type { OptionTable } from '../programs/options.ts'
import { quote } from './quote.ts'
import type { Word } from './reading.ts'

/** Reads programs that run what they are given, but not like a plain wrapper; null for all others. */
export function readToolLaunch(invocation: LaunchInvocation): Launch | null {
  const { args, base } = invocation
  switch (base) {
    case 'ip':
      return readNamespace(args)
    case 'entr':
      return readEntr(args)
    case 'watchexec':
      return readWatchexec(args)
    case 'bwrap':
      return readBubblewrap(args)
    case 'hyperfine':
      return readTexts(base, args, HYPERFINE)
    case 'concurrently':
      return readTexts(base, args, CONCURRENTLY)
    case 'cross-env-shell':
      return readTexts(base, args, NO_OPTIONS)
    case 'bun':
      return readBun(args)
    case 'npm':
    case 'pnpm':
    case 'yarn':
      return readPackageTool(base, args)
    case 'nix-shell':
    case 'nix':
      return readNix(base, args)
    case 'tmux':
      return onlyShows(
        base,
        args,
        /^(?:-V|ls|info|list-.*|has|has-session|capture-pane|capturep|kill-.*|show-.*|attach|a)$/,
      )
    case 'screen':
      return onlyShows(base, args, /^-(?:ls|list|v|wipe|r|x)$/)
    case 'fc':
      return onlyShows(base, args, /^-[nr]*l[nr]*$/)
    case 'systemd-nspawn':
    case 'start-stop-daemon':
    case 'xterm':
    case 'gnome-terminal':
    case 'konsole':
    case 'alacritty':
    case 'kitty':
    case 'foot':
    case 'wezterm':
    case 'lxc-attach':
      return onlyShows(base, args, /^(?:-h|-V|--help|--version|--status|--list)$/)
    case 'machinectl':
      return args.some(({ text }) => text === 'shell') ? unclear(base) : null
    default:
      return null
  }
}

/** With one of these arguments it only shows something. Otherwise it runs something unknown. */
function onlyShows(base: string, args: readonly Word[], telling: RegExp): Launch {
  const first = args[0]
  if (first !== undefined && !first.dynamic && telling.test(first.text)) return NOTHING
  return unclear(base)
}

/** Not a launcher, so that a rule can allow the command if it is spelled out in full. */
function unclear(base: string): Launch {
  return { ...NOTHING, unknown: `${base} runs what it is given` }
}

const NETNS = /^netn?s?$/
const VRF = 'vrf'

/** `ip netns exec name command`, also in the abbreviations that ip accepts. */
function readNamespace(args: readonly Word[]): Launch | null {
  const at = args.findIndex(({ text }) => NETNS.test(text) || text === VRF)
  if (at === -1 || !'exec'.startsWith(args[at + 1]?.text ?? 'none')) return null
  const words = args.slice(at + 3)
  const isPlain = args.slice(0, at).every(({ text }) => /^-[46]$/.test(text)) && args[at + 2]?.dynamic === false
  if (!isPlain) return notKnown('tool', 'ip: its options are not understood')
  return words.length === 0 ? NOTHING : launched('tool', words)
}

const ENTR = optionTable('-a -c -d -n -p -r -s -x -z')

function readEntr(args: readonly Word[]): Launch {
  const parsed = parseOptions(args, ENTR, true)
  const [script] = parsed.ok ? parsed.operands : []
  if (!parsed.ok || script === undefined) return notKnown('tool', 'entr: what it runs is not understood')
  return hasOption(parsed.given, '-s')
    ? fixedScript('tool', script)
    : launched('tool', parsed.operands, { appended: true })
}

const WATCHEXEC = optionTable(
  '-c? -q -r -p -n -N -v -w: -W: -o: -s: -d: -e: -f: -F: -i: --clear? --quiet --restart --postpone --no-shell --notify ' +
    '--no-vcs-ignore --no-project-ignore --no-default-ignore --no-global-ignore --print-events --watch: --exts: --filter: ' +
    '--ignore: --on-busy-update: --signal: --stop-signal: --stop-timeout: --debounce: --delay-run: --poll?',
)

/** The words are one text for a shell, unless an option turns it off. Quoting differs, so both are read. */
function readWatchexec(args: readonly Word[]): Launch {
  const parsed = parseOptions(args, WATCHEXEC, true)
  if (!parsed.ok) return notKnown('tool', `watchexec: ${parsed.reason}`)
  const words = parsed.operands
  if (words.length === 0) return NOTHING
  if (hasOption(parsed.given, '-n', '--no-shell')) return launched('tool', words)
  if (words.some((word) => word.dynamic)) return notKnown('tool', 'its script is only known when it runs')
  const texts = words.map(({ text }) => text)
  return { ...NOTHING, launcher: 'tool', scripts: [...new Set([texts.join(' '), quote(texts)])] }
}

const BWRAP_NONE =
  /^--(?:unshare-[a-z-]+|share-net|die-with-parent|new-session|as-pid-1|clearenv|disable-userns|assert-userns-disabled|keep-fd)$/
const BWRAP_ONE =
  /^--(?:proc|dev|tmpfs|mqueue|dir|chdir|unsetenv|uid|gid|hostname|remount-ro|cap-add|cap-drop|size|perms)$/
const BWRAP_TWO = /^--(?:(?:ro-|dev-)?bind(?:-try)?|symlink|setenv|chmod)$/

function readBubblewrap(args: readonly Word[]): Launch {
  let at = 0
  for (; args[at]?.text.startsWith('-') === true && args[at]?.text !== '--'; at += 1) {
    const text = args[at]?.text ?? ''
    if (BWRAP_TWO.test(text)) at += 2
    else if (BWRAP_ONE.test(text)) at += 1
    else if (!BWRAP_NONE.test(text)) return notKnown('tool', `bwrap: option ${text} is not understood`)
  }
  if (args.slice(0, at).some((word) => word.splits)) return notKnown('tool', 'bwrap: its options are not known')
  const words = args.slice(args[at]?.text === '--' ? at + 1 : at)
  return words.length === 0 ? NOTHING : launched('tool', words, { directory: null })
}

const NO_OPTIONS = optionTable('')
const HYPERFINE = optionTable(
  '-w: -m: -M: -r: -N -i -u: --warmup: --min-runs: --max-runs: --runs: --ignore-failure --style: --time-unit: --show-output',
)
const CONCURRENTLY = optionTable(
  '-k -r -g -m: -n: -c: -s: -p: -t: --kill-others --kill-others-on-fail --raw --group --max-processes: --names: ' +
    '--prefix-colors: --success: --prefix: --timestamp-format:',
)

/** Each operand is a script. */
function readTexts(base: string, args: readonly Word[], table: OptionTable): Launch {
  const parsed = parseOptions(args, table)
  if (!parsed.ok) return notKnown('tool', `${base}: ${parsed.reason}`)
  if (parsed.operands.some((word) => word.dynamic)) return notKnown('tool', 'its script is only known when it runs')
  return { ...NOTHING, launcher: 'tool', scripts: parsed.operands.map(({ text }) => text) }
}

/** `runs` is 'file' because bun may run a script of the project for the same words. */
function readBun([subcommand, ...words]: readonly Word[]): Launch | null {
  const script = words[0]
  if (script === undefined) return null
  if (subcommand?.text === 'exec') return { ...fixedScript('tool', script), runs: 'file' }
  if (subcommand?.text !== 'x') return null
  return script.text.startsWith('-') ? unclear('bun x') : { ...launched('tool', words), runs: 'file' }
}

const RUNS_BINARY = /^(?:exec|x|dlx)$/

/** Options before the subcommand: which word is the program is not determined. */
function readPackageTool(base: string, args: readonly Word[]): Launch | null {
  if (args[0]?.text.startsWith('-') !== true || !args.some(({ text }) => RUNS_BINARY.test(text))) return null
  return { ...NOTHING, unknown: `${base}: what stands before the subcommand is not understood` }
}

const NIX_RUN = optionTable('--run: --command: -c: -p --packages --pure --impure')

function readNix(base: string, args: readonly Word[]): Launch | null {
  const runs = args.some(({ text }) => /^(?:--run|--command|-c)$/.test(text))
  if (!runs) return null
  const parsed = parseOptions(args, NIX_RUN)
  const script = parsed.ok && base === 'nix-shell' ? optionValue(parsed.given, '--run', '--command') : null
  return script === null ? unclear(base) : fixedScript('tool', script)
}
