import type { Assignment, SimpleCommand } from '../../read/index.ts'
import { isOption, mayBecomeOption } from '../deny/argument.ts'
import { isFreeVariable, isHarmlessSetting } from '../grammar/variables.ts'
import { readArguments } from '../deny/given-arguments.ts'
import { isGitLook } from './git-looks.ts'
import { isAwk, isSed, neverWrites } from '../../programs/programs.ts'
import { findUnlisted } from '../allow/listed.ts'
import { wordList } from '../../programs/word-list.ts'
import { changesFiles, isWriter } from './writing-commands.ts'

/** Programs that only read, unless an option says otherwise. */
const LOOKS = wordList(
  'rg ag ack fd fdfind find gfind sed gsed awk gawk mawk nawk sort uniq xxd tree yq file date less more man bat batcat nm objdump readelf size',
)

/** Launchers that write a file of their own. */
const KEEPS_RECORD = wordList('script flock perf valgrind firejail rlwrap')

/** Programs that only read with these subcommands. */
const WITH_WORDS: ReadonlyMap<string, RegExp> = new Map([
  ['docker', /^(?:ps|images|logs|inspect|version|info|stats|port|top|diff|history)$/],
  ['podman', /^(?:ps|images|logs|inspect|version|info|stats|port|top|diff|history)$/],
  ['kubectl', /^(?:get|describe|logs|version|top|explain|api-resources|cluster-info)$/],
  ['npm', /^(?:ls|list|view|outdated|root|prefix|why|explain|--version|-v)$/],
  ['pnpm', /^(?:ls|list|why|outdated|root|--version|-v)$/],
  ['systemctl', /^(?:status|is-active|is-enabled|list-units|list-unit-files|show|cat)$/],
  ['go', /^version$/],
])

const ASKS_VERSION = /^(?:-v|-V|--version)$/
const INTERPRETER = /^(?:node|deno|bun|python|perl|ruby|php|lua|java|rustc|gcc|clang)[\d.]*$/
const LISTS_ARCHIVE = /^(?:-?[a-zA-Z]*t[a-zA-Z]*|--list)$/
const CHANGES_ARCHIVE = /^(?:-?[a-zA-Z]*[xcruA][a-zA-Z]*|--(?:cr|app|up|ext|get|del|con|cat).*)$/
const FETCHES_SETTINGS = /^(?:-[a-zA-Z]*K|--conf|--libcurl|--engine|--exec|--use-ask|--input)/

/** Options with which a program that otherwise prints writes a file. */
const OUTPUT: RegExp = /^(?:-[a-zA-Z]*o|--o)/
const WRITES_WITH: ReadonlyMap<string, RegExp> = new Map([
  ...['iconv', 'shuf', 'base64', 'base32'].map((name) => [name, OUTPUT] as const),
  ['ss', /^(?:-[a-zA-Z]*D|--diag)/],
])

/** True for a command that is known to change no file. What it runs is judged on its own. */
export function isReadOnly(command: SimpleCommand): boolean {
  const { appended, args, assignments, launcher, name, program: base, runs, unknown } = command
  if (unknown !== null) return false
  if (assignments.some(decides)) return false
  if (name === null) return true
  if (base === null) return false
  const texts = args.map(({ text }) => text)
  if (texts.length === 1 && /^--(?:help|version)$/.test(texts[0] ?? '')) return true
  if (runs !== null) return runs === 'stdin-script' && launcher === 'shell' && !KEEPS_RECORD.has(base)
  if (INTERPRETER.test(base)) return texts.length > 0 && texts.every((text) => ASKS_VERSION.test(text))
  if (neverWrites(base)) return true
  // Arguments added at run time may be options.
  if (appended) return false
  if (base === 'git' || base.startsWith('git-')) return isGitLook(base, args)
  if (LOOKS.has(base)) return changesFiles(command) === 'no' && hasNoRisk(base, command)
  if (base === 'tar' || base === 'bsdtar') return listsArchive(texts) && !args.some(mayBecomeOption)
  const writing = WRITES_WITH.get(base)
  if (writing !== undefined) return !texts.some((text) => writing.test(text)) && !args.some(mayBecomeOption)
  if (base === 'tsc')
    return texts.includes('--noEmit') && !texts.some((text) => /^(?:-b|--(?:build|incr|gen|ts))/i.test(text))
  const words = WITH_WORDS.get(base)
  if (words !== undefined) return words.test(subcommandOf(base, command))
  if (isWriter(base)) {
    const isTold = texts.some((text) => FETCHES_SETTINGS.test(text)) || args.some(mayBecomeOption)
    return changesFiles(command) === 'no' && !isTold
  }
  return launcher !== null && launcher !== 'runner' && !KEEPS_RECORD.has(base)
}

/** `GIT_TRACE=out git log` writes. */
function decides({ name, value }: Assignment): boolean {
  return !isFreeVariable(name) && !isHarmlessSetting(name, value.text)
}

/** Returns the subcommand; empty when it may be the value of an unknown option. */
function subcommandOf(base: string, command: SimpleCommand): string {
  const [first] = readArguments(base, command).operands
  if (first === undefined) return command.args[0]?.text ?? ''
  return first.isReadable && first.after === null ? first.text : ''
}

function hasNoRisk(base: string, { args }: SimpleCommand): boolean {
  if (args.some((arg) => mayBecomeOption(arg) || ((isSed(base) || isAwk(base)) && arg.dynamic))) return false
  const texts = args.map(({ text }) => text)
  if (/^bat(?:cat)?$/.test(base) && texts[0] === 'cache') return false
  return findUnlisted(base, texts, [...texts.keys()]) === undefined
}

function listsArchive(texts: readonly string[]): boolean {
  const letters = texts.filter((text, at) => at === 0 || isOption(text))
  return letters.some((text) => LISTS_ARCHIVE.test(text)) && !letters.some((text) => CHANGES_ARCHIVE.test(text))
}
