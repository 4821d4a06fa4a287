import { isPureAwk } from '../awk-program.ts'
import { tableOf } from '../../programs/harmless-options.ts'
import { parseOptions } from '../../programs/options.ts'
import type { OptionTable } from '../../programs/options.ts'
import type { Word } from '../reading.ts'
import { fixed } from './invocation.ts'
import { narrow } from './line-range.ts'
import type { LineRange } from './line-range.ts'
import { selectHead, selectTail } from './readers.ts'
import { isSearchFilter } from './searches.ts'
import { readSed } from './sed.ts'

/** Filters whose arguments need no closer look. */
const PLAIN: ReadonlyMap<string, OptionTable> = new Map(
  'wc sort uniq cut nl cat column less more fold expand rev tac paste'.split(' ').map((name) => [name, tableOf(name)]),
)

const TR = tableOf('tr')
const JQ = tableOf('jq')
const AWK = tableOf('awk')

/** Which of its input lines a later stage of a pipe keeps; null when it may do more than print. */
export type FilterEffect = { readonly lines: 'all' | 'some' } | { readonly lines: 'range'; readonly range: LineRange }

/** Programs that can be filters. */
export const filterNames: readonly string[] = [
  ...PLAIN.keys(),
  'head',
  'tail',
  'sed',
  'grep',
  'egrep',
  'fgrep',
  'rg',
  'awk',
  'gawk',
  'mawk',
  'tr',
  'jq',
]

const SOME: FilterEffect = { lines: 'some' }

export function filterEffect(program: string, args: readonly Word[]): FilterEffect | null {
  switch (program) {
    case 'head':
    case 'tail': {
      const selected = program === 'head' ? selectHead(args) : selectTail(args)
      if (selected === null || !onlyStdin(selected.files)) return null
      return rangeEffect(selected.ranges)
    }
    case 'sed': {
      const sed = readSed(args)
      if (sed === null || !onlyStdin(sed.files)) return null
      return sed.printOnly ? rangeEffect(sed.ranges) : SOME
    }
    case 'grep':
    case 'egrep':
    case 'fgrep':
    case 'rg':
      return isSearchFilter(program, args) ? SOME : null
    case 'awk':
    case 'gawk':
    case 'mawk': {
      const parsed = parseOptions(args, AWK)
      const text = parsed.ok && parsed.operands.length === 1 ? fixed(parsed.operands[0]) : null
      return text !== null && isPureAwk(text) ? SOME : null
    }
    case 'tr': {
      const parsed = parseOptions(args, TR)
      return parsed.ok && parsed.operands.length <= 2 && allFixed(parsed.operands) ? SOME : null
    }
    case 'jq': {
      const parsed = parseOptions(args, JQ)
      return parsed.ok && parsed.operands.length <= 1 && allFixed(parsed.operands) ? SOME : null
    }
    default: {
      const table = PLAIN.get(program)
      const parsed = table === undefined ? undefined : parseOptions(args, table)
      if (parsed?.ok !== true || !onlyStdin(parsed.operands)) return null
      // These only decorate or show lines, so later stages still count the lines of the file.
      return program === 'nl' || program === 'less' || program === 'more' || program === 'cut' ? { lines: 'all' } : SOME
    }
  }
}

function rangeEffect(ranges: readonly LineRange[] | null): FilterEffect {
  const range = ranges?.length === 1 ? ranges[0] : undefined
  return range === undefined ? SOME : { lines: 'range', range }
}

function onlyStdin(words: readonly Word[]): boolean {
  return words.every((word) => word.text === '-' && !word.dynamic)
}

function allFixed(words: readonly Word[]): boolean {
  return words.every((word) => !word.dynamic)
}

/** The lines of the file that are left after all filters. A filter that chooses by content ends the counting. */
export function narrowByFilters(range: LineRange, effects: readonly FilterEffect[]): LineRange {
  let left = range
  for (const effect of effects) {
    if (effect.lines === 'some') return left
    if (effect.lines === 'range') left = narrow(left, effect.range)
  }
  return left
}
