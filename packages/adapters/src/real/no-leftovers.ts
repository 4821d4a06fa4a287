import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { ownPrefix } from '../launch/abandoned-dirs.ts'

/** At the end of a suite: no directory that programs were handed files in is left of this process. */
export async function assertNoPrivateDirs(): Promise<void> {
  const prefix = await ownPrefix()
  const left = (await readdir(tmpdir())).filter((name) => name.startsWith(prefix))
  assert.deepEqual(left, [], 'no temporary directory is left')
}
