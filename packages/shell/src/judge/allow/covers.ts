import { isFreeVariable, isHarmlessSetting } from '../grammar/variables.ts'
import { findTelling, findUnlisted, gitSubcommand } from './listed.ts'
import type { Assignment, SimpleCommand, Word } from '../../read/index.ts'
import { isOption, isReadable, mayBecomeOption } from '../deny/argument.ts'
import { isMessage } from '../deny/message-values.ts'
import { WRAPPERS } from '../../programs/launchers.ts'
import { changesShell, isAwk, isLookedThrough, isSed, takesAnything } from '../../programs/programs.ts'
import { matchesExactly, type ShellPattern } from '../patterns/shell-pattern.ts'

/** Where a command runs, as far as an allow depends on it. */
export interface Ground {
  readonly isStart: (command: SimpleCommand) => boolean
  readonly isInside: (command: SimpleCommand) => boolean
  /** The variables that the text exports to all its commands. */
  readonly exported: readonly Assignment[]
}

export type Coverage =
  | { readonly isCovered: true }
  /** `near` says why the command is not covered although its words match the pattern. */
  | { readonly isCovered: false; readonly near: string | null }

const NOT_MEANT: Coverage = { isCovered: false, near: null }

/**
 * Returns whether an allow covers a command. It is read as narrowly as possible: words match exactly, and a star covers
 * nothing that makes the program write, run something else or work elsewhere.
 */
export function covers(
  pattern: ShellPattern,
  command: SimpleCommand,
  commands: readonly SimpleCommand[],
  ground: Ground,
): Coverage {
  const own = coversAlone(pattern, command, ground)
  if (own.isCovered) return own
  const inner = innerPattern(pattern, command, commands, ground)
  const through = inner === null ? NOT_MEANT : coversAlone(inner, command, ground)
  return through.isCovered || own.near === null ? through : own
}

/** Returns the part of the pattern from the inner program on: `npx tsc *` also covers `tsc *`, where npx runs it. */
function innerPattern(
  pattern: ShellPattern,
  command: SimpleCommand,
  commands: readonly SimpleCommand[],
  ground: Ground,
): ShellPattern | null {
  if (command.origin !== 'argument' || command.parent === null || command.name === null) return null
  const parent = commands[command.parent]
  if (parent === undefined) return null
  const outer = innerPattern(pattern, parent, commands, ground) ?? pattern
  if (!coversAlone(outer, parent, ground).isCovered) return null
  const at = parent.args.indexOf(command.name)
  const program = outer.words[at]
  if (program?.isFixed !== true) return null
  return { ...outer, program, words: outer.words.slice(at + 1) }
}

function coversAlone(pattern: ShellPattern, command: SimpleCommand, ground: Ground): Coverage {
  if (!isProgram(pattern, command, ground)) return NOT_MEANT
  const covered = leftOpen(pattern, command)
  if (covered === null) return NOT_MEANT
  const near = findBlock(pattern, command, covered, ground)
  return near === null ? { isCovered: true } : { isCovered: false, near }
}

function isProgram({ program }: ShellPattern, command: SimpleCommand, ground: Ground): boolean {
  if (!program.text.includes('/')) return command.program !== null && matchesExactly(program, command.program)
  const { name } = command
  if (name === null || name.dynamic || !matchesExactly(program, name.text)) return false
  if (name.text.split('/').length !== program.text.split('/').length) return false
  return name.text.startsWith('/') || ground.isStart(command)
}

/** Returns the indexes of arguments that the pattern does not spell out; null when its words differ. */
function leftOpen({ words, isOpen }: ShellPattern, { args, appended, program }: SimpleCommand): number[] | null {
  // `git --no-pager log` is covered like `git log`.
  const skipped =
    program === 'git' && words[0] !== undefined && !isOption(words[0].text)
      ? gitSubcommand(args.map(({ text }) => text))
      : 0
  if (args.length - skipped < words.length) return null
  if (!isOpen && (args.length - skipped > words.length || appended)) return null
  const open: number[] = []
  for (const [at, arg] of args.entries()) {
    const word = at < skipped ? undefined : words[at - skipped]
    if (word === undefined) open.push(at)
    else if (word.isAny) {
      if (arg.splits) return null
      open.push(at)
    } else {
      if (!isAsWritten(arg, word.text) || !matchesExactly(word, arg.text)) return null
      if (!word.isFixed) open.push(at)
    }
  }
  return open
}

/** A leading `~` means the same in a pattern as in a command; any other expansion is decided when the command runs. */
function isAsWritten(arg: Word, pattern: string): boolean {
  return pattern.startsWith('~') ? arg.dynamic && isReadable(arg) : !arg.dynamic
}

