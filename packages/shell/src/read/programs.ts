import type { Word } from './reading.ts'

const SYSTEM_DIRECTORIES = new Set([
  '/bin',
  '/sbin',
  '/usr/bin',
  '/usr/sbin',
  '/usr/local/bin',
  '/usr/local/sbin',
  '/opt/homebrew/bin',
  '/opt/local/bin',
  '/run/current-system/sw/bin',
])

/** In a system directory a program is what its name says. */
export function isSystemDirectory(path: string): boolean {
  return SYSTEM_DIRECTORIES.has(path)
}

/** Returns the last part of the name, in any directory; null when the name is not fixed. */
export function baseName(name: Word | null): string | null {
  if (name === null || name.dynamic) return null
  return name.text.slice(name.text.lastIndexOf('/') + 1)
}

/** Returns the name that a rule may rely on: found by PATH or in a system directory. */
export function programName(name: Word | null): string | null {
  if (name === null || name.dynamic) return null
  const slash = name.text.lastIndexOf('/')
  if (slash === -1) return name.text
  return isSystemDirectory(name.text.slice(0, slash)) ? name.text.slice(slash + 1) : null
}
