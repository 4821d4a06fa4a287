import type { Expansion, Word } from '../reading.ts'
import { literalWord } from '../words.ts'

/** Brace lists, not nested, among literal characters and file patterns. */
const PLAIN_LISTS = /^(?:[\w./*?@%+=:-]|\{[\w./*?@%+=:-]*(?:,[\w./*?@%+=:-]*)+\})+$/
const LIST = /\{([^}]*)\}/
const PATTERN = /[*?]/
const GLOB: readonly Expansion[] = ['glob']
/** More words than anybody writes this way to look at files. */
const MAX_WORDS = 64

/** Expands brace lists as bash does. Words with more than plain lists stay as they are. */
export function withoutBraces(words: readonly Word[]): readonly Word[] {
  return words.some((word) => word.expansions.includes('brace')) ? words.flatMap(expanded) : words
}

function expanded(word: Word): readonly Word[] {
  if (!word.expansions.includes('brace') || !PLAIN_LISTS.test(word.source)) return [word]
  let texts: readonly string[] = ['']
  // Every other piece is the content of braces.
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
