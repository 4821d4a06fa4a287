import { statSync } from 'node:fs'

/** Device and inode: the file itself, whatever it is called. `null` when there is none, or none that can be reached. */
export function fileIdentity(path: string): string | null {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return null
  }
}

/**
 * What a copy or a restored file does not share with the original: device, inode and time of birth. An inode may be
 * given to the next file at once, so the birth belongs to it. A file system that does not know it gives the time of the
 * last change instead, which says nothing, as does a birth in the same moment as the last change.
 */
export function fileOrigin(path: string): string {
  const { dev, ino, birthtimeNs, ctimeNs } = statSync(path, { bigint: true })
  const isBirthKnown = birthtimeNs !== 0n && birthtimeNs !== ctimeNs
  return `${dev}:${ino}:${isBirthKnown ? birthtimeNs : ''}`
}

export function isSameOrigin(a: string, b: string): boolean {
  const [deviceA, inodeA, birthA] = a.split(':')
  const [deviceB, inodeB, birthB] = b.split(':')
  return deviceA === deviceB && inodeA === inodeB && (birthA === '' || birthB === '' || birthA === birthB)
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
