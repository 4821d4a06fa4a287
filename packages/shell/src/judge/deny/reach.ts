import type { SimpleCommand, Word } from '../../read/index.ts'
import { isOption, isReadable } from './argument.ts'
import { argumentsReach } from './arguments-reach.ts'
import { embeddedCommands, readMaybe, readScript, type Embedded } from './embedded-commands.ts'
import { madeFiles, runsMadeFile } from './made-files.ts'
import { plainCode } from './plain-code.ts'
import { takesValue } from '../../programs/option-names.ts'
import { programBase } from '../../programs/program-base.ts'
import {
  feedsShell,
  hasSubcommands,
  isAwk,
  isLanguage,
  isRemote,
  isSed,
  runsNoArgument,
  takesInputAsData,
} from '../../programs/programs.ts'
import { strongest, weakest, type Reach } from './reaches.ts'
import { HARMLESS_SETTING } from '../../programs/git-options.ts'
import { isFreeVariable, isHarmlessSetting } from '../grammar/variables.ts'
import { matchesLoosely, type PatternWord, type ShellPattern } from '../patterns/shell-pattern.ts'
import { literalWord } from '../../read/words.ts'
import { matchesText } from '../patterns/wildcard.ts'

/** Nested scripts are followed this far; anything deeper may be any program. */
const DEEPEST = 8

/** Where any word may be the program, this many words after it are looked at; the rest may be anything. */
const MOST_FOLLOWING = 200

/**
 * Returns whether a deny or ask applies to a command. It is read as widely as possible: any folder, any order and
 * spelling of options, more arguments than it names, and programs that may run their arguments or input.
 */
export function reach(pattern: ShellPattern, command: SimpleCommand, depth = 0): Reach {
  const { name, unknown } = command
  const doubt: Reach = unknown === null ? 'no' : 'maybe'
  if (name === null) {
    return strongest(doubt, throughInput(pattern, '', command, depth), throughSettings(pattern, command, depth))
  }
  if (!isReadable(name) || depth > DEEPEST) return 'maybe'
  const base = programBase(name.text)
  // A plain sh reads `((` as one subshell in another.
  if (base === '((') return mentions(pattern, command.source) ? 'maybe' : doubt
  const direct = strongest(
    ...sameRuns(base, command).map((each) =>
      matchesText(pattern.base, each.base) ? argumentsReach(pattern, each.base, each) : 'no',
    ),
  )
  if (direct === 'yes') return direct
  if (takesData(base, command)) return strongest(direct, doubt, renamed(pattern, base, command), added(base, command))
  const named = throughArguments(pattern, base, command)
  const known = strongest(direct, doubt, named)
  // The checks below return `maybe` at most.
  if (known !== 'no') return known
  return strongest(
    added(base, command),
    throughInput(pattern, base, command, depth),
    throughScripts(pattern, base, command, depth),
    throughSettings(pattern, command, depth),
  )
}

/** `CC='rm -f' make`: a variable that other programs read names the program. */
function throughSettings(pattern: ShellPattern, { assignments }: SimpleCommand, depth: number): Reach {
  const isMeant = assignments.some(
    ({ name, value }) =>
      !isHarmlessSetting(name, '') &&
      !(/^[a-z_]/.test(name) && isFreeVariable(name)) &&
      isReadable(value) &&
      readMaybe(value.text).commands.some((each) => {
        const found = reach(pattern, each, depth + 1)
        // A value that begins like an option may contain a program to run; prose does not begin like that.
        return found === 'yes' || (found === 'maybe' && isOption(value.text))
      }),
  )
  return isMeant ? 'maybe' : 'no'
}

const COPIES = /^(?:cp|mv|ln|install|link|cat|dd)$/

/** The command may copy the program, which then runs under another name. */
function renamed(pattern: ShellPattern, base: string, { args }: SimpleCommand): Reach {
  if (!COPIES.test(base)) return 'no'
  const isCopied = args.some(({ text }) => text.includes('/') && matchesText(pattern.base, programBase(text)))
  return isCopied ? 'maybe' : 'no'
}

const RUNS_INSIDE = /^(?:exec|run|shell|ssh)$/

