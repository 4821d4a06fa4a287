import { statSync, type BigIntStats } from 'node:fs'
import { isAbsolute, relative, sep } from 'node:path'
import { databaseFiles } from '@inspan/protocol/internal'
import { inspanHome } from './inspan-home.ts'
import { resolveLinks } from './resolve-links.ts'

/** What SQLite keeps beside a database. */
const COMPANIONS = ['', '-wal', '-shm', '-journal']

function databasePaths(): string[] {
  return [...databaseFiles.paths()].flatMap((path) => COMPANIONS.map((companion) => resolveLinks(path) + companion))
}

/** Returns what identifies the files of the databases that this process has open, whatever their names are. */
export function openDatabases(): ReadonlySet<string> {
  const found = new Set<string>()
  for (const path of databasePaths()) {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (stats !== undefined) found.add(identityOf(stats))
  }
  return found
}

export function isOpenDatabase(stats: BigIntStats, databases: ReadonlySet<string>): boolean {
  return databases.size > 0 && databases.has(identityOf(stats))
}

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}

/**
 * Returns the paths below a folder that are ours: databases that are open, and folders in which we keep something for
 * the user. Separated by slashes.
 */
export function ownPaths(root: string, ...folders: readonly string[]): string[] {
  return [...[inspanHome(), ...folders].map(resolveLinks), ...databasePaths()]
    .map((path) => relative(root, path))
    .filter((within) => within !== '' && within !== '..' && !within.startsWith(`..${sep}`) && !isAbsolute(within))
    .map((within) => within.split(sep).join('/'))
    .filter((path, _, all) => !all.some((other) => path.startsWith(`${other}/`)))
}

export function isAmong(paths: readonly string[], path: string): boolean {
  return paths.some((each) => path === each || path.startsWith(`${each}/`))
}
