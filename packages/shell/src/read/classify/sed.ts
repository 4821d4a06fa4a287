import { tableOf } from '../../programs/harmless-options.ts'
import { hasOption, parseOptions } from '../../programs/options.ts'
import type { Word } from '../reading.ts'
import { printedLines, readSedScript } from '../sed-script.ts'
import type { SedCommand } from '../sed-script.ts'
import { fixed } from './invocation.ts'
import type { LineRange } from './line-range.ts'
import { linesAsked, linesLeft } from './sed-lines.ts'

const SED = tableOf('sed')

export interface SedReading {
  /** The ranges it prints; null when they depend on the lines' content. */
  readonly ranges: readonly LineRange[] | null
  /** It prints chosen lines and changes none. */
  readonly printOnly: boolean
  /** Line numbers start again with each file. */
  readonly separate: boolean
  readonly files: readonly Word[]
}

/** Reads a sed that affects nothing but its output; null for any other. */
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
  const { printOnly, ranges } = silent ? linesAsked(commands) : linesLeft(commands)
  // With -z sed's lines are not those of the file.
  const counted = hasOption(given, '-z') ? null : ranges
  return { ranges: counted, printOnly, separate: hasOption(given, '-s', '--separate'), files }
}