/** What is added or inserted at run time may be the program that is run. */
function added(base: string, { appended, args, runs }: SimpleCommand): Reach {
  if (feedsShell(base) && namesProgramLate(args)) return 'maybe'
  if (!appended) return 'no'
  if (isRemote(base) || (feedsShell(base) && args.some(({ text }) => RUNS_INSIDE.test(text)))) return 'maybe'
  if (args.some(({ text }) => !isOption(text))) return 'no'
  return runs === 'inline-code' || base === 'git' || isAwk(base) || isSed(base) ? 'maybe' : 'no'
}

/** `docker exec c $X`: a word that may become several follows the container, and is no value of an option. */
function namesProgramLate(args: readonly Word[]): boolean {
  const inside = args.findIndex(({ text }) => RUNS_INSIDE.test(text))
  if (inside === -1) return false
  return args.some(
    (word, at) => at > inside + 1 && word.splits && /^[$`]/.test(word.text) && !isOption(args[at - 1]?.text ?? ''),
  )
}

interface ProgramRun extends Pick<SimpleCommand, 'args' | 'appended'> {
  readonly base: string
}

/** `git-push` is also `git push`. */
function sameRuns(base: string, { appended, args }: SimpleCommand): ProgramRun[] {
  const own = { base, args, appended }
  const text = /^git-(.+)$/.exec(base)?.[1]
  if (text === undefined) return [own]
  return [own, { base: 'git', args: [literalWord(text), ...args], appended }]
}

/** True when the program runs none of its arguments. */
function takesData(base: string, { args, runs }: SimpleCommand): boolean {
  if (!runsNoArgument(base) || runs !== null) return false
  // A `git config` may set a program to run later.
  const isConfig = base === 'git' && args.some(({ text }) => text === 'config')
  return !isConfig || !args.some(({ text }) => /^[\w-]+\../.test(text) && !HARMLESS_SETTING.test(text))
}

/**
 * The program may be named in the input that another one reads as code. What a shell reads is among the commands
 * already.
 */
function throughInput(pattern: ShellPattern, base: string, command: SimpleCommand, depth: number): Reach {
  const { launcher, name, redirections, runs, unknown } = command
  if (launcher === 'shell' && unknown === null) return 'no'
  if (runs === 'stdin-script') {
    // The last input counts. An input without a fixed text comes through a pipe, from a file, or from what runs the
    // program.
    const body = redirections.findLast(({ fd }) => fd === 0)?.body ?? null
    if (feedsShell(base) && body !== null) return embeddedReach(pattern, readScript(body), depth)
    return plainCode(command) === null ? 'maybe' : 'no'
  }
  const inputs = redirections.filter(({ kind }) => kind === 'here-document' || kind === 'here-string')
  const isData = launcher !== null || name === null || takesInputAsData(base)
  const isNamed = inputs.some(({ body, target }) => {
    const text = body ?? target?.text
    if (text === undefined || mentions(pattern, text)) return true
    return !isData && embeddedReach(pattern, readMaybe(text), depth) !== 'no'
  })
  return isNamed ? 'maybe' : 'no'
}

function embeddedReach(pattern: ShellPattern, { commands, isObscure }: Embedded, depth: number): Reach {
  const made = madeFiles(commands)
  const isMeant = (each: SimpleCommand): boolean => runsMadeFile(each, made) || reach(pattern, each, depth + 1) !== 'no'
  return isObscure || commands.some(isMeant) ? 'maybe' : 'no'
}

/**
 * A program that is not known to treat its input as data may run what an earlier command of the text prints into it.
 * `earlier` are these commands.
 */
export function throughPipe(pattern: ShellPattern, command: SimpleCommand, earlier: readonly SimpleCommand[]): Reach {
  const { launcher, name, runs } = command
  if (name === null || !isReadable(name) || launcher !== null || (runs !== null && runs !== 'stdin-script')) return 'no'
  if (takesInputAsData(programBase(name.text))) return 'no'
  return earlier.some((each) => isNamedIn(pattern, tokensOf(each))) ? 'maybe' : 'no'
}

/** A word that is no subcommand of theirs is a script of the project, or one of its programs. */
const RUNS_UNKNOWN_WORDS = /^(?:yarn|pnpm|bun)$/
const OWN_SUBCOMMAND =
  /^(?:rm|ln|link|add|audit|exec|import|init|install|list|ls|node|pack|patch|publish|run|test|up|why)$/

/** The program may be named in the arguments of one that is not known to run others. */
function throughArguments(pattern: ShellPattern, base: string, command: SimpleCommand): Reach {
  const { args, appended, runs } = command
  if (showsWhatItRuns(command)) return 'no'
  const operand = args.findIndex((arg) => !isOption(arg.text))
  const mayBeProgram = RUNS_UNKNOWN_WORDS.test(base) && !OWN_SUBCOMMAND.test(args[operand]?.text ?? '')
  const isSubcommand = hasSubcommands(base) && !mayBeProgram && !takesValue(base, args[operand - 1]?.text ?? '')
  let found: Reach = 'no'
  for (const [at, word] of args.entries()) {
    if (!isReadable(word) || (at === operand && isSubcommand)) continue
    const value = word.text.slice(word.text.indexOf('=') + 1)
    for (const text of new Set(isOption(word.text) ? [value] : [word.text, value])) {
      if (/[\s;|&(]/.test(text)) {
        if (mentions(pattern, text)) found = strongest(found, 'maybe')
        continue
      }
      if (isOption(text) || !matchesText(pattern.base, programBase(text))) continue
      const rest = args.slice(at + 1, at + 1 + MOST_FOLLOWING)
      const isCut = at + 1 + rest.length < args.length
      const inner = argumentsReach(pattern, programBase(text), { args: rest, appended: appended || isCut })
      found = strongest(found, runs === 'file' && at === operand ? inner : weakest(inner, 'maybe'))
    }
  }
  return found
}

/** What a known launcher runs is among the commands already. */
function showsWhatItRuns({ launcher, unknown }: SimpleCommand): boolean {
  return launcher !== null && launcher !== 'tool' && unknown === null
}

const INPUT_FILE = /(?:^|\/)(?:stdin|fd\/\d+)$/

/** The program may be run by a script, or by code of another language, in the arguments. */
function throughScripts(pattern: ShellPattern, base: string, command: SimpleCommand, depth: number): Reach {
  if (showsWhatItRuns(command) || isAwk(base)) return 'no'
  if (isLanguage(base) && goesOn(base, command.args)) return 'maybe'
  if (command.runs === 'inline-code') return plainCode(command) === null ? 'maybe' : 'no'
  if (!takesInputAsData(base) && command.args.some(({ text }) => INPUT_FILE.test(text))) return 'maybe'
  // A script may take code as an argument, too: `-m timeit '…'`, `manage.py shell -c '…'`.
  const isCode = ({ text }: Word): boolean => /\(|\bdata:/.test(text)
  if (command.runs === 'file' && isLanguage(base) && command.args.some(isCode)) return 'maybe'
  return embeddedReach(pattern, embeddedCommands(base, command), depth)
}

/** With these options, a language reads more code from its input after its script has ended. */
const GOES_ON: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:i?python|pypy)/, /^-[a-zA-Z]*i/],
  [/^(?:node|nodejs|bun|tsx|ts-node)/, /^(?:-i|--interactive)$/],
  [/^perl/, /^-[a-zA-Z]*d/],
  [/^php/, /^-a$/],
]

function goesOn(base: string, args: readonly Word[]): boolean {
  const option = GOES_ON.find(([name]) => name.test(base))?.[1]
  const end = args.findIndex(({ text }) => !isOption(text))
  return option !== undefined && (end === -1 ? args : args.slice(0, end)).some(({ text }) => option.test(text))
}

/** True when the words of a rule occur in a text that cannot be parsed. */
export function mentions(pattern: ShellPattern, text: string): boolean {
  return isNamedIn(pattern, splitTokens(text))
}

interface CodeTokens {
  readonly texts: readonly string[]
  /** The program names that the texts would be. */
  readonly bases: readonly string[]
}

const tokensFound = new WeakMap<SimpleCommand, CodeTokens>()

function tokensOf(command: SimpleCommand): CodeTokens {
  const tokens = tokensFound.get(command) ?? splitTokens(command.source)
  tokensFound.set(command, tokens)
  return tokens
}

function splitTokens(text: string): CodeTokens {
  const texts = [...new Set(text.replace(/["'\\]/g, '').split(/[^\p{L}\p{N}_./+~-]+/u))]
  return { texts, bases: texts.map(programBase) }
}

function isNamedIn(pattern: ShellPattern, { bases, texts }: CodeTokens): boolean {
  const isNamed = (word: PatternWord): boolean => texts.some((text) => matchesLoosely(word, text))
  if (!bases.some((base) => matchesText(pattern.base, base))) return false
  return pattern.words.every((word) => isOption(word.text) || isNamed(word))
}
