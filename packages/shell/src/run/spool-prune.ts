import { lstat, readdir, rm, rmdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { spoolFileName } from './spool.ts'

export interface PruneOptions {
  /** Counted from the last write. Default: 7. */
  readonly maxAgeDays?: number
  /** The oldest files are removed until the total is no larger. Default: no limit. */
  readonly maxBytes?: number
  /** True for files that must stay, such as those of active runs. */
  readonly keep?: (file: string) => boolean
  /** Names of files derived from a spool and stored beside it. They are removed with it. */
  readonly companions?: readonly string[]
}

export interface PruneResult {
  readonly removed: readonly string[]
  readonly removedBytes: number
  readonly keptBytes: number
}

interface SpoolFile {
  readonly file: string
  readonly bytes: number
  readonly writtenAt: number
}

const dayMs = 24 * 60 * 60 * 1000

/** Removes old spools below `root`, and directories that are empty then. Touches nothing else and follows no links. */
export async function pruneSpool(root: string, options: PruneOptions = {}): Promise<PruneResult> {
  const { maxAgeDays = 7, maxBytes = Infinity, keep = () => false, companions = [] } = options
  const tooOld = Date.now() - maxAgeDays * dayMs
  const files = (await findSpools(root)).sort((a, b) => a.writtenAt - b.writtenAt)
  const removed: SpoolFile[] = []
  let keptBytes = files.reduce((sum, { bytes }) => sum + bytes, 0)
  for (const spool of files) {
    if ((spool.writtenAt >= tooOld && keptBytes <= maxBytes) || keep(spool.file)) continue
    await rm(spool.file, { force: true })
    for (const name of companions) await rm(join(dirname(spool.file), name), { force: true })
    await removeEmptyDirectories(dirname(spool.file), root)
    removed.push(spool)
    keptBytes -= spool.bytes
  }
  const removedBytes = removed.reduce((sum, { bytes }) => sum + bytes, 0)
  return { removed: removed.map(({ file }) => file), removedBytes, keptBytes }
}

async function findSpools(dir: string): Promise<SpoolFile[]> {
  const found: SpoolFile[] = []
  for (const entry of await readdir(dir, { withFileTypes: true }).catch(missing(() => []))) {
    const path = join(dir, entry.name)
    if (entry.isDirectory()) found.push(...(await findSpools(path)))
    else if (entry.isFile() && isSpoolName(entry.name)) {
      const info = await lstat(path).catch(missing(() => undefined))
      if (info !== undefined) found.push({ file: path, bytes: info.size, writtenAt: info.mtimeMs })
    }
  }
  return found
}

function isSpoolName(name: string): boolean {
  return name === spoolFileName || name.endsWith(`.${spoolFileName}`)
}

async function removeEmptyDirectories(dir: string, root: string): Promise<void> {
  for (let current = dir; isBelow(current, root); current = dirname(current)) {
    try {
      await rmdir(current)
    } catch {
      return
    }
  }
}

function isBelow(dir: string, root: string): boolean {
  const path = relative(root, dir)
  return path !== '' && !path.startsWith('..')
}

/** Ignores missing files, because another host may prune at the same time. */
function missing<T>(instead: () => T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return instead()
    throw error
  }
}
