import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeSync,
  type BigIntStats,
} from 'node:fs'
import { randomBytes } from 'node:crypto'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { InspanError } from '@inspan/protocol'
import {
  at,
  codeOf,
  ContainedFolder,
  fileError,
  inFolder,
  missing,
  openFile,
  outside,
  type ContainedPlace,
  type WalkOptions,
} from './contained-folder.ts'
import { isOpenDatabase, openDatabases } from '../own-files.ts'
import type {
  WorkspaceFileContent,
  FileInfo,
  GrepOptions,
  ListedFile,
  ListOptions,
  Match,
  WorkspaceFiles,
  WriteOptions,
} from './files.ts'

/** The system writes no more than 2 GiB at once. */
const MOST_AT_ONCE = 2 ** 30

/** The files of a folder of this machine. */
export class LocalFiles implements WorkspaceFiles {
  readonly folder: ContainedFolder

  constructor(root: string) {
    this.folder = new ContainedFolder(root)
  }

  async stat(path: string, allowed?: readonly string[]): Promise<FileInfo | null> {
    try {
      return this.#visit(path, allowed, (place) => infoOf(statAt(place), place.path), { followLast: false })
    } catch (error) {
      if (InspanError.is(error, 'not-found')) return null
      throw error
    }
  }

  async read(path: string, maxBytes: number, allowed?: readonly string[]): Promise<WorkspaceFileContent> {
    return this.#visit(path, allowed, (place) => {
      refuseDatabase(existing(place), place.path)
      const fd = openFile(place, constants.O_RDONLY)
      try {
        const stats = fstatSync(fd, { bigint: true })
        return { bytes: readUpTo(fd, Number(stats.size), maxBytes), info: infoOf(stats, place.path) }
      } finally {
        closeSync(fd)
      }
    })
  }

  async write(
    path: string,
    bytes: Buffer,
    { expected, mode }: WriteOptions = {},
    allowed?: readonly string[],
  ): Promise<FileInfo> {
    return this.#visit(
      path,
      allowed,
      (place) => {
        const before = existing(place)
        assertWritable(before, place.path)
        if (expected !== undefined && (before === undefined ? null : versionOf(before)) !== expected) {
          throw new InspanError('conflict', `${place.path} has changed since it was read.`, {
            hint: 'Read it again, then repeat the change.',
          })
        }
        return replaceFile(place, bytes, before, mode)
      },
      { makeParents: true },
    )
  }

  /** Puts a file or a link back, whatever file or link is there now. */
  async restore(
    path: string,
    state: { readonly content: Buffer; readonly mode: number } | { readonly target: string },
  ): Promise<void> {
    this.#visit(
      path,
      undefined,
      (place) => {
        const before = existing(place)
        refuseDatabase(before, place.path)
        if (before?.isDirectory() === true) throw new InspanError('invalid-input', `${place.path} is a folder.`)
        if (before !== undefined && !(before.isFile() && 'content' in state)) unlinkSync(at(place))
        if ('target' in state) symlinkSync(state.target, at(place))
        else replaceFile(place, state.content, before?.isFile() === true ? before : undefined, state.mode)
      },
      { makeParents: true, followLast: false },
    )
  }

  async makeFolder(path: string, allowed?: readonly string[]): Promise<void> {
    this.#visit(
      path,
      allowed,
      (place) => {
        if (place.name === '.') return
        try {
          mkdirSync(at(place))
        } catch (error) {
          if (codeOf(error) !== 'EEXIST' || !statAt(place).isDirectory()) throw error
        }
      },
      { makeParents: true },
    )
  }

  async remove(path: string, isRecursive: boolean, allowed?: readonly string[]): Promise<void> {
    this.#visit(
      path,
      allowed,
      (place) => {
        if (place.name === '.') throw new InspanError('invalid-input', 'The workspace itself cannot be deleted.')
        const target = at(place)
        const stats = statAt(place)
        refuseDatabase(stats, place.path)
        if (!stats.isDirectory()) unlinkSync(target)
        else if (!isRecursive) rmdirSync(target)
        else {
          refuseDatabasesBelow(place, openDatabases())
          removeTree(place)
        }
      },
      { followLast: false },
    )
  }

  /** Opens a folder. The descriptor stays this folder, whatever its path leads to later; the caller closes it. */
  openFolder(path: string, allowed?: readonly string[]): { readonly fd: number; readonly path: string } {
    const root = this.#folderOf(path, allowed)[0].root
    return this.#visit(path, allowed, (place) => ({
      fd: openSync(at(place), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW),
      path: join(root, place.path),
    }))
  }

  async *list(path: string, options: ListOptions, allowed?: readonly string[]): AsyncGenerator<ListedFile> {
    const { walkTree } = await import('./walk-tree.ts')
    yield* explained(path, walkTree(...this.#folderOf(path, allowed), options))
  }

  async *grep(path: string, options: GrepOptions, allowed?: readonly string[]): AsyncGenerator<Match> {
    const { grepTree } = await import('./grep-tree.ts')
    yield* explained(path, grepTree(...this.#folderOf(path, allowed), options))
  }

  #visit<T>(
    path: string,
    allowed: readonly string[] | undefined,
    use: (place: ContainedPlace) => T,
    options?: WalkOptions,
  ): T {
    const [folder, within] = this.#folderOf(path, allowed)
    try {
      return folder.visit(within, use, options)
    } catch (error) {
      throw fileError(error, path)
    }
  }

  /** Returns the folder that contains the path: the workspace, or one that access was granted to. */
  #folderOf(path: string, allowed: readonly string[] = []): [ContainedFolder, string] {
    if (path === '') return [this.folder, '.']
    if (this.folder.names(path) !== undefined) return [this.folder, path]
    for (const root of allowed) {
      const granted = grantedFolder(root)
      if (granted === undefined) continue
      if (path === root && !granted.isFolder) return [granted.folder, basename(root)]
      if (granted.isFolder && granted.folder.names(path) !== undefined) return [granted.folder, path]
    }
    throw outside(path)
  }
}

async function* explained<Found>(path: string, found: AsyncGenerator<Found>): AsyncGenerator<Found> {
  try {
    yield* found
  } catch (error) {
    throw fileError(error, path)
  }
}

/**
 * Returns the folder to stay in: the granted one, or the one that holds the granted file. The path had no links when a
 * person saw it, so that one that leads elsewhere by now is another place.
 */
function grantedFolder(path: string): { readonly folder: ContainedFolder; readonly isFolder: boolean } | undefined {
  if (!isAbsolute(path)) return undefined
  const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  const folder = isFolder ? new ContainedFolder(path, 'folder') : new ContainedFolder(dirname(path), 'file')
  return { folder, isFolder }
}

/** Every level is opened from the one above it, so that nothing below can lead elsewhere. */
function removeTree(place: Pick<ContainedPlace, 'base' | 'name'>): void {
  inFolder(place, (base) => {
    for (const entry of readdirSync(base, { withFileTypes: true })) {
      if (entry.isDirectory()) removeTree({ base, name: entry.name })
      else unlinkSync(at({ base, name: entry.name }))
    }
  })
  rmdirSync(at(place))
}

function statAt({ base, name, path }: ContainedPlace): BigIntStats {
  const stats = lstatSync(at({ base, name }), { bigint: true, throwIfNoEntry: false })
  if (stats === undefined) throw missing(path)
  return stats
}

function existing({ base, name }: ContainedPlace): BigIntStats | undefined {
  return lstatSync(at({ base, name }), { bigint: true, throwIfNoEntry: false })
}

/** Before it is opened: closing it again would drop the locks that the database has on it. */
function refuseDatabase(stats: BigIntStats | undefined, path: string, databases = openDatabases()): void {
  if (stats === undefined || !isOpenDatabase(stats, databases)) return
  throw new InspanError('invalid-input', `${path} is part of the database that this program keeps its data in.`)
}

/** Looks at the whole folder first: half of it removed would be neither. */
function refuseDatabasesBelow(place: ContainedPlace, databases: ReadonlySet<string>): void {
  if (databases.size === 0) return
  inFolder(place, (base) => {
    for (const entry of readdirSync(base, { withFileTypes: true })) {
      const child = { base, name: entry.name, path: `${place.path}/${entry.name}` }
      if (entry.isDirectory()) refuseDatabasesBelow(child, databases)
      else refuseDatabase(existing(child), child.path, databases)
    }
  })
}

function assertWritable(stats: BigIntStats | undefined, path: string): void {
  if (stats === undefined) return
  refuseDatabase(stats, path)
  if (stats.isDirectory()) throw new InspanError('invalid-input', `${path} is a folder.`)
  if (!stats.isFile()) throw new InspanError('invalid-input', `${path} is not a file.`)
  if ((Number(stats.mode) & 0o222) === 0) {
    throw new InspanError('read-only', `${path} is read-only.`, { hint: 'Make it writable first if it is to change.' })
  }
}

/** Writes beside the file and renames: a reader sees the old content or the new, never a mixture. */
function replaceFile(
  place: ContainedPlace,
  bytes: Buffer,
  before: BigIntStats | undefined,
  mode: number | undefined,
): FileInfo {
  const beside = { ...place, name: `.${place.name.slice(0, 100)}.${randomBytes(6).toString('hex')}.tmp` }
  const wanted = mode ?? (before === undefined ? undefined : Number(before.mode) & 0o7777)
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL
  const fd = openFile(beside, flags, wanted ?? 0o666)
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at, Math.min(bytes.length - at, MOST_AT_ONCE))
    if (before !== undefined) keepOwner(fd, before)
    if (wanted !== undefined) fchmodSync(fd, wanted)
    renameSync(at(beside), at(place))
    return infoOf(fstatSync(fd, { bigint: true }), place.path)
  } catch (error) {
    try {
      unlinkSync(at(beside))
    } catch {
      // It was renamed already, or the folder is gone.
    }
    throw error
  } finally {
    closeSync(fd)
  }
}

