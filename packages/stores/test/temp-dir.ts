import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Runs the test with a directory of its own and removes it afterwards. */
export function inTempDir(test: (directory: string) => Promise<void>): () => Promise<void> {
  return async () => {
    const directory = await mkdtemp(join(tmpdir(), 'inspan-store-'))
    try {
      await test(directory)
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  }
}
