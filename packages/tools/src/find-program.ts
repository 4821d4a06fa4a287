import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { resolveLinks } from './resolve-links.ts'
import { isWithin } from './safe-file.ts'

const ENDING = process.platform === 'win32' ? '.exe' : ''

/**
 * Returns the path of a program that we start ourselves, or `undefined` if it is not installed. `folder`: where agents
 * write. A program in it may be theirs, and ours run outside of every sandbox; so it is passed over, as are relative
 * parts of PATH.
 */
export function findProgram(name: string, folder: string): string | undefined {
  const own = resolveLinks(folder)
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter(isAbsolute)
    .map((place) => join(place, name + ENDING))
    .find((path) => isExecutable(path) && !isBelow(own, path))
}

/** Whether the file is in the folder, or a link in it leads to the file. */
function isBelow(folder: string, path: string): boolean {
  return [dirname(path), path].some((each) => isWithin(folder, resolveLinks(each)))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
