import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { ownPrefix } from '../../src/launch/abandoned-dirs.ts'

/** Checks at the end of a suite that this process has left no private directory behind. */
export async function assertNoPrivateDirs(): Promise<void> {
  const prefix = await ownPrefix()
  const left = (await readdir(tmpdir())).filter((name) => name.startsWith(prefix))
  assert.deepEqual(left, [], 'no temporary directory is left')
}
