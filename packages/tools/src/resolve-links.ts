import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Returns where a path leads: the same without links. Of a path that is not there, as far as it is there. */
export function resolveLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(resolveLinks(parent), basename(path))
  }
}
