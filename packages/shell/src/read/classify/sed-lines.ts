import type { SedCommand } from '../sed-script.ts'
import { WHOLE, type LineRange } from './line-range.ts'

/** What a script prints. */
export interface PrintedLines {
  /** The script prints chosen lines and changes none. */
  readonly printOnly: boolean
  /** The printed lines; null when they depend on the lines' content. */
  readonly ranges: readonly LineRange[] | null
}

const OTHER: PrintedLines = { printOnly: false, ranges: null }

/** Returns the lines that a script under `-n` prints with `p`. */
export function linesAsked(commands: readonly SedCommand[]): PrintedLines {
  const printOnly =
    commands.some((command) => command.name === 'p') &&
    commands.every(({ name, negated }) => !negated && 'pqQ=l{}'.includes(name))
  return { printOnly, ranges: askedRanges(commands) }
}

function askedRanges(commands: readonly SedCommand[]): LineRange[] | null {
  const ranges: LineRange[] = []
  let block: LineRange | null | undefined
  for (const command of commands) {
    if (command.name === '{') {
      // Nested blocks are not supported.
      if (block !== undefined) return null
      block = addressed(command)
    } else if (command.name === '}') block = undefined
    else if (command.name === 'p') {
      const range = block === undefined || command.addresses > 0 ? addressed(command) : block
      if (range === null || (block !== undefined && command.addresses > 0)) return null
      ranges.push(range)
    } else if (isQuit(command) && block === undefined) {
      for (const [index, range] of ranges.entries()) ranges[index] = upTo(range, command.from)
    }
  }
  return ranges
}

/** Returns the lines that a script without `-n` keeps: `20q` the first twenty, `5!d` the fifth, `10q;d` the tenth. */
export function linesLeft(commands: readonly SedCommand[]): PrintedLines {
  const [first, second, ...rest] = commands
  if (first === undefined || rest.length > 0) return OTHER
  if (second === undefined) {
    if (isQuit(first)) return { printOnly: true, ranges: [{ start: 1, end: first.from }] }
    if (first.name !== 'd' || !first.negated) return OTHER
    const range = addressed(first)
    return { printOnly: true, ranges: range === null ? null : [range] }
  }
  const dropsTheRest = second.name === 'd' && second.addresses === 0 && !second.negated
  return isQuit(first) && dropsTheRest ? { printOnly: true, ranges: [{ start: first.from, end: first.from }] } : OTHER
}

function isQuit(command: SedCommand): command is SedCommand & { readonly from: number } {
  const { name, negated, addresses, from } = command
  return name === 'q' && !negated && addresses === 1 && from !== null && from > 0
}

function upTo(range: LineRange, last: number): LineRange {
  if (range.start > last || (range.end !== undefined && range.end <= last)) return range
  return { start: range.start, end: last }
}

function addressed({ addresses, from, to }: SedCommand): LineRange | null {
  if (addresses === 0) return WHOLE
  if (from === null || from === 0) return null
  if (addresses === 1) return { start: from, end: from }
  if (to === null) return null
  if (to === 0) return { start: from, end: undefined }
  // If the second number is below the first, sed still prints the first line.
  return { start: from, end: Math.max(from, to) }
}
