import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { InspanError, type ErrorCode } from '@inspan/protocol'
import { SqliteStore, type SqliteStoreOptions } from '../src/sqlite-store.ts'
import { filesIn } from './files.ts'

/** Opening fails with this code, says what to do, and leaves the directory byte for byte as it was. */
export async function refused(
  directory: string,
  url: string,
  code: ErrorCode,
  options: Partial<SqliteStoreOptions> = {},
): Promise<InspanError> {
  const before = await filesIn(directory)
  // Changes also when a file was made beside the others and removed again.
  const { mtimeMs } = await stat(directory)
  const store = new SqliteStore({ url, ...options })
  const error = await store.open().then(
    () => assert.fail('it was opened'),
    (thrown: unknown) => thrown,
  )
  await store.close()
  assert.ok(InspanError.is(error, code), String(error))
  assert.match(error.hint ?? '', /./)
  assert.deepEqual(await filesIn(directory), before)
  if (!isLookedInto(code)) assert.equal((await stat(directory)).mtimeMs, mtimeMs)
  return error
}

/** What is damaged inside shows only when SQLite reads it, and its log comes and goes with that. */
function isLookedInto(code: ErrorCode): boolean {
  return code === 'corrupt'
}
