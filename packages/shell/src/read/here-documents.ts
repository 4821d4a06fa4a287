/** The body of a here-document that was cut out of a text before parsing. */
interface DocumentCut {
  /** The position of the cut in the shortened text. */
  readonly at: number
  readonly delimiter: string
  readonly body: string
}

const QUOTED = /<<(-?)[ \t]*(?:'([^'\n]+)'|"([\w.-]+)"|\\(\w+))/g

/**
 * A text without the bodies of its quoted here-documents. Files are often written that way, and their code is full of
 * brackets that would cost the parser time for nothing. The cuts are guesses by pattern: each is valid only if the
 * parser finds a here-document at that very position (`bodyAt`), and all must be valid (`allFound`).
 */
export class ShortenedText {
  readonly original: string
  readonly text: string
  readonly #cuts: readonly DocumentCut[]
  readonly #found = new Set<DocumentCut>()

  constructor(original: string, text: string, cuts: readonly DocumentCut[]) {
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

  /** Converts a position in the shortened text into one in the original. */
  originalPosition(position: number): number {
    let shift = 0
    for (const cut of this.#cuts) if (cut.at < position) shift += cut.body.length
    return position + shift
  }
}

export function shorten(original: string): ShortenedText {
  const kept: string[] = []
  const cuts: DocumentCut[] = []
  const lines = new LineIndex(original)
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
      const end = lines.find(delimiter, next, match[1] === '-')
      if (end === undefined) break
      if (end > next) cuts.push({ at: length, delimiter, body: original.slice(next, end) })
      next = lineEnd(original, end)
      keep(end, next)
    }
    lineStart = next
  }
  return new ShortenedText(original, kept.join(''), cuts)
}

/** Returns the position after the newline of the line that starts here. */
function lineEnd(text: string, from: number): number {
  const newline = text.indexOf('\n', from)
  return newline === -1 ? text.length : newline + 1
}

/** The start positions of lines by their content, so that finding a line need not read all of them. */
class LineIndex {
  readonly #plain = new Map<string, number[]>()
  readonly #stripped = new Map<string, number[]>()

  constructor(text: string) {
    for (let at = 0; at < text.length; at = lineEnd(text, at)) {
      const line = text.slice(at, lineEnd(text, at)).replace(/\n$/, '')
      addTo(this.#plain, line, at)
      addTo(this.#stripped, line.replace(/^\t+/, ''), at)
    }
  }

  /** Returns the start of the first such line at or after a position. */
  find(line: string, from: number, stripTabs: boolean): number | undefined {
    const starts = (stripTabs ? this.#stripped : this.#plain).get(line) ?? []
    let low = 0
    let high = starts.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? from) < from) low = middle + 1
      else high = middle
    }
    return starts[low]
  }
}

function addTo(index: Map<string, number[]>, line: string, start: number): void {
  const starts = index.get(line)
  if (starts === undefined) index.set(line, [start])
  else starts.push(start)
}
