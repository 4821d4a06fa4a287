import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { InspanError } from '@inspan/protocol'

/** The first bytes of the files that SQLite keeps beside a database; all zeros means not yet begun. */
const BEGINNINGS: ReadonlyMap<string, readonly string[]> = new Map([
  ['-wal', ['377f0682', '377f0683']],
  ['-journal', ['d9d505f920a163d7']],
])

/**
 * Inspects the files beside a database before SQLite does, which takes them for its own by their names alone, ignores
 * what it cannot read, and removes them in the end.
 */
export function refuseForeignLogs(path: string): void {
  for (const suffix of ['-wal', '-journal', '-shm']) {
    const stats = statSync(path + suffix, { throwIfNoEntry: false })
    if (stats === undefined) continue
    if (!stats.isFile()) throw inTheWay(path + suffix, 'is not a regular file')
    const known = BEGINNINGS.get(suffix)
    if (known === undefined || stats.size === 0) continue
    const beginning = readBeginning(path + suffix, (known[0] ?? '').length / 2)
    if (/[^0]/.test(beginning) && !known.some((one) => one.startsWith(beginning))) {
      throw inTheWay(path + suffix, 'is no log of an SQLite database')
    }
  }
}

/** True when the write-ahead log or a rollback journal has content. */
export function hasLog(path: string): boolean {
  return sizeOf(`${path}-wal`) > 0 || sizeOf(`${path}-journal`) > 0
}

/** The error for a log without its database file: SQLite would remove what is left. */
export function logWithoutFile(path: string): InspanError {
  return new InspanError(
    'corrupt',
    `${path} is missing or empty, but its log ${path}-wal is there. Nothing was changed.`,
    {
      hint: 'Put the file back, or remove the log to start anew.',
      details: { path },
    },
  )
}

export function hasWriteAheadLog(path: string): boolean {
  return sizeOf(`${path}-wal`) > 0
}

function sizeOf(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats?.isFile() === true ? stats.size : 0
}

/** Returns up to this many bytes in hex; empty when another process has just removed the file. */
function readBeginning(path: string, bytes: number): string {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
  try {
    const buffer = Buffer.alloc(bytes)
    return buffer.toString('hex', 0, readSync(fd, buffer, 0, bytes, 0))
  } finally {
    closeSync(fd)
  }
}

function inTheWay(path: string, what: string): InspanError {
  return new InspanError('foreign-file', `${path} ${what}, but SQLite would take it for one. Nothing was changed.`, {
    hint: 'Move it away, or choose another file for Inspan.',
    details: { path },
  })
}
