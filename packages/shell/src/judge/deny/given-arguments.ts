import type { SimpleCommand, Word } from '../../read/index.ts'
import { isOption, isReadable, mayBecomeOption } from './argument.ts'
import { isGroup, takesValue } from '../../programs/option-names.ts'

export interface Operand {
  readonly text: string
  readonly isReadable: boolean
  /** The option right before it, whose value it may be. */
  readonly after: string | null
}

/** The arguments of a command, read strictly: options anywhere, and bundled letters one by one. */
export interface GivenArguments {
  readonly texts: readonly string[]
  readonly options: ReadonlySet<string>
  readonly letters: ReadonlySet<string>
  /** Without dashes and values. */
  readonly long: readonly string[]
  readonly operands: readonly Operand[]
  /** True when there may be options, or operands, at run time that are not written here. */
  readonly mayHideOption: boolean
  readonly mayHideOperand: boolean
}

const PLUS_VERSION = /^\+/

export function readArguments(base: string, command: Pick<SimpleCommand, 'args' | 'appended'>): GivenArguments {
  const { args, appended } = command
  const options = new Set<string>()
  const letters = new Set<string>()
  const long: string[] = []
  const operands: Operand[] = []
  let after: string | null = null
  let ended = false
  for (const [at, word] of args.entries()) {
    const text = word.text
    if (text === '--' && !ended) {
      ended = true
      after = null
      continue
    }
    if (isOption(text)) {
      options.add(text)
      if (text.startsWith('--')) long.push(text.slice(2).split('=', 1)[0] ?? '')
      else for (const letter of text.slice(1)) letters.add(letter)
    } else if (at === 0 && (base === 'tar' || base === 'bsdtar') && /^[A-Za-z]+$/.test(text)) {
      for (const letter of text) letters.add(letter)
    }
    // After `--` an option is an operand; a script may still get it as an option.
    if (!isOption(text) || ended) {
      if (after === null || !takesValue(base, after)) {
        if (!isSkipped(base, word, operands.length)) operands.push({ text, isReadable: isKnown(word, appended), after })
      }
    }
    after = isOption(text) && !ended && !text.includes('=') ? text : null
  }
  if (base === 'git') addImplied(operands, letters, long)
  return {
    texts: args.map((word) => word.text),
    options,
    letters,
    long,
    operands,
    mayHideOption: appended || args.some(mayBecomeOption),
    mayHideOperand: appended || args.some((word) => !isReadable(word)),
  }
}

/** find and xargs put what they add in place of `{}`. */
function isKnown(word: Word, appended: boolean): boolean {
  return isReadable(word) && !(appended && word.text.includes('{}'))
}

/** In `cargo +nightly publish` and `docker container rm` the subcommand is the next word. */
function isSkipped(base: string, word: Word, before: number): boolean {
  return before === 0 && (isGroup(base, word.text) || (base === 'cargo' && PLUS_VERSION.test(word.text)))
}

/** Adds implied options: a refspec forces or deletes without an option, and one letter can stand for two. */
function addImplied(operands: readonly Operand[], letters: Set<string>, long: string[]): void {
  const [subcommand, ...rest] = operands.map(({ text }) => text)
  if (subcommand === 'push') {
    if (long.includes('mirror') || rest.some((text) => text.startsWith('+'))) long.push('force')
    if (long.includes('mirror') || rest.some((text) => text.startsWith(':'))) long.push('delete')
  }
  if (subcommand === 'branch') {
    const deletes = letters.has('d') || long.includes('delete')
    const forces = letters.has('f') || long.includes('force')
    if (letters.has('D')) long.push('delete', 'force')
    if (deletes && forces) letters.add('D')
  }
}
