/** A here-document body taken out of a text before it is parsed. */
interface Cut {
  /** Where the body was, as a position in the shortened text. */
  readonly at: number
  readonly delimiter: string
  readonly body: string
}

const QUOTED = /<<(-?)[ \t]*(?:'([^'\n]+)'|"([\w.-]+)"|\\(\w+))/g

/**
 * A text without the bodies of its quoted here-documents. Files are often written that way, and their code is full of
 * brackets on which the parser would spend its time in vain. The cuts are guesses made by pattern: each holds only
 * if the parser then finds a here-document at that very place (`bodyAt`), and all must hold (`allFound`).
 */
export class ShortenedText {
  readonly original: string
  readonly text: string
  readonly #cuts: readonly Cut[]
  readonly #found = new Set<Cut>()

  constructor(original: string, text: string, cuts: readonly Cut[]) {
    this.original = original
    this.text = text
    this.#cuts = cuts
  }

  bodyAt(position: number, delimiter: string): string | null {
    const cut = this.#cuts.find((candidate) => candidate.at === position && candidate.delimiter === delimiter)
    if (cut === undefined) return null
    this.#found.add(cut)
    return cut.body
  }

  get allFound(): boolean {
    return this.#found.size === this.#cuts.length
  }

  /** A position of the shortened text in the original one. */
  originalPosition(position: number): number {
    let shift = 0
    for (const cut of this.#cuts) if (cut.at < position) shift += cut.body.length
    return position + shift
  }
}

export function shorten(original: string): ShortenedText {
  const kept: string[] = []
  const cuts: Cut[] = []
  let length = 0
  const keep = (from: number, to: number): void => {
    kept.push(original.slice(from, to))
    length += to - from
  }
  let lineStart = 0
  while (lineStart < original.length) {
    let next = lineEnd(original, lineStart)
    keep(lineStart, next)
    for (const match of original.slice(lineStart, next).matchAll(QUOTED)) {
      const delimiter = match[2] ?? match[3] ?? match[4] ?? ''
      const end = findDelimiter(original, next, delimiter, match[1] === '-')
      if (end === null) break
      if (end > next) cuts.push({ at: length, delimiter, body: original.slice(next, end) })
      next = lineEnd(original, end)
      keep(end, next)
    }
    lineStart = next
  }
  return new ShortenedText(original, kept.join(''), cuts)
}

/** Past the newline of the line that starts here. */
function lineEnd(text: string, from: number): number {
  const newline = text.indexOf('\n', from)
  return newline === -1 ? text.length : newline + 1
}

/** Start of the line that closes the here-document. */
function findDelimiter(text: string, from: number, delimiter: string, stripTabs: boolean): number | null {
  for (let at = from; at < text.length; at = lineEnd(text, at)) {
    const line = text.slice(at, lineEnd(text, at)).replace(/\n$/, '')
    if ((stripTabs ? line.replace(/^\t+/, '') : line) === delimiter) return at
  }
  return null
}
