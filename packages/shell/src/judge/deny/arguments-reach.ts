import { posix } from 'node:path'
import type { SimpleCommand } from '../../read/index.ts'
import { isOption } from './argument.ts'
import { fold } from '../patterns/fold.ts'
import { readArguments, type GivenArguments } from './given-arguments.ts'
import { isGitCommand } from '../../programs/harmless-options.ts'
import { spellings, subcommandNames } from '../../programs/option-names.ts'
import { hasWordOptions } from '../../programs/programs.ts'
import { strongest, weakest, type Reach } from './reaches.ts'
import { matchesLoosely, type PatternWord, type ShellPattern } from '../patterns/shell-pattern.ts'
import { matchesText } from '../patterns/wildcard.ts'

/** Returns whether the words of a rule are among the arguments, in any order and spelling of options. */
export function argumentsReach(
  pattern: ShellPattern,
  base: string,
  command: Pick<SimpleCommand, 'args' | 'appended'>,
): Reach {
  const given = readArguments(base, command)
  const found: Reach[] = ['yes']
  let isFirst = true
  let before: string | null = null
  for (const word of pattern.words) {
    if (isOption(word.text)) {
      const [name = '', value] = word.isFixed ? splitOnce(word.text) : [word.text]
      found.push(word.isFixed ? optionReach(name, base, given) : anyOption(word, given))
      if (value !== undefined) found.push(valueReach(name, (text) => fold(text) === fold(value), base, given))
      before = value === undefined ? name : null
      continue
    }
    const operand = operandReach(word, isFirst, base, given)
    const matches = (text: string): boolean => matchesLoosely(word, text)
    found.push(before === null ? operand : strongest(operand, valueReach(before, matches, base, given)))
    isFirst = false
    before = null
  }
  return weakest(...found)
}

function splitOnce(option: string): [string] | [string, string] {
  const equals = option.indexOf('=')
  return equals === -1 ? [option] : [option.slice(0, equals), option.slice(equals + 1)]
}

function anyOption(word: PatternWord, given: GivenArguments): Reach {
  if ([...given.options].some((option) => matchesText(word.wildcard, option))) return 'yes'
  return given.mayHideOption ? 'maybe' : 'no'
}

function optionReach(option: string, base: string, given: GivenArguments): Reach {
  if (given.options.has(option)) return 'yes'
  if (option.startsWith('--')) return nameReach(option.slice(2), base, given)
  const letters = option.slice(1)
  if (!hasWordOptions(base) && /^[A-Za-z0-9]{1,4}$/.test(letters)) {
    return weakest(...letters.split('').map((letter) => nameReach(letter, base, given)))
  }
  if (given.long.includes(letters)) return 'yes'
  return given.mayHideOption ? 'maybe' : 'no'
}

function namesOf(name: string, base: string, given: GivenArguments): readonly string[] | undefined {
  return spellings(base, given.operands[0]?.text ?? '', name)
}

function nameReach(name: string, base: string, given: GivenArguments): Reach {
  const known = namesOf(name, base, given)
  const isGiven = (spelling: string): boolean =>
    given.options.has(`-${spelling}`) ||
    (spelling.length === 1
      ? given.letters.has(spelling)
      : given.long.some((long) => long !== '' && spelling.startsWith(long)))
  if ((known ?? [name]).some(isGiven)) return 'yes'
  if (given.mayHideOption) return 'maybe'
  if (known !== undefined) return 'no'
  // Its other spellings are not known, but they tend to begin with the same letter.
  const initial = name.charAt(0).toLowerCase()
  const isAlike =
    name.length === 1
      ? given.long.some((long) => long.charAt(0).toLowerCase() === initial)
      : given.letters.has(initial) || given.letters.has(initial.toUpperCase())
  return isAlike ? 'maybe' : 'no'
}

/** Looks for an option with its value attached or in the next word. */
function valueReach(option: string, matches: (text: string) => boolean, base: string, given: GivenArguments): Reach {
  const own = option.replace(/^--?/, '')
  const names = namesOf(own, base, given) ?? [own]
  for (const [at, text] of given.texts.entries()) {
    if (!isOption(text)) continue
    for (const name of names) {
      const value = attachedValue(text, name)
      if (value === undefined) continue
      if (matches(value === '' ? (given.texts[at + 1] ?? '') : value)) return 'yes'
    }
  }
  return given.mayHideOption || given.mayHideOperand ? 'maybe' : 'no'
}

/** Returns the value in the text; empty when it is the next word, `undefined` when the text is another option. */
function attachedValue(text: string, name: string): string | undefined {
  if (!text.startsWith('--')) {
    const at = name.length === 1 ? text.indexOf(name, 1) : -1
    return at === -1 ? undefined : text.slice(at + 1)
  }
  const [given = '', value = ''] = splitOnce(text.slice(2))
  return given !== '' && name.startsWith(given) ? value : undefined
}

const PLAIN = /^[A-Za-z][\w-]*$/

/** The first plain word is taken for a subcommand, whose position counts; other words may be anywhere. */
function operandReach(word: PatternWord, isFirst: boolean, base: string, given: GivenArguments): Reach {
  if (word.isAny) return 'yes'
  if (isFirst && word.isFixed && PLAIN.test(word.text)) return subcommandReach(word.text, base, given)
  const tidy = word.isFixed ? fold(tidyPath(word.text)) : null
  const isMeant = (text: string): boolean =>
    matchesLoosely(word, text) || matchesLoosely(word, tidyPath(text)) || fold(tidyPath(text)) === tidy
  if (given.operands.some(({ text }) => isMeant(text) || isMeant(text.slice(text.indexOf('=') + 1)))) return 'yes'
  if ([...given.options].some((text) => text.includes('=') && isMeant(text.slice(text.indexOf('=') + 1)))) return 'yes'
  return given.mayHideOperand ? 'maybe' : 'no'
}

function subcommandReach(name: string, base: string, given: GivenArguments): Reach {
  const names = new Set(subcommandNames(base, name).map(fold))
  let found: Reach = 'yes'
  for (const operand of given.operands) {
    if (!operand.isReadable) return 'maybe'
    if (names.has(fold(operand.text))) return found
    if (isBeginning(operand.text, name)) return 'maybe'
    if (operand.after === null) return base === 'git' && !isGitCommand(operand.text) ? 'maybe' : 'no'
    // This operand may be the value of the option before it.
    found = 'maybe'
  }
  return given.mayHideOperand ? 'maybe' : 'no'
}

/** Some programs take a subcommand by its first letters. */
function isBeginning(text: string, name: string): boolean {
  return text.length >= 3 && text.length < name.length && fold(name).startsWith(fold(text))
}

function tidyPath(text: string): string {
  if (!/[/.~]/.test(text)) return text
  const tidy = posix.normalize(text)
  return tidy.length > 1 ? tidy.replace(/\/$/, '') : tidy
}
