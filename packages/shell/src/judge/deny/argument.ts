import { programBase } from '../../programs/program-base.ts'
import type { SimpleCommand, Word } from '../../read/index.ts'

/** Expansions whose results all begin like the word itself. */
const KEEPS_BEGINNING = new Set(['glob', 'brace', 'tilde', 'process', 'arithmetic'])
const EXPANDING = /^[$`*?[{<>~!@+(]/
const OPENS_PROCESS = /^[<>]\(/

export function isOption(text: string): boolean {
  return text.length > 1 && text.startsWith('-')
}

/** True when the text of the word is what the program gets, apart from a leading `~`. */
export function isReadable(word: Word): boolean {
  return !word.dynamic || (word.expansions.length === 1 && word.expansions[0] === 'tilde')
}

/** Returns the program of a command, whatever its folder and spelling; empty when it is only known at run time. */
export function baseOf({ name }: Pick<SimpleCommand, 'name'>): string {
  return name === null || !isReadable(name) ? '' : programBase(name.text)
}

/** True when the word may turn out to be an option, or to contain one, when the command runs. */
export function mayBecomeOption(word: Word): boolean {
  if (isReadable(word)) return false
  if (word.expansions.every((expansion) => expansion === 'process')) return !OPENS_PROCESS.test(word.text)
  if (word.expansions.every((expansion) => expansion === 'arithmetic')) return false
  if (word.text === '' || word.text.startsWith('-') || EXPANDING.test(word.text)) return true
  return word.splits && !word.expansions.every((expansion) => KEEPS_BEGINNING.has(expansion))
}
