import { optionTable, parseOptions } from './options.ts'
import { joinPath } from './paths.ts'
import type { Word } from './reading.ts'

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

/** A word as a path: fixed, or with an unquoted `~` in front, which stays as it is. */
export function wordPath(word: Word): string | null {
  if (!word.dynamic) return word.text.startsWith('~') ? `./${word.text}` : word.text
  if (word.expansions.length > 1 || word.expansions[0] !== 'tilde') return null
  return word.text === '~' || word.text.startsWith('~/') ? word.text : null
}

export function resolveIn(directory: string | null, word: Word): string | null {
  const path = wordPath(word)
  if (path === null || path === '') return null
  if (directory === '.' && path !== '.') return path
  return directory === null ? joinUnknown(path) : joinPath(directory, path)
}

function joinUnknown(path: string): string | null {
  return path.startsWith('/') || path.startsWith('~') ? path : null
}

const CD = optionTable('-L -P -e -@')

/** Moves the directory as `cd`, `pushd` or `popd` with these arguments would. */
export function changeDirectory(directory: Directory, program: string, args: readonly Word[]): void {
  const parsed = parseOptions(args, CD, true)
  const target = parsed.ok ? parsed.operands[0] : undefined
  if (program === 'cd' && parsed.ok && target === undefined) {
    directory.path = '~'
    return
  }
  if (program === 'popd' || target === undefined || target.text === '-' || (parsed.ok && parsed.operands.length > 1)) {
    directory.path = null
    return
  }
  directory.path = resolveIn(directory.path, target)
}
