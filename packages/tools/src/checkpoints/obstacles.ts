import { lstat, readdir, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { InspanError } from '@inspan/protocol'
import type { FileChange } from './turn-journal.ts'

/** Returns the files that cannot come back: something that stays is in their place, or in that of a folder above them. */
export async function obstructed(root: string, changes: readonly FileChange[]): Promise<string[]> {
  const going = new Set(changes.flatMap(({ before, path }) => (before === null ? [path] : [])))
  const found: string[] = []
  for (const { before, path } of changes) {
    if (before === null) continue
    if ((await hasOthers(root, path, going)) || (await isBelowFile(root, path, going))) found.push(path)
  }
  return found
}

/** Whether a folder is there that has other files than those that go. */
async function hasOthers(root: string, path: string, going: ReadonlySet<string>): Promise<boolean> {
  if (!(await isFolder(join(root, path)))) return false
  const entries = await readdir(join(root, path), { recursive: true, withFileTypes: true })
  const prefix = join(root, '.').length + 1
  return entries.some((entry) => !entry.isDirectory() && !going.has(join(entry.parentPath, entry.name).slice(prefix)))
}

/** Whether a folder above is a file or a link now, and stays one. */
async function isBelowFile(root: string, path: string, going: ReadonlySet<string>): Promise<boolean> {
  for (let above = dirname(path); above !== '.'; above = dirname(above)) {
    const stats = await lstat(join(root, above)).catch(() => undefined)
    if (stats !== undefined && !stats.isDirectory() && !going.has(above)) return true
  }
  return false
}

export function inTheWay(path: string): InspanError {
  return new InspanError('conflict', `${path} cannot come back: something that no checkpoint covers is in its place.`, {
    hint: 'Nothing was changed. Move it away, then go back again.',
  })
}

/** Removes a folder with the folders in it, if there is one. Fails if there is anything else in it. */
export async function removeEmptyFolder(path: string): Promise<void> {
  if (!(await isFolder(path))) return
  for (const name of await readdir(path)) await removeEmptyFolder(join(path, name))
  await rmdir(path)
}

async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() === true
}
