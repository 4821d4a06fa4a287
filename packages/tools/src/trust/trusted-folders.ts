import { homedir } from 'node:os'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { InspanError } from '@inspan/protocol'
import { isWithin } from '../safe-file.ts'
import { readPrivate, writePrivate } from '../private-file.ts'

/** The folders whose instructions somebody has agreed to follow. Kept in a file that only its owner can change. */
export class TrustedFolders {
  readonly file: string

  constructor(options: { readonly file?: string } = {}) {
    this.file = options.file ?? join(process.env['INSPAN_HOME'] ?? join(homedir(), '.inspan'), 'trusted-folders.json')
  }

  /** Trust covers everything below a folder, and is bound to its real path: a link to it is the same folder. */
  async isTrusted(folder: string): Promise<boolean> {
    return (await this.covering(folder)) !== undefined
  }

  /** Returns the outermost trusted folder that a folder is in. */
  async covering(folder: string): Promise<string | undefined> {
    const real = await realpath(folder).catch(() => undefined)
    if (real === undefined) return undefined
    return (await this.list()).filter((trusted) => isWithin(trusted, real)).sort((a, b) => a.length - b.length)[0]
  }

  /** Returns the real path that is trusted from now on. */
  async trust(folder: string): Promise<string> {
    const real = await realFolder(folder)
    const known = await this.list()
    if (!known.includes(real)) await writePrivate(this.file, { folders: [...known, real].sort() })
    return real
  }

  /** Returns whether the folder itself was trusted. What is inside another trusted folder stays trusted. */
  async revoke(folder: string): Promise<boolean> {
    const real = await realpath(folder).catch(() => folder)
    const known = await this.list()
    if (!known.includes(real)) return false
    await writePrivate(this.file, { folders: known.filter((each) => each !== real) })
    return true
  }

  async list(): Promise<readonly string[]> {
    const { folders = [] } = (await readPrivate(this.file)) ?? {}
    if (Array.isArray(folders) && folders.every((folder): folder is string => typeof folder === 'string'))
      return folders
    throw new InspanError('corrupt', `${this.file} is damaged.`, { hint: 'Delete it and trust the folders again.' })
  }
}

async function realFolder(folder: string): Promise<string> {
  try {
    return await realpath(folder)
  } catch (error) {
    throw new InspanError('not-found', `There is no folder ${folder}.`, { cause: error })
  }
}
