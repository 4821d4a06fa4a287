import { statSync } from 'node:fs'

/** Device and inode: the file itself, whatever it is called. `null` when there is none. */
export function fileIdentity(path: string): string | null {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`
}

const openHere = new Map<string, number>()

/**
 * The files that stores of this process have open. Such a file must not be opened in any other way: closing it again
 * would drop all locks this process holds on it, as POSIX has it, and another process could then pull the log away from
 * under us.
 */
export const openFiles: {
  has(identity: string | null): boolean
  add(identity: string): void
  remove(identity: string): void
} = {
  has: (identity) => identity !== null && openHere.has(identity),
  add: (identity) => {
    openHere.set(identity, (openHere.get(identity) ?? 0) + 1)
  },
  remove: (identity) => {
    const left = (openHere.get(identity) ?? 0) - 1
    if (left > 0) openHere.set(identity, left)
    else openHere.delete(identity)
  },
}
