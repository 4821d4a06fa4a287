import type { Expansion, Word } from '../reading.ts'
import { literalWord } from '../words.ts'

/** Lists in braces, none inside another, among characters that mean themselves or are a file pattern. */
const PLAIN_LISTS = /^(?:[\w./*?@%+=:-]|\{[\w./*?@%+=:-]*(?:,[\w./*?@%+=:-]*)+\})+$/
const LIST = /\{([^}]*)\}/
const PATTERN = /[*?]/
const GLOB: readonly Expansion[] = ['glob']
/** More words than anybody writes this way for files that they want to see. */
const MAX_WORDS = 64

/** The words with braces as bash makes them of these; what is more than plain lists stays as it is. */
export function withoutBraces(words: readonly Word[]): readonly Word[] {
  return words.some((word) => word.expansions.includes('brace')) ? words.flatMap(expanded) : words
}

function expanded(word: Word): readonly Word[] {
  if (!word.expansions.includes('brace') || !PLAIN_LISTS.test(word.source)) return [word]
  let texts: readonly string[] = ['']
  // Every other piece is what stands between braces.
  for (const [index, piece] of word.source.split(LIST).entries()) {
    const choices = index % 2 === 0 ? [piece] : piece.split(',')
    texts = texts.flatMap((text) => choices.map((choice) => text + choice))
    if (texts.length > MAX_WORDS) return [word]
  }
  return texts.filter((text) => text !== '').map((text) => wordOf(text))
}

function wordOf(text: string): Word {
  if (!PATTERN.test(text)) return literalWord(text)
  return { text, source: text, quoted: false, expansions: GLOB, dynamic: true, glob: true, splits: true }
}