/** Only a privileged process may give a file to another owner; any other one owns what it writes. */
function keepOwner(fd: number, { gid, uid }: BigIntStats): void {
  const now = fstatSync(fd, { bigint: true })
  if (now.uid === uid && now.gid === gid) return
  try {
    fchownSync(fd, Number(uid), Number(gid))
  } catch (error) {
    if (codeOf(error) !== 'EPERM') throw error
  }
}

/** The size may be 0 for files that the kernel makes, so it reads until the end. */
function readUpTo(fd: number, size: number, maxBytes: number): Buffer {
  const chunks: Buffer[] = []
  let total = 0
  for (;;) {
    const chunk = Buffer.allocUnsafe(Math.min(Math.max(size - total + 1, 4096), maxBytes - total + 1))
    const count = readSync(fd, chunk)
    if (count === 0) return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
    chunks.push(chunk.subarray(0, count))
    total += count
    if (total > maxBytes) throw tooLarge(Math.max(size, total), maxBytes)
  }
}

function tooLarge(size: number, maxBytes: number): InspanError {
  return new InspanError('invalid-input', `The file is too large: ${size} bytes, and the limit is ${maxBytes}.`, {
    hint: 'Search in it with grep, or look at a part of it with a command.',
  })
}

export function infoOf(stats: BigIntStats, path: string): FileInfo {
  const type = stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : stats.isSymbolicLink() ? 'link' : 'other'
  return {
    path,
    type,
    size: Number(stats.size),
    mode: Number(stats.mode) & 0o7777,
    modifiedAt: Number(stats.mtimeMs),
    version: versionOf(stats),
  }
}

function versionOf({ ctimeNs, ino, mtimeNs, size }: BigIntStats): string {
  return `${ino}:${size}:${mtimeNs}:${ctimeNs}`
}
