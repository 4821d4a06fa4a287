import { statSync } from 'node:fs'

/**
 * Returns device and inode, which identify the file whatever its name. `null` when it does not exist or cannot be
 * reached.
 */
export function fileIdentity(path: string): string | null {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return null
  }
}

/**
 * Returns what a copy or a restored file does not share with the original: device, inode and time of birth. An inode
 * may be reused at once, so the birth is part of it. A file system without birth times returns the time of the last
 * change instead, so a birth equal to the last change says nothing.
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
 * would drop all locks of this process on it, by the rules of POSIX, and another process could then remove the log
 * while we use it.
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
