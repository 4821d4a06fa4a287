import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a folder that only its owner can look into, and those above it. Node's own recursive `mkdir` tries again for ever
 * where nothing can be made and the system says that the folder above is missing, as in `/proc`.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await makeOne(path)
  } catch (error) {
    const above = dirname(path)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === path) throw error
    await makeFolder(above)
    await makeOne(path)
  }
}

async function makeOne(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    const there = await stat(path).catch(() => undefined)
    if (there?.isDirectory() !== true) throw error
  }
}
