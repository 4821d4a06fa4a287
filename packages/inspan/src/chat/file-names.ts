import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { visible } from '@inspan/protocol/internal'

export interface FileName {
  /** What follows the `@`. */
  readonly path: string
  /** The last part of the path; a folder ends with a slash. */
  readonly label: string
}

const MOST = 50

/** Lists the names in a folder that begin with what was typed, then those that contain it. Hidden ones need their dot. */
export async function fileNames(cwd: string, typed: string): Promise<readonly FileName[]> {
  const slash = typed.lastIndexOf('/') + 1
  const folder = typed.slice(0, slash)
  const part = typed.slice(slash).toLowerCase()
  const entries = await readdir(resolve(cwd, folder === '' ? '.' : folder), { withFileTypes: true }).catch(() => [])
  const fitting = entries.filter(({ name }) => {
    const isHidden = name.startsWith('.') && !part.startsWith('.')
    // A name with a blank would end too early, and one with control characters is a trap.
    return !isHidden && !/\s/.test(name) && visible(name) === name && name.toLowerCase().includes(part)
  })
  const rank = (name: string): string => `${name.toLowerCase().startsWith(part) ? 0 : 1}${name}`
  return fitting
    .toSorted((a, b) => (rank(a.name) < rank(b.name) ? -1 : 1))
    .slice(0, MOST)
    .map((entry) => {
      const label = entry.isDirectory() ? `${entry.name}/` : entry.name
      return { label, path: folder === '' ? label : join(folder, label) }
    })
}
