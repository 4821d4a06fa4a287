import { InspanError } from '@inspan/protocol'

export interface TextEdit {
  readonly old: string
  readonly new: string
  readonly all?: boolean
}

/** A text without its byte order mark and with `\n` as the end of every line, and what it takes to undo that. */
export interface PlainText {
  readonly text: string
  readonly restore: (text: string) => string
}

const BOM = '\u{FEFF}'

/** A text whose lines end differently is left as it is. */
export function plainText(raw: string): PlainText {
  const bom = raw.startsWith(BOM) ? BOM : ''
  const body = raw.slice(bom.length)
  if (!endsWithCrLf(body)) return { text: body, restore: (text) => bom + text }
  return { text: body.replaceAll('\r\n', '\n'), restore: (text) => bom + withCrLf(text) }
}

/** Returns a new text with the line ends and the byte order mark of the old one. */
export function likeBefore(text: string, before: string): string {
  const bom = before.startsWith(BOM) && !text.startsWith(BOM) ? BOM : ''
  return bom + (endsWithCrLf(before) ? withCrLf(text) : text)
}

function endsWithCrLf(text: string): boolean {
  return text.includes('\r\n') && !/(^|[^\r])\n/.test(text)
}

function withCrLf(text: string): string {
  return text.replaceAll(/\r?\n/g, '\r\n')
}

export interface Edited {
  readonly text: string
  readonly count: number
  /** The lines of the new text that the last replacement covers. */
  readonly startLine: number
  readonly endLine: number
}

/** Replaces one text by another: as it is written, or else where only white space at the ends of lines differs. */
export function editText(text: string, { all = false, new: by, old }: TextEdit): Edited {
  if (old === '') throw new InspanError('invalid-input', 'The text to replace is empty.')
  if (old === by) throw new InspanError('invalid-input', 'The old text and the new text are the same.')
  const exact = placesOf(text, old)
  const places = exact.length > 0 ? exact : tolerantPlaces(text, old)
  const [first] = places
  if (first === undefined) {
    throw new InspanError('not-found', 'The text to replace is not in the file.', {
      hint: 'Read the file again and copy the text exactly.',
    })
  }
  if (places.length > 1 && !all) {
    const lines = places.slice(0, 10).map(({ start }) => lineAt(text, start))
    throw new InspanError('invalid-input', `The text occurs ${places.length} times, in lines ${lines.join(', ')}.`, {
      hint: 'Give more of the lines around it, or set replace_all.',
    })
  }
  let result = ''
  let end = 0
  let at = 0
  for (const place of places) {
    result += text.slice(end, place.start)
    at = result.length
    result += place.indent === '' ? by : indented(by, place.indent)
    end = place.end
  }
  const edited = result + text.slice(end)
  return {
    text: edited,
    count: places.length,
    startLine: lineAt(edited, at),
    endLine: lineAt(edited, Math.max(at, result.length - 1)),
  }
}

interface TextSpan {
  readonly start: number
  readonly end: number
  /** What the lines of the file begin with and those of the edit do not. */
  readonly indent: string
}

function placesOf(text: string, old: string): TextSpan[] {
  const places: TextSpan[] = []
  for (let at = text.indexOf(old); at >= 0; at = text.indexOf(old, at + old.length)) {
    places.push({ start: at, end: at + old.length, indent: '' })
  }
  return places
}

/** Finds whole lines that are equal but for white space around them. */
function tolerantPlaces(text: string, old: string): TextSpan[] {
  const wanted = old.replace(/^\n+|\n+$/g, '').split('\n')
  const trimmed = wanted.map((line) => line.trim())
  if (trimmed.every((line) => line === '')) return []
  const lines = text.split('\n')
  const starts: number[] = []
  let offset = 0
  for (const line of lines) {
    starts.push(offset)
    offset += line.length + 1
  }
  const places: TextSpan[] = []
  const borders = bordersOf(trimmed)
  let matched = 0
  for (const [last, line] of lines.entries()) {
    matched = extend(trimmed, borders, matched, line.trim())
    if (matched < trimmed.length) continue
    const at = last + 1 - matched
    const end = (starts[last] ?? 0) + line.length
    places.push({ start: starts[at] ?? 0, end, indent: moreIndent(lines[at] ?? '', wanted[0] ?? '') })
    matched = 0
  }
  return places
}

/**
 * Returns for each beginning of the list how many of its last items are also its first. With that, a search never goes
 * back in what it searches (Knuth, Morris and Pratt).
 */
function bordersOf(items: readonly string[]): readonly number[] {
  const borders = [0]
  for (const item of items.slice(1)) borders.push(extend(items, borders, borders.at(-1) ?? 0, item))
  return borders
}

/** Returns how many of the first items are matched after one more, when so many were before. */
function extend(items: readonly string[], borders: readonly number[], before: number, item: string): number {
  let matched = before
  while (matched > 0 && items[matched] !== item) matched = borders[matched - 1] ?? 0
  return items[matched] === item ? matched + 1 : 0
}

function moreIndent(found: string, given: string): string {
  const [there = ''] = /^[ \t]*/.exec(found) ?? []
  const [here = ''] = /^[ \t]*/.exec(given) ?? []
  return there.endsWith(here) ? there.slice(0, there.length - here.length) : ''
}

function indented(text: string, indent: string): string {
  return text
    .replace(/^\n+|\n+$/g, '')
    .split('\n')
    .map((line) => (line === '' ? line : indent + line))
    .join('\n')
}

function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}
