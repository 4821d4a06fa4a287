import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownPrefix, removeAbandoned } from './abandoned-dirs.ts'

export interface PrivateFile {
  /** A file name without directories. */
  readonly name: string
  readonly content: string | Uint8Array
}

/** A directory for the files that are handed to a CLI. Only the owner can read it. */
export class PrivateDir {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  async write(files: readonly PrivateFile[]): Promise<void> {
    for (const { name, content } of files) await writeFile(join(this.path, name), content, { mode: 0o600 })
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Directories that killed processes left behind are removed first: nothing else would remove them. */
const swept = new Map<string, Promise<void>>()

export async function makePrivateDir(): Promise<PrivateDir> {
  const root = tmpdir()
  const sweep = swept.get(root) ?? removeAbandoned(root)
  swept.set(root, sweep)
  await sweep
  const path = await mkdtemp(join(root, await ownPrefix()))
  await chmod(path, 0o700)
  return new PrivateDir(path)
}
