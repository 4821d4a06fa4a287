import { withItem } from '../lists.ts'
import { hasOption, optionTable, optionValue, parseOptions } from '../options.ts'
import type { GivenOption } from '../options.ts'
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

function printer(description: string, ranges: (given: readonly GivenOption[]) => readonly LineRange[] | null): Select {
  const table = optionTable(description)
  return (args) => {
    const parsed = parseOptions(args, table)
    return parsed.ok ? { files: parsed.operands, ranges: ranges(parsed.given) } : null
  }
}

const cat = printer(
  '-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting',
  (given) => (hasOption(given, '-s', '--squeeze-blank') ? null : ALL),
)

const nl = printer(
  '-b: -d: -f: -h: -i: -l: -n: -p -s: -v: -w: --body-numbering: --section-delimiter: --footer-numbering: --header-numbering: ' +
    '--line-increment: --join-blank-lines: --number-format: --no-renumber --number-separator: --starting-line-number: --number-width:',
  () => ALL,
)

const bat = printer(
  '-n -p -P -A -f -u -r: -l: -H: -m: --line-range: --language: --highlight-line: --map-syntax: --style: --paging: --color: ' +
    '--decorations: --wrap: --theme: --tabs: --terminal-width: --file-name: --italic-text: --plain --number --show-all ' +
    '--force-colorization --unbuffered --no-paging',
  (given) => {
    const ranges: LineRange[] = []
    for (const option of given) {
      if (option.name !== '-r' && option.name !== '--line-range') continue
      const range = batRange(option.value?.text ?? '')
      if (range === null) return null
      ranges.push(range)
    }
    return ranges.length === 0 ? ALL : ranges
  },
)

function batRange(text: string): LineRange | null {
  const match = /^(\d*)(?::(\+?)(\d*))?$/.exec(text)
  if (match === null || text === '' || text === ':') return null
  const start = match[1] === undefined || match[1] === '' ? 1 : Number(match[1])
  if (!text.includes(':')) return { start, end: start }
  if (match[3] === undefined || match[3] === '') return { start, end: undefined }
  return { start, end: match[2] === '+' ? start + Number(match[3]) : Number(match[3]) }
}

const pager = printer(
  '-N -R -S -F -X -E -e -n -i -I -M -m -s -K -r -f -g -G -d -c -l -u ' +
    '--LINE-NUMBERS --RAW-CONTROL-CHARS --chop-long-lines --quit-if-one-screen --no-init --quit-at-eof',
  () => ALL,
)

const more = printer(
  '-d -e -f -l -p -c -s -u -n: --silent --exit-on-eof --logical --no-pause --print-over --clean-print --squeeze --plain --lines:',
  () => ALL,
)

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

const wc = printer('-c -m -l -L -w --bytes --chars --lines --max-line-length --words --total:', () => null)

const tac = printer('-b -r -s: --before --regex --separator:', () => null)

const HEAD = optionTable('-n: -c: -q -v -z --lines: --bytes: --quiet --silent --verbose --zero-terminated', {
  digits: true,
})
const TAIL = optionTable('-n: -c: -q -v -z --lines: --bytes: --quiet --silent --verbose --zero-terminated', {
  digits: true,
})

export function selectHead(args: readonly Word[]): Selection | null {
  const parsed = parseOptions(args, HEAD)
  if (!parsed.ok) return null
  const range = hasOption(parsed.given, '-c', '--bytes', '-z', '--zero-terminated')
    ? null
    : firstLines(countOf(parsed.given))
  return { files: parsed.operands, ranges: range === null ? null : [range] }
}

export function selectTail(args: readonly Word[]): Selection | null {
  // `tail +5 file` is the syntax from before options had letters.
  const old = args[0] !== undefined && /^\+\d{1,9}$/.test(args[0].text) ? args[0].text : null
  const parsed = parseOptions(old === null ? args : args.slice(1), TAIL)
  if (!parsed.ok) return null
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
