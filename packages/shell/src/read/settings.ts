import { optionTable, parseOptions } from '../programs/options.ts'
import type { GivenOption, OptionTable } from '../programs/options.ts'
import type { Word } from './reading.ts'
import { decidesWhatRuns } from './deciding.ts'

interface Setter {
  readonly options: OptionTable
  /** Returns the words that name the variables it sets. */
  readonly names: (operands: readonly Word[], given: readonly GivenOption[]) => readonly Word[]
}

function setter(options: string, names: Setter['names']): Setter {
  return { options: optionTable(options), names }
}

function valuesOf(given: readonly GivenOption[], name: string): readonly Word[] {
  return given.flatMap((option) => (option.name === name && option.value !== null ? [option.value] : []))
}

const ASSIGNED = /^[A-Za-z_]\w*(?:\[.*\])?\+?=/s
const MAPFILE = setter('-d: -n: -O: -s: -t -u: -C: -c:', (operands) => operands.slice(0, 1))
const DECLARE = setter('-a -A -f -F -g -i -I -l -n -p -r -t -u -x', (operands) =>
  operands.filter((word) => word.dynamic || ASSIGNED.test(word.text)),
)

/** Builtins that set the variables they name. */
const SETTERS: ReadonlyMap<string, Setter> = new Map([
  [
    'read',
    setter('-a: -d: -i: -n: -N: -p: -t: -u: -e -E -r -s', (operands, given) => [...operands, ...valuesOf(given, '-a')]),
  ],
  ['mapfile', MAPFILE],
  ['readarray', MAPFILE],
  ['getopts', setter('', (operands) => operands.slice(1, 2))],
  ['wait', setter('-f -n -p:', (_operands, given) => valuesOf(given, '-p'))],
  ['unset', setter('-f -v -n', (operands) => operands)],
  ['declare', DECLARE],
  ['typeset', DECLARE],
  ['local', DECLARE],
  ['readonly', DECLARE],
  ['export', DECLARE],
])

const SUBSCRIPT = /\[[^\]]*(?:\$\(|`)/
/** Matches `x = 1`, `x += 1`, `x++` and `--x` in arithmetic. */
const CALCULATED = /([A-Za-z_]\w*)\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)|(?:\+\+|--)\s*([A-Za-z_]\w*)/g

const WITH_RULES: ReadonlySet<string> = new Set(['let', 'printf', 'test', '['])

/** True if `unknownFromSetting` can return a reason for this builtin with some arguments. */
export function canSet(base: string): boolean {
  return WITH_RULES.has(base) || SETTERS.has(base)
}

/** Returns why a builtin with these arguments sets more than an ordinary variable; null when it does not. */
export function unknownFromSetting(base: string, args: readonly Word[]): string | null {
  switch (base) {
    case 'let':
      return unknownFromCalculation(args)
    case 'printf':
      return args[0]?.text.startsWith('-v') === true ? unknownFromPrintf(args) : null
    case 'test':
    case '[':
      return args.some((arg, at) => args[at - 1]?.text === '-v' && runsSubscript(arg))
        ? `${base} -v evaluates what it is given`
        : null
    default: {
      const found = SETTERS.get(base)
      if (found === undefined) return null
      const parsed = parseOptions(args, found.options, true)
      if (!parsed.ok) return `${base}: ${parsed.reason}`
      return unknownFromNames(base, found.names(parsed.operands, parsed.given))
    }
  }
}

function unknownFromPrintf(args: readonly Word[]): string | null {
  const [first, second] = args
  const name = first?.text === '-v' ? second : first
  if (name === undefined || name.dynamic) return 'printf -v sets a variable that is only known when it runs'
  const text = name === first ? name.text.slice('-v'.length) : name.text
  return unknownFromName('printf', text)
}

function unknownFromNames(base: string, names: readonly Word[]): string | null {
  for (const word of names) {
    // In `A=$B` the name is fixed.
    const isFixed = !word.dynamic || ASSIGNED.test(word.text)
    if (!isFixed) return `${base} sets a variable that is only known when it runs`
    const unknown = unknownFromName(base, word.text)
    if (unknown !== null) return unknown
  }
  return null
}

function unknownFromName(base: string, text: string): string | null {
  if (SUBSCRIPT.test(text)) return `${base} evaluates a subscript`
  const name = /^\w+/.exec(text)?.[0] ?? ''
  return decidesWhatRuns(name) ? `${base} sets ${name}, which decides which program or code runs` : null
}

function unknownFromCalculation(args: readonly Word[]): string | null {
  for (const { text, quoted } of args) {
    if (quoted && /\$\(|`/.test(text)) return 'let evaluates quoted text'
    for (const [, before, after] of text.matchAll(CALCULATED)) {
      const name = before ?? after ?? ''
      if (decidesWhatRuns(name)) return `let sets ${name}, which decides which program or code runs`
    }
  }
  return null
}

function runsSubscript({ dynamic, text }: Word): boolean {
  return dynamic || SUBSCRIPT.test(text)
}
