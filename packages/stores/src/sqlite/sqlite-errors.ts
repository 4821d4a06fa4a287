import { InspanError, type ErrorCode } from '@inspan/protocol'

/** SQLite's primary result codes that mean something to a caller. */
const SQLITE_BUSY = 5
const SQLITE_LOCKED = 6
const SQLITE_READONLY = 8
const SQLITE_IOERR = 10
const SQLITE_CORRUPT = 11
const SQLITE_FULL = 13
const SQLITE_CANTOPEN = 14
const SQLITE_TOOBIG = 18
const SQLITE_NOTADB = 26
const SQLITE_ERROR = 1
/** No room for the index of the write-ahead log: one of the many kinds of `SQLITE_IOERR`. */
const SQLITE_IOERR_SHMSIZE = 4874

interface SqliteMeaning {
  readonly code: ErrorCode
  readonly what: string
  readonly hint: string
}

const MEANINGS: ReadonlyMap<number, SqliteMeaning> = new Map<number, SqliteMeaning>([
  [SQLITE_BUSY, busy()],
  [SQLITE_LOCKED, busy()],
  [
    SQLITE_READONLY,
    {
      code: 'read-only',
      what: 'cannot be written',
      hint: 'Make the file and its directory writable for this user, or choose another place.',
    },
  ],
  [SQLITE_IOERR, { code: 'io', what: 'could not be read or written', hint: 'Check the disk and the file system.' }],
  [SQLITE_CORRUPT, damaged()],
  [SQLITE_NOTADB, damaged()],
  [
    SQLITE_FULL,
    { code: 'disk-full', what: 'has no room left; nothing was written', hint: 'Free some space and try again.' },
  ],
  [
    SQLITE_CANTOPEN,
    { code: 'io', what: 'cannot be opened', hint: 'Check that its directory exists and is writable for this user.' },
  ],
  [SQLITE_TOOBIG, { code: 'invalid-input', what: 'was given a value that is too large', hint: 'Store it as blobs.' }],
])

/** Turns what node:sqlite throws into one of our errors; anything else goes through unchanged. */
export function fromSqliteError(thrown: unknown, location: string): unknown {
  if (!(thrown instanceof Error) || !('errcode' in thrown) || typeof thrown.errcode !== 'number') return thrown
  const code = thrown.errcode === SQLITE_IOERR_SHMSIZE ? SQLITE_FULL : thrown.errcode & 0xff
  const meaning = MEANINGS.get(code) ?? meaningOfText(thrown.errcode, thrown.message)
  if (meaning === undefined) return thrown
  return new InspanError(meaning.code, `Database ${location} ${meaning.what} (${thrown.message}).`, {
    hint: meaning.hint,
    details: { location, sqlite: thrown.errcode },
    cause: thrown,
  })
}

/** Returns whether somebody else held a lock, for SQLite's own error as well as the one we made of it. */
export function isBusy(thrown: unknown): boolean {
  const code = InspanError.is(thrown)
    ? thrown.details['sqlite']
    : thrown instanceof Error && 'errcode' in thrown && thrown.errcode
  return typeof code === 'number' && (code & 0xff) === SQLITE_BUSY
}

/** Messages of SQLite about a file of ours whose tables differ from its layout: damage, not a mistake in a query. */
const DAMAGE =
  /^no such (table|column|index)|^(table|index) \w+ already exists|^duplicate column|^unsupported file format/

function meaningOfText(errcode: number, message: string): SqliteMeaning | undefined {
  return errcode === SQLITE_ERROR && DAMAGE.test(message) ? damaged() : undefined
}

function damaged(): SqliteMeaning {
  return { code: 'corrupt', what: 'is damaged', hint: 'Restore it from a backup; `inspan doctor` shows what is wrong.' }
}

function busy(): SqliteMeaning {
  return {
    code: 'io',
    what: 'is locked by another process for too long',
    hint: 'Try again, or raise `busyTimeoutMs`.',
  }
}
