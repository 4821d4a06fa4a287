import { resolveIn } from '../directory.ts'
import { withItem } from '../lists.ts'
import { joinPath } from '../paths.ts'
import type { Word } from '../reading.ts'

/** A program with its arguments, wrappers and quoting out of the way. */
export interface Invocation {
  readonly program: string
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
export function filePath(word: Word, { cwd }: Invocation): string | null {
  return word.text === '-' ? null : resolveIn(cwd, word)
}

/** Like a file, but a pattern may stand for the places that were looked at. */
function scopePath(word: Word, invocation: Invocation): string | null {
  const onlyGlob = word.expansions.length === 1 && word.glob
  if (!onlyGlob) return filePath(word, invocation)
  return invocation.cwd === null ? null : joinPath(invocation.cwd, word.text)
}

/** One result for each scope, or one for the directory the command ran in; null when any of them is not known. */
export function forScopes<Result>(
  words: readonly Word[],
  invocation: Invocation,
  make: (path: string | undefined) => Result,
): Result[] | null {
  if (words.length === 0) {
    if (invocation.cwd === null) return null
    return [make(invocation.moved ? invocation.cwd : undefined)]
  }
  let results: Result[] | undefined
  for (const word of words) {
    const path = scopePath(word, invocation)
    if (path === null) return null
    results = withItem(results, make(path))
  }
  return results ?? []
}
