import type { SimpleCommand, Word } from '../../read/index.ts'
import { quote, readCommand } from '../../read/command.ts'
import { isOption, isReadable } from './argument.ts'
import { alternatives } from '../files/glob-word.ts'
import { isProse } from './message-values.ts'
import { isRemote, startsCommand } from '../../programs/programs.ts'

/** What a shell would run if it read a text. */
export interface Embedded {
  readonly commands: readonly SimpleCommand[]
  /** True when it may also run something that is not in the text. */
  readonly isObscure: boolean
}

const NOTHING: Embedded = { commands: [], isObscure: false }
const IS_SCRIPT = /[\s;|&()$`]/
const LONGEST_SPREAD = 4_096
/** Files of one kind, which are no program: `src/*.ts`. */
const NAMES_FILES = /\*\.\w+$/
const EXPANDS = /[$`]/
const NAMES_SHELL = /(?:^|[\s;|&()<>"'/])(?:[bd]?ash|k?sh|mksh|zsh|rbash|fish)(?=$|[\s;|&()<>"'])/
const NO_SHELL_TEXT = /^not valid shell/

/**
 * Reads a text that may be a script or prose. Text that is no valid script runs nothing, unless it looks like one after
 * all.
 */
export function readMaybe(text: string): Embedded {
  const reading = readCommand(text)
  if (!reading.ok) {
    const isObscure = EXPANDS.test(text) || NAMES_SHELL.test(text) || !NO_SHELL_TEXT.test(reading.reason)
    return { commands: [], isObscure }
  }
  return { commands: reading.commands, isObscure: false }
}

/** Reads a text that some shell runs. */
export function readScript(text: string): Embedded {
  const reading = readCommand(text)
  if (!reading.ok) return { commands: [], isObscure: true }
  return { commands: reading.commands, isObscure: reading.suspicious.length > 0 }
}

const found = new WeakMap<SimpleCommand, Embedded>()

/**
 * Returns what the arguments of a program that may run others would run: `wrapper sh -c '…'`, `ssh host …`, `tmux new
 * '…'`.
 */
export function embeddedCommands(base: string, command: SimpleCommand): Embedded {
  const known = found.get(command)
  if (known !== undefined) return known
  const texts = [...scriptsIn(base, command.args), ...tailIn(base, command.args)].map(readMaybe)
  const embedded: Embedded =
    texts.length === 0
      ? NOTHING
      : { commands: texts.flatMap(({ commands }) => commands), isObscure: texts.some(({ isObscure }) => isObscure) }
  found.set(command, embedded)
  return embedded
}

/** Returns the words, and the values of options, that may be scripts. */
function scriptsIn(base: string, args: readonly Word[]): string[] {
  return args.flatMap((word, at) => {
    const { text } = word
    if (!isReadable(word) || isProse(base, args, at)) return []
    const value = text.slice(text.indexOf('=') + 1)
    const texts = isOption(text) ? [value] : [text, value]
    // In programs with commands of their own, a leading `!` marks a shell command.
    return [...new Set(texts)].flatMap(asScript).map((each) => each.replace(/^!(?=\w)/, ''))
  })
}

/** A single word is a script, too, if a shell expands it into several: `{rm,x}`. A JSON object is not. */
function asScript(text: string): readonly string[] {
  if (IS_SCRIPT.test(text)) return [text]
  if (!mayBeSpread(text) || isJson(text)) return []
  const words = (text.length > LONGEST_SPREAD ? null : alternatives(text)) ?? [text]
  return NAMES_FILES.test(words[0] ?? '') ? [] : [words.join(' ')]
}

/** Three searches in turn: a regular expression for all three takes very long on a text full of two of them. */
function mayBeSpread(text: string): boolean {
  const open = text.indexOf('{')
  const comma = open === -1 ? -1 : text.indexOf(',', open)
  return comma !== -1 && text.includes('}', comma)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/**
 * Returns a command that begins in the middle of the arguments: after a shell or wrapper named there, or after the
 * host.
 */
function tailIn(base: string, args: readonly Word[]): string[] {
  const operand = args.findIndex(({ text }) => !isOption(text))
  if (isRemote(base)) {
    // A remote shell gets the words as one text. Which option takes a value does not matter to what they name.
    const words = args.slice(operand + 1).map((word) => (isReadable(word) ? word.text : word.source))
    return words.length === 0 ? [] : [words.join(' ')]
  }
  const at = args.findIndex(
    (word) => isReadable(word) && startsCommand(word.text.slice(word.text.lastIndexOf('/') + 1)),
  )
  if (at === -1) return []
  const words = args.slice(at)
  return [words.every(isReadable) ? quote(words.map(({ text }) => text)) : words.map(({ source }) => source).join(' ')]
}
