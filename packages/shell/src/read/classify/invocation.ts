import { resolveIn } from '../directory.ts'
import { joinPath } from '../paths.ts'
import type { Word } from '../reading.ts'
import type { RelevantProgram } from './relevant.ts'

/** A program with its arguments, wrappers and quoting out of the way. */
export interface Invocation {
  readonly program: RelevantProgram
  readonly args: readonly Word[]
  /** The file its standard input comes from. */
  readonly stdin: Word | null
  readonly cwd: string | null
  /** Its directory was chosen by a `cd` in the command. */
  readonly moved: boolean
}

/** A word that the program receives exactly as it stands. */
export function fixed(word: Word | null | undefined): string | null {
  return word === null || word === undefined || word.dynamic ? null : word.text
}

/** The one file a word names; null for patterns, expansions and standard input. */
export function filePath(word: Word | undefined, { cwd }: Invocation): string | null {
  return word === undefined || word.text === '-' ? null : resolveIn(cwd, word)
}

/** Like a file, but a pattern may stand for the places that were looked at. */
export function scopePath(word: Word | undefined, invocation: Invocation): string | null {
  if (word === undefined) return null
  const onlyGlob = word.expansions.length === 1 && word.glob
  if (!onlyGlob) return filePath(word, invocation)
  return invocation.cwd === null ? null : joinPath(invocation.cwd, word.text)
}
