import { realpathSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'

/**
 * Returns the directory that a CLI reports, if it is not the session's. Symbolic links that the CLI resolved are
 * undone, because rules use our name of the directory.
 */
export function workdirOf(reported: string | undefined, session: string | undefined): string | undefined {
  if (reported === undefined || reported === session) return undefined
  if (session === undefined) return reported
  const inside = relative(realFolder(session), reported)
  if (inside === '') return undefined
  return inside.startsWith('..') || isAbsolute(inside) ? reported : join(session, inside)
}

function realFolder(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}
