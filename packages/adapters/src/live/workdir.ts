import { realpathSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'

/**
 * Returns the directory that a CLI reports, if it is not the session's. Symbolic links that the CLI resolved are
 * undone, because rules use our name of the directory.
 */
export function workdirOf(told: string | undefined, session: string | undefined): string | undefined {
  if (told === undefined || told === session) return undefined
  if (session === undefined) return told
  const inside = relative(realFolder(session), told)
  if (inside === '') return undefined
  return inside.startsWith('..') || isAbsolute(inside) ? told : join(session, inside)
}

function realFolder(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}
