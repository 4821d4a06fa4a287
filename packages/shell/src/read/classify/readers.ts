import { withItem } from '../lists.ts'
import { tableOf } from '../../programs/harmless-options.ts'
import { hasOption, optionValue, parseOptions } from '../../programs/options.ts'
import type { GivenOption } from '../../programs/options.ts'
import type { Word } from '../reading.ts'
import { filePath } from './invocation.ts'
import type { Invocation } from './invocation.ts'
import { firstLines, WHOLE } from './line-range.ts'
import type { LineRange } from './line-range.ts'
import { readSed } from './sed.ts'

/** The files that a program prints, and which lines; `ranges` is null when the lines are not known. */
export interface Reading {
  readonly paths: readonly string[]
  readonly ranges: readonly LineRange[] | null
}

/** Operands and lines before they are resolved to paths. */
interface Selection {
  readonly files: readonly Word[]
  readonly ranges: readonly LineRange[] | null
}

/** Returns what a program prints with these arguments. */
export type Select = (args: readonly Word[]) => Selection | null

const ALL: readonly LineRange[] = [WHOLE]

function printer(program: string, ranges: (given: readonly GivenOption[]) => readonly LineRange[] | null): Select {
  const table = tableOf(program)
  return (args) => {
    const parsed = parseOptions(args, table)
    return parsed.ok ? { files: parsed.operands, ranges: ranges(parsed.given) } : null
  }
}

const cat = printer('cat', (given) => (hasOption(given, '-s', '--squeeze-blank') ? null : ALL))

const nl = printer('nl', () => ALL)

const bat = printer('bat', (given) => {
  const ranges: LineRange[] = []
  for (const option of given) {
    if (option.name !== '-r' && option.name !== '--line-range') continue
    const range = batRange(option.value?.text ?? '')
    if (range === null) return null
    ranges.push(range)
  }
  return ranges.length === 0 ? ALL : ranges
})

function batRange(text: string): LineRange | null {
  const match = /^(\d*)(?::(\+?)(\d*))?$/.exec(text)
  if (match === null || text === '' || text === ':') return null
  const start = match[1] === undefined || match[1] === '' ? 1 : Number(match[1])
  if (!text.includes(':')) return { start, end: start }
  if (match[3] === undefined || match[3] === '') return { start, end: undefined }
  return { start, end: match[2] === '+' ? start + Number(match[3]) : Number(match[3]) }
}

const pager = printer('less', () => ALL)

const more = printer('more', () => ALL)

/** `more +10 file` begins at line 10, `more +/word file` at the first match. */
function selectMore(args: readonly Word[]): Selection | null {
  const begin = args.find((word) => word.text.startsWith('+'))
  if (begin === undefined) return more(args)
  const selection = more(args.filter((word) => word !== begin))
  if (selection === null) return null
  const isLine = /^\+\d{1,9}$/.test(begin.text)
  return {
    files: selection.files,
    ranges: isLine ? [{ start: Math.max(1, Number(begin.text)), end: undefined }] : null,
  }
}

const wc = printer('wc', () => null)

const tac = printer('tac', () => null)

const HEAD = tableOf('head')
const FOLLOWS = ['-f', '-F', '--follow', '--retry'] as const

export function selectHead(args: readonly Word[]): Selection | null {
  const parsed = parseOptions(args, HEAD)
  if (!parsed.ok || hasOption(parsed.given, ...FOLLOWS)) return null
  const range = hasOption(parsed.given, '-c', '--bytes', '-z', '--zero-terminated')
    ? null
    : firstLines(countOf(parsed.given))
  return { files: parsed.operands, ranges: range === null ? null : [range] }
}

export function selectTail(args: readonly Word[]): Selection | null {
  // `tail +5 file` is the syntax from before options had letters.
  const old = args[0] !== undefined && /^\+\d{1,9}$/.test(args[0].text) ? args[0].text : null
  const parsed = parseOptions(old === null ? args : args.slice(1), HEAD)
  if (!parsed.ok || hasOption(parsed.given, ...FOLLOWS)) return null
  const count = old ?? countOf(parsed.given)
  const fromStart = /^\+\d{1,9}$/.test(count) && !hasOption(parsed.given, '-c', '--bytes', '-z', '--zero-terminated')
  return { files: parsed.operands, ranges: fromStart ? [{ start: Math.max(1, Number(count)), end: undefined }] : null }
}

function countOf(given: readonly GivenOption[]): string {
  const value = optionValue(given, '-n', '--lines', '-#')
  return value === null ? '10' : value.text
}

function selectSed(args: readonly Word[]): Selection | null {
  const sed = readSed(args)
  if (sed === null || !sed.printOnly) return null
  // Without -s sed numbers the lines of all files as if they were one.
  return { files: sed.files, ranges: sed.files.length > 1 && !sed.separate ? null : sed.ranges }
}

const READERS: ReadonlyMap<string, Select> = new Map<string, Select>([
  ['cat', cat],
  ['gcat', cat],
  ['nl', nl],
  ['bat', bat],
  ['batcat', bat],
  ['less', pager],
  ['more', selectMore],
  ['wc', wc],
  ['tac', tac],
  ['head', selectHead],
  ['ghead', selectHead],
  ['tail', selectTail],
  ['gtail', selectTail],
  ['sed', selectSed],
  ['gsed', selectSed],
])

export const readerNames: readonly string[] = [...READERS.keys()]

export function readerOf(program: string): Select | undefined {
  return READERS.get(program)
}

/** Returns the files a program prints; null when they are not clear, or when it may do more. */
export function readFiles(select: Select, invocation: Invocation): Reading | null {
  const selection = select(invocation.args)
  if (selection === null) return null
  const { files, ranges } = selection
  const words = files.length === 0 && invocation.stdin !== null ? [invocation.stdin] : files
  let paths: string[] | undefined
  for (let at = 0; at < words.length; at += 1) {
    const path = filePath(words[at], invocation)
    if (path === null) return null
    paths = withItem(paths, path)
  }
  return paths === undefined ? null : { paths, ranges }
}
