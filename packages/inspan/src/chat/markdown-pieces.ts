/** A line that begins a paragraph of its own: no list, quote, table, heading, fence, HTML or indented text. */
const PLAIN = /^[\p{L}\p{N}*_`"'(“‘](?!\s)/u
const LIST = /^\s*(?:[-*+]|\d{1,9}[.)])\s/
const FENCE = /^ {0,3}(`{3,}|~{3,})/
/** What reaches over empty lines: definitions of links count everywhere, and HTML may go on. */
const REACHES_FAR = /^ {0,3}(?:\[[^\]]+\]:|<)/m

/**
 * Splits Markdown before paragraphs, where nothing before can change any more while the text grows. Joined with empty
 * lines the pieces are the text again, and each looks alone as it does in the whole.
 */
export function markdownPieces(text: string): readonly string[] {
  if (REACHES_FAR.test(text)) return [text]
  const pieces: string[] = []
  let piece: string[] = []
  let gaps = 0
  let hasList = false
  let fence: string | undefined
  for (const line of text.split('\n')) {
    const [, mark] = FENCE.exec(line) ?? []
    // Only after exactly one empty line and another plain paragraph, so that the distance between both is known.
    if (fence === undefined && gaps === 1 && !hasList && piece.at(-1) === '' && isPlain(piece[0]) && isPlain(line)) {
      pieces.push(piece.slice(0, -1).join('\n'))
      piece = []
      gaps = 0
    }
    if (mark !== undefined) {
      if (fence === undefined) fence = mark
      else if (mark.startsWith(fence) && line.trim() === mark) fence = undefined
    }
    if (line === '') gaps++
    hasList ||= LIST.test(line)
    piece.push(line)
  }
  return [...pieces, piece.join('\n')]
}

function isPlain(line = ''): boolean {
  return PLAIN.test(line) && !LIST.test(line) && !FENCE.test(line)
}
