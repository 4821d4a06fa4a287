import { closeSync, fstatSync, lstatSync, openSync, readSync, statSync, unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { InspanError, type ErrorCode } from '@inspan/protocol'
import { hasLog, hasWriteAheadLog, logWithoutFile, refuseForeignLogs } from './log-inspection.ts'
import { APPLICATION_ID, SCHEMA_VERSION } from './migrations.ts'
import { isBusy } from './sqlite-errors.ts'

const MAGIC = 'SQLite format 3\0'
/** The end of the file header and the page header of the schema table, up to its cell count. */
const HEADER_BYTES = 105
const USER_VERSION_AT = 60
const APPLICATION_ID_AT = 68
const SCHEMA_PAGE_AT = 100
/**
 * Header bytes that are the same in every file of ours, by position. Damage there may only show at a write, or look
 * like something else: SQLite calls a file with a version it does not know read-only.
 */
const CONSTANT_BYTES: ReadonlyMap<number, readonly number[]> = new Map([
  [18, [1, 2]], // write version: 2 once the log is on
  [19, [1, 2]], // read version
  [20, [0]], // bytes reserved in every page
  [21, [64]],
  [22, [32]],
  [23, [32]],
  [56, [0]],
  [57, [0]],
  [58, [0]],
  [59, [1]], // UTF-8
])
const TABLE_LEAF = 0x0d

/**
 * Inspects a file before SQLite does: opening alone would leave traces beside a file that is not ours. Returns whether
 * the file was created by this call, so that a later failure can remove it again.
 */
export function inspectFile(path: string): { created: boolean } {
  try {
    refuseForeignLogs(path)
    // Checked before the file: another process that is creating the database now begins with the file.
    const isLogged = hasWriteAheadLog(path)
    if (isLogged && lstatSync(path, { throwIfNoEntry: false }) === undefined) throw logWithoutFile(path)
    if (createIfMissing(path)) return { created: true }
    requireWritable(path)
    refuseForeign(path, isLogged)
    return { created: false }
  } catch (error) {
    throw fromFileError(error, path)
  }
}

/** Removes the file that `inspectFile` created, unless somebody else has written to it meanwhile, or is about to. */
export function removeIfEmpty(path: string, failure: unknown): void {
  try {
    if (statSync(path).size === 0 && !isBusy(failure) && !hasLog(path)) unlinkSync(path)
  } catch {
    // It is gone already: nothing to remove.
  }
}

/** Conversations are private: nobody else may read the file. SQLite gives its log the same mode. */
function createIfMissing(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o600))
    return true
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false
    throw error
  }
}

function requireWritable(path: string): void {
  const fd = openSync(path, 'r+')
  try {
    if (!fstatSync(fd).isFile()) {
      throw new InspanError('invalid-input', `${path} is not a regular file.`, { hint: 'Give the path of a file.' })
    }
  } finally {
    closeSync(fd)
  }
}

function refuseForeign(path: string, isLogged: boolean): void {
  const header = readHeader(path)
  if (header.length === 0 && isLogged) throw logWithoutFile(path)
  if (header.length === 0) return
  if (header.length < HEADER_BYTES || header.toString('latin1', 0, MAGIC.length) !== MAGIC) {
    throw foreign(path, 'is not an SQLite database')
  }
  const applicationId = header.readUInt32BE(APPLICATION_ID_AT)
  if (applicationId !== APPLICATION_ID) {
    // Tables may be in a log that has not been moved into the file yet.
    if (applicationId === 0 && isWithoutTables(header) && !hasLog(path)) return
    throw foreign(path, 'is a database of another program')
  }
  refuseNewer(path, header.readUInt32BE(USER_VERSION_AT))
  for (const [at, values] of CONSTANT_BYTES) {
    if (!values.includes(header.readUInt8(at))) throw damagedHeader(path, at)
  }
}

function damagedHeader(path: string, at: number): InspanError {
  return new InspanError('corrupt', `The header of database ${path} is damaged. Nothing was changed.`, {
    hint: 'Restore it from a backup.',
    details: { path, at },
  })
}

export function refuseNewer(path: string, version: number): void {
  if (version <= SCHEMA_VERSION) return
  throw new InspanError('newer-version', `${path} was written by a newer version of Inspan (layout ${version}).`, {
    hint: 'Update Inspan, or open another file. Nothing was changed.',
    details: { path, version, known: SCHEMA_VERSION },
  })
}

function readHeader(path: string): Buffer {
  const fd = openSync(path, 'r')
  try {
    const header = Buffer.alloc(HEADER_BYTES)
    return header.subarray(0, readSync(fd, header, 0, HEADER_BYTES, 0))
  } finally {
    closeSync(fd)
  }
}

function isWithoutTables(header: Buffer): boolean {
  return header[SCHEMA_PAGE_AT] === TABLE_LEAF && header.readUInt16BE(SCHEMA_PAGE_AT + 3) === 0
}

function foreign(path: string, what: string): InspanError {
  return new InspanError('foreign-file', `${path} ${what}. Nothing was changed.`, {
    hint: 'Choose another file for Inspan.',
    details: { path },
  })
}

function fromFileError(error: unknown, path: string): unknown {
  const errno = errnoOf(error)
  if (errno === undefined) return error
  const { code, what, hint } = meaningOf(errno, path)
  return new InspanError(code, `${path} ${what} (${errno}).`, { hint, details: { path, errno }, cause: error })
}

function meaningOf(errno: string, path: string): { code: ErrorCode; what: string; hint: string } {
  const directory = dirname(path)
  switch (errno) {
    case 'ENOENT':
      if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
        return {
          code: 'not-found',
          what: 'is a link to a file that is not there',
          hint: 'Correct the link, or remove it.',
        }
      }
      // The directory exists, so it is one in which no file can be created, as in /proc.
      return statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true
        ? readOnly()
        : { code: 'not-found', what: 'cannot be created', hint: `Create the directory ${directory} first.` }
    case 'ENOTDIR':
      return { code: 'invalid-input', what: 'lies below something that is no directory', hint: 'Correct the path.' }
    case 'EISDIR':
      return { code: 'invalid-input', what: 'is a directory', hint: 'Give the path of a file in it.' }
    case 'ENXIO':
      return { code: 'invalid-input', what: 'is not a regular file', hint: 'Give the path of a file.' }
    case 'ELOOP':
      return {
        code: 'invalid-input',
        what: 'is a link that leads back to itself',
        hint: 'Correct the link, or remove it.',
      }
    case 'ENAMETOOLONG':
      return { code: 'invalid-input', what: 'is too long a name', hint: 'Choose a shorter one.' }
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return readOnly()
    case 'ENOSPC':
    case 'EDQUOT':
      return { code: 'disk-full', what: 'has no room left', hint: 'Free some space and try again.' }
    default:
      return { code: 'io', what: 'cannot be opened', hint: 'Check the disk and the file system.' }
  }
}

function readOnly(): { code: ErrorCode; what: string; hint: string } {
  return {
    code: 'read-only',
    what: 'cannot be written',
    hint: 'Make the file and its directory writable for this user, or choose another place.',
  }
}

function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && 'errno' in error && typeof error.code === 'string'
    ? error.code
    : undefined
}