/** Returns what keeps a command from being covered although its words match; null when nothing does. */
function findBlock(
  pattern: ShellPattern,
  command: SimpleCommand,
  open: readonly number[],
  ground: Ground,
): string | null {
  const { args, program, unknown } = command
  const name = program ?? command.name?.text ?? ''
  const plain = takesAnything(name)
  const setting = [...ground.exported, ...command.assignments].find(
    (each) => !isHarmlessSetting(each.name, each.value.text) && !(plain && isFreeVariable(each.name)),
  )
  if (setting !== undefined) return `${setting.name} is set`
  if (!plain && !ground.isInside(command)) return 'it may run in another folder'
  const code = findCode(pattern, command, open, ground)
  if (code !== null) return code
  // In a pattern without stars, a program's own options are no surprise; what a launcher reads from its input still is.
  if (pattern.isExact && (unknown === null || command.launcher === null)) return null
  if (unknown !== null) return unknown
  if (changesShell(name)) return `${name} changes what later commands mean`
  const texts = args.map((arg) => arg.text)
  const takesOptionsFirst = command.launcher === 'tool' && WRAPPERS.get(name)?.anyOptions === true
  const isUnderstood = command.launcher !== null && command.launcher !== 'tool' && !/^g?find$/.test(name)
  const script = command.runs === 'file' && texts[0] !== '-m' ? args.findIndex((arg) => !isOption(arg.text)) : -1
  const unlisted = isUnderstood
    ? undefined
    : script !== -1 && !open.includes(script)
      ? findTelling(texts, open)
      : findUnlisted(name, takesOptionsFirst ? leadingOptions(texts) : texts, open)
  if (unlisted !== undefined) return `${unlisted} has to stand in the rule`
  if (plain) return null
  if (command.appended) return 'arguments are added when it runs'
  const dynamic = args.find((arg, at) => open.includes(at) && mayMislead(name, arg) && !isMessage(name, args, at))
  if (dynamic !== undefined) return `what ${dynamic.source} becomes is only known when it runs`
  return null
}

function leadingOptions(args: readonly string[]): readonly string[] {
  const end = args.findIndex((text) => !isOption(text))
  return end === -1 ? args : args.slice(0, end)
}

function mayMislead(program: string, arg: Word): boolean {
  return mayBecomeOption(arg) || ((isSed(program) || isAwk(program)) && !isReadable(arg))
}

/** Code that the shell reading does not see is covered only where the pattern names it. */
function findCode(
  pattern: ShellPattern,
  command: SimpleCommand,
  open: readonly number[],
  ground: Ground,
): string | null {
  switch (command.runs) {
    case null:
      return null
    case 'stdin-script':
      return command.launcher === 'shell' && command.unknown === null ? null : 'it runs what comes on its input'
    case 'inline-code':
      return pattern.isExact ? null : 'it runs the code in its arguments'
    case 'file': {
      const at = command.args.findIndex((arg) => !isOption(arg.text))
      const script = command.args[at]
      if (testsOwnFiles(pattern, command, open)) return ground.isStart(command) ? null : 'it may run in another folder'
      const isNamed = at < pattern.words.length && pattern.words.slice(0, at + 1).every((word) => !word.isAny)
      if (script === undefined || !isNamed || open.some((place) => place < at)) {
        return 'the script it runs has to stand in the rule'
      }
      return script.text.startsWith('/') || ground.isStart(command) ? null : 'it may be a script of another folder'
    }
  }
}

const ELSEWHERE = /^(?:[/~]|-$)|(?:^|\/)\.\.(?:\/|$)/

/** `node --test *` covers the tests of the project, and no option that the rule does not name. */
function testsOwnFiles({ words }: ShellPattern, { args }: SimpleCommand, open: readonly number[]): boolean {
  if (words[0]?.text !== '--test') return false
  return open.every((place) => {
    const arg = args[place]
    if (arg === undefined || isOption(arg.text) || ELSEWHERE.test(arg.text)) return false
    return arg.expansions.every((expansion) => expansion === 'glob') && !mayBecomeOption(arg)
  })
}

/**
 * True for a command that by itself only runs commands that are judged on their own, such as `timeout 5 …`, `sh -c '…'`
 * and `[[ … ]]`, or only assigns variables of the script.
 */
export function isTransparent(command: SimpleCommand): boolean {
  const { launcher, name, program, unknown } = command
  // The grammar leaves no way to do anything with these but to set variables of the script, and `-e` or `-u`.
  if (program !== null && /^(?:export|set|read|test|\[)$/.test(program)) return true
  if (unknown !== null) return false
  if (name === null) return command.assignments.every((each) => isFreeVariable(each.name))
  if (program === '[[' || program === '((') return true
  if (program === null || launcher === null) return false
  if (command.assignments.some((each) => !isHarmlessSetting(each.name, each.value.text))) return false
  return launcher === 'shell' ? isLookedThrough(program) : launcher === 'transparent' && program !== 'flock'
}
