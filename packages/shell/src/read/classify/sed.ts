import { hasOption, optionTable, parseOptions } from '../options.ts'
import type { Word } from '../reading.ts'
import { printedLines, readSedScript } from '../sed-script.ts'
import type { SedCommand } from '../sed-script.ts'
import { fixed } from './invocation.ts'
import type { LineRange } from './line-range.ts'

// In-place editing, script files and --debug are not in the table, so they are refused.
const SED = optionTable(
  '-n -e: -E -r -s -u -z -l: --quiet --silent --expression: --regexp-extended --separate --unbuffered --posix --sandbox --line-length:',
)

export interface SedReading {
  /** Ranges it prints; null when it prints lines that depend on their content. */
  readonly ranges: readonly LineRange[] | null
  /** It prints chosen lines and changes none. */
  readonly printOnly: boolean
  /** Line numbers start again at each file. */
  readonly separate: boolean
  readonly files: readonly Word[]
}

/** A sed that touches nothing but its output; null for any other. */
export function readSed(args: readonly Word[]): SedReading | null {
  const lines = printedLines(args)
  if (lines !== null) return { ranges: [lines], printOnly: true, separate: false, files: args.slice(2) }
  const parsed = parseOptions(args, SED)
  if (!parsed.ok) return null
  const { given } = parsed
  const expressions: (Word | null)[] = []
  for (const { name, value } of given) if (name === '-e' || name === '--expression') expressions.push(value)
  let files = parsed.operands
  if (expressions.length === 0) {
    if (files[0] === undefined) return null
    expressions.push(files[0])
    files = files.slice(1)
  }
  const commands: SedCommand[] = []
  for (const expression of expressions) {
    const text = fixed(expression)
    const script = text === null ? null : readSedScript(text)
    if (script === null || !script.pure) return null
    commands.push(...script.commands)
  }
  const silent = hasOption(given, '-n', '--quiet', '--silent')
  const ranges = silent ? printedRanges(commands) : quitRange(commands)
  const printOnly = silent
    ? commands.some((command) => command.name === 'p') && commands.every(prints)
    : ranges !== null
  return { ranges, printOnly, separate: hasOption(given, '-s', '--separate'), files }
}

function prints({ name, negated }: SedCommand): boolean {
  return !negated && 'pqQ=l{}'.includes(name)
}

function printedRanges(commands: readonly SedCommand[]): LineRange[] | null {
  const ranges: LineRange[] = []
  for (const command of commands) {
    if (command.name === '{' || command.name === '}') return null
    if (command.name !== 'p') continue
    const range = addressed(command)
    if (range === null) return null
    ranges.push(range)
  }
  return ranges
}

function addressed({ addresses, from, to }: SedCommand): LineRange | null {
  if (addresses === 0) return { start: 1, end: undefined }
  if (from === null || from === 0) return null
  if (addresses === 1) return { start: from, end: from }
  if (to === null) return null
  if (to === 0) return { start: from, end: undefined }
  // A second number before the first still prints the first line.
  return { start: from, end: Math.max(from, to) }
}

/** `sed 20q` prints the first twenty lines. */
function quitRange(commands: readonly SedCommand[]): LineRange[] | null {
  const [quit, ...rest] = commands
  if (quit === undefined || rest.length > 0 || quit.name !== 'q' || quit.negated) return null
  return quit.addresses === 1 && quit.from !== null && quit.from > 0 ? [{ start: 1, end: quit.from }] : null
}
