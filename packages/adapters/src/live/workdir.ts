import { realpathSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'

/**
 * Where a program says that it stands, if that is not the folder of its session. Links that it has followed to get there
 * are undone: rules are about the folder as we name it.
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
