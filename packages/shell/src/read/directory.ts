import { optionTable, parseOptions } from '../programs/options.ts'
import { isAbsolute, joinPath } from './paths.ts'
import type { Word } from './reading.ts'

const TILDE = 0x7e

/** The working directory of one shell process, as far as the text tells. */
export interface Directory {
  path: string | null
  assumed: boolean
}

export function startDirectory(cwd: string | undefined): Directory {
  return { path: cwd ?? '.', assumed: false }
}

export function copyDirectory(directory: Directory): Directory {
  return { path: directory.path, assumed: directory.assumed }
}

/** Returns a word as a path if it is fixed. An unquoted `~` at its start is kept. */
function wordPath(word: Word): string | null {
  if (!word.dynamic) return word.text.charCodeAt(0) === TILDE ? `./${word.text}` : word.text
  if (word.expansions.length > 1 || word.expansions[0] !== 'tilde') return null
  return isAbsolute(word.text) ? word.text : null
}

/** Resolves a word against a directory; null when either is unknown. */
export function resolveIn(directory: string | null, word: Word): string | null {
  const path = wordPath(word)
  if (path === null || path === '') return null
  if (directory !== null) return joinPath(directory, path)
  return isAbsolute(path) ? path : null
}

const CD = optionTable('-L -P -e -@')

/** Changes the directory as `cd`, `pushd` or `popd` with these arguments would. */
export function changeDirectory(directory: Directory, program: string, args: readonly Word[]): void {
  const parsed = parseOptions(args, CD, true)
  const target = parsed.ok ? parsed.operands[0] : undefined
  if (program === 'cd' && parsed.ok && target === undefined) {
    directory.path = '~'
    return
  }
  const plain = program !== 'popd' && target !== undefined && !/^(?:-$|\+\d)/.test(target.text)
  const single = parsed.ok && parsed.operands.length === 1
  directory.path = plain && single ? resolveIn(directory.path, target) : null
}
