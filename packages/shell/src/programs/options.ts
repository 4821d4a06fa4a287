import { withItem } from '../read/lists.ts'
import type { Word } from '../read/reading.ts'
import { literalWord } from '../read/words.ts'

const DASH = 0x2d
const NO_OPERANDS: readonly Word[] = []
const NO_OPTIONS: readonly GivenOption[] = []
const DIGITS_OPTION = /^-\d+$/

type Arity = 'flag' | 'value' | 'optional'

/** The options of a program. Options missing from the table are not understood. */
export interface OptionTable {
  readonly options: ReadonlyMap<string, Arity>
  /** The one-letter options, by character code. */
  readonly letters: readonly (LetterOption | undefined)[]
  /** `-20` is an option of its own. */
  readonly digits: boolean
}

interface LetterOption {
  readonly name: string
  readonly arity: Arity
  /** The option as given without a value. */
  readonly alone: GivenOption
}

/** Parses `'-a -n: -i? --long --lines: --color?'`: `:` takes a value, `?` takes one only if attached. */
export function optionTable(description: string, settings: { digits?: boolean } = {}): OptionTable {
  const options = new Map<string, Arity>()
  for (const item of description.split(/\s+/)) {
    if (item.endsWith(':')) options.set(item.slice(0, -1), 'value')
    else if (item.endsWith('?')) options.set(item.slice(0, -1), 'optional')
    else if (item !== '') options.set(item, 'flag')
  }
  const letters: (LetterOption | undefined)[] = Array.from({ length: 128 })
  for (const [name, arity] of options)
    if (/^-[^-]$/.test(name)) letters[name.charCodeAt(1)] = { name, arity, alone: { name, value: null } }
  return { options, letters, digits: settings.digits === true }
}

export interface GivenOption {
  readonly name: string
  readonly value: Word | null
}

export type ParsedOptions =
  | { readonly ok: true; readonly given: readonly GivenOption[]; readonly operands: readonly Word[] }
  | { readonly ok: false; readonly reason: string }

/**
 * Splits arguments into options and operands. With `leading`, options end at the first operand, as in programs that run
 * another program. Otherwise they may be anywhere, as GNU tools read them.
 */
export function parseOptions(args: readonly Word[], table: OptionTable, leading = false): ParsedOptions {
  if (areOperands(args)) return { ok: true, given: NO_OPTIONS, operands: args }
  const given: GivenOption[] = []
  let operands: Word[] | undefined
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at]
    if (arg === undefined) break
    const text = arg.text
    if (arg.splits && !arg.glob) return notUnderstood(`what ${arg.source} becomes is not known`)
    if (text === '--' && !arg.dynamic) {
      operands = [...(operands ?? []), ...args.slice(at + 1)]
      break
    }
    if (text.charCodeAt(0) !== DASH || text === '-') {
      if (leading) {
        operands = args.slice(at)
        break
      }
      operands = withItem(operands, arg)
      continue
    }
    const next = args[at + 1]
    const taken = text.charCodeAt(1) === DASH ? takeLong(arg, next, table, given) : takeShort(arg, next, table, given)
    if (taken === null) return notUnderstood(`option ${arg.source} is not understood`)
    if (taken === 1 && next?.splits === true) return notUnderstood(`the value of ${arg.source} is not known`)
    at += taken
  }
  return { ok: true, given, operands: operands ?? NO_OPERANDS }
}

/** True if no word is an option or may expand to one. */
function areOperands(args: readonly Word[]): boolean {
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at]
    if (arg === undefined || arg.text.charCodeAt(0) === DASH || arg.splits) return false
  }
  return true
}

/** Returns how many further arguments the option took; null when it is not understood. */
function takeLong(arg: Word, next: Word | undefined, table: OptionTable, given: GivenOption[]): 0 | 1 | null {
  const equals = arg.text.indexOf('=')
  const name = equals === -1 ? arg.text : arg.text.slice(0, equals)
  const arity = table.options.get(name)
  if (arity === undefined) return null
  if (equals !== -1) {
    if (arity === 'flag') return null
    given.push({ name, value: tail(arg, equals + 1) })
    return 0
  }
  if (arg.dynamic) return null
  if (arity !== 'value') {
    given.push({ name, value: null })
    return 0
  }
  if (next === undefined) return null
  given.push({ name, value: next })
  return 1
}

function takeShort(arg: Word, next: Word | undefined, table: OptionTable, given: GivenOption[]): 0 | 1 | null {
  const text = arg.text
  if (table.digits && isDigit(text.charCodeAt(1)) && DIGITS_OPTION.test(text)) {
    given.push({ name: '-#', value: literalWord(text.slice(1)) })
    return 0
  }
  for (let at = 1; at < text.length; at += 1) {
    const option = table.letters[text.charCodeAt(at)]
    if (option === undefined) return null
    const { name, arity } = option
    if (arity === 'flag') {
      given.push(option.alone)
      continue
    }
    if (at + 1 < text.length) {
      given.push({ name, value: tail(arg, at + 1) })
      return 0
    }
    if (arity === 'optional') {
      given.push(option.alone)
      return 0
    }
    if (next === undefined) return null
    given.push({ name, value: next })
    return 1
  }
  return arg.dynamic ? null : 0
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

function tail(arg: Word, from: number): Word {
  const text = arg.text.slice(from)
  return arg.dynamic ? { ...arg, text } : literalWord(text)
}

function notUnderstood(reason: string): ParsedOptions {
  return { ok: false, reason }
}

export function hasOption(given: readonly GivenOption[], ...names: readonly string[]): boolean {
  for (let at = 0; at < given.length; at += 1) if (names.includes(given[at]?.name ?? '')) return true
  return false
}

/** Returns the value given last, which is the one programs use. */
export function optionValue(given: readonly GivenOption[], ...names: readonly string[]): Word | null {
  for (let at = given.length - 1; at >= 0; at -= 1) {
    const option = given[at]
    if (option !== undefined && names.includes(option.name)) return option.value
  }
  return null
}
