import { resolveIn } from '../directory.ts'
import { joinPath } from '../paths.ts'
import type { Word } from '../reading.ts'
import type { RelevantProgram } from './relevant.ts'

/** A program with its arguments, without wrappers and quoting. */
export interface Invocation {
  readonly program: RelevantProgram
  readonly args: readonly Word[]
  /** The file its standard input comes from. */
  readonly stdin: Word | null
  readonly cwd: string | null
  /** A `cd` in the command chose the directory. */
  readonly moved: boolean
}

/** Returns the text of a word that the program receives unchanged, else null. */
export function fixed(word: Word | null | undefined): string | null {
  return word === null || word === undefined || word.dynamic ? null : word.text
}

/** Returns the path of the one file that a word names; null for patterns, expansions and standard input. */
export function filePath(word: Word | undefined, { cwd }: Invocation): string | null {
  return word === undefined || word.text === '-' ? null : resolveIn(cwd, word)
}

/** Like `filePath`, but accepts a pattern as the places that were searched. */
export function scopePath(word: Word | undefined, invocation: Invocation): string | null {
  if (word === undefined) return null
  const onlyGlob = word.expansions.length === 1 && word.glob
  if (!onlyGlob) return filePath(word, invocation)
  return invocation.cwd === null ? null : joinPath(invocation.cwd, word.text)
}
