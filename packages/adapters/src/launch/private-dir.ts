import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface PrivateFile {
  /** A plain name. */
  readonly name: string
  readonly content: string | Uint8Array
}

/** A directory for what a program is handed over in files; nobody else can look into it. */
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

export async function makePrivateDir(): Promise<PrivateDir> {
  const path = await mkdtemp(join(tmpdir(), 'evener-'))
  await chmod(path, 0o700)
  return new PrivateDir(path)
}
