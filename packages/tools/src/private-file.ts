import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { InspanError } from '@inspan/protocol'

/** Reads a JSON object; `undefined` if there is no file. A damaged file is an error, never taken for an empty one. */
export async function readPrivate(path: string): Promise<Record<string, unknown> | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new InspanError('io', `${path} could not be read.`, { cause: error })
  }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Reported below.
  }
  throw new InspanError('corrupt', `${path} is damaged.`, {
    hint: 'Delete the file; what it held has to be given again.',
  })
}

/** Replaces the file at once, readable only for its owner. */
export async function writePrivate(path: string, value: object): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomUUID()}`
  try {
    await writeFile(draft, JSON.stringify(value), { mode: 0o600, flag: 'wx' })
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw new InspanError('io', `${path} could not be written.`, { cause: error })
  }
}
