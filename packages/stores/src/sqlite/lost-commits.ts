import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'

/** The commits in a write-ahead log, as its index says. Survives the death of a process, not that of the machine. */
export interface LoggedCommits {
  /** Chosen anew whenever the log is begun again. */
  readonly salt: string
  /** The number of pages in the log up to the last commit. */
  readonly frames: number
  /** How many of them are in the database file already. */
  readonly moved: number
  readonly pageBytes: number
}

/** The layout of an index, which has not changed since SQLite 3.7.0. */
const VERSION = 3_007_000
const HEADER_BYTES = 48
const WAL_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24

/**
 * Reads the index of the log beside a database (`-shm`). `undefined` where there is none, or while another process is
 * writing it.
 */
export function loggedCommits(path: string): LoggedCommits | undefined {
  const bytes = read(`${path}-shm`, 2 * HEADER_BYTES + 4)
  if (bytes === undefined || bytes.length < 2 * HEADER_BYTES + 4) return undefined
  const header = bytes.subarray(0, HEADER_BYTES)
  if (!header.equals(bytes.subarray(HEADER_BYTES, 2 * HEADER_BYTES))) return undefined
  const number = (at: number): number => new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, IS_LITTLE)
  if (number(0) !== VERSION || header[12] !== 1) return undefined
  const pageBytes = new DataView(bytes.buffer, bytes.byteOffset).getUint16(14, IS_LITTLE)
  return {
    salt: header.toString('hex', 32, 40),
    frames: number(16),
    moved: number(2 * HEADER_BYTES),
    // A page of 64 KiB does not fit into 16 bits.
    pageBytes: pageBytes === 1 ? 65_536 : pageBytes,
  }
}

/** Returns whether commits that the index knows are no longer in the log, before SQLite opens it. */
export function hasLostCommits(path: string, logged: LoggedCommits): boolean {
  const { frames, moved, pageBytes, salt } = logged
  if (moved >= frames) return false
  const wal = `${path}-wal`
  const size = statSync(wal, { throwIfNoEntry: false })?.size ?? 0
  const isWhole =
    size >= WAL_HEADER_BYTES + frames * (FRAME_HEADER_BYTES + pageBytes) &&
    read(wal, WAL_HEADER_BYTES)?.toString('hex', 16, 24) === salt
  // Another process may have begun the log again meanwhile.
  return !isWhole && isDeepStrictEqual(loggedCommits(path), logged)
}

/** Returns whether SQLite has found fewer commits in the log than were there: a page in it is damaged. */
export function hasRecoveredLess(before: LoggedCommits, after: LoggedCommits | undefined): boolean {
  return before.moved < before.frames && after?.salt === before.salt && after.frames < before.frames
}

const IS_LITTLE = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1

function read(path: string, most: number): Buffer | undefined {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch {
    // It does not exist, or may not be read; opening says so.
    return undefined
  }
  try {
    const bytes = Buffer.alloc(most)
    return bytes.subarray(0, readSync(fd, bytes, 0, most, 0))
  } finally {
    closeSync(fd)
  }
}
