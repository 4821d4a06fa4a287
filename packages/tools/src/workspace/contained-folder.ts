import { closeSync, constants, existsSync, fstatSync, mkdirSync, openSync, readlinkSync, realpathSync } from 'node:fs'
import { isAbsolute, sep } from 'node:path'
import { InspanError } from '@inspan/protocol'

/** Where a path leads. `base` names the open parent folder itself, whatever its path leads to by now. */
export interface ContainedPlace {
  /** `${base}/${name}` is what to open, without following a link. */
  readonly base: string
  /** `.` for the folder itself. */
  readonly name: string
  /** The path from the folder, with links resolved. */
  readonly path: string
}

/** Not `join`, which would drop a final `.` and so name the descriptor instead of the folder. */
export function at({ base, name }: Pick<ContainedPlace, 'base' | 'name'>): string {
  return `${base}/${name}`
}

export interface WalkOptions {
  /** Creates missing parent folders. */
  readonly makeParents?: boolean
  /** Default: true. False leads to a link itself instead of what it points to. */
  readonly followLast?: boolean
}

interface FolderStep {
  readonly fd: number
  readonly base: string
  readonly name: string
}

const MAX_LINKS = 40
const OPEN_FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Linux names an open folder by its descriptor. Elsewhere paths are checked, but not held against a later swap. */
export const isDescriptorRelative: boolean = existsSync('/proc/self/fd')

/**
 * A folder that paths cannot leave. Every part of a path is opened from the folder opened before it and never through a
 * link; a link is read, and its target is walked the same way. So there is no moment at which a checked path could be
 * swapped for another.
 */
export class ContainedFolder {
  readonly root: string
  readonly #given: string
  readonly #granted: 'folder' | 'file' | undefined

  /** `granted`: the path of the folder may not have links, now or later. With `file`, nor may that of its file. */
  constructor(root: string, granted?: 'folder' | 'file') {
    this.#given = root
    this.#granted = granted
    this.root = granted === undefined ? realpathSync(root) : root
  }

  /** Returns the names of a path from here, or `undefined` for an absolute path that leads elsewhere. */
  names(path: string): string[] | undefined {
    if (path.includes('\0')) throw new InspanError('invalid-input', 'A path cannot contain a NUL character.')
    if (!isAbsolute(path)) return path.split(sep)
    for (const root of [this.root, this.#given]) {
      if (path === root) return []
      const start = root.endsWith(sep) ? root : root + sep
      if (path.startsWith(start)) return path.slice(start.length).split(sep)
    }
    return undefined
  }

  /** Calls `use` with the place of a path. The place can be used only until `use` returns. */
  visit<T>(path: string, use: (place: ContainedPlace) => T, options: WalkOptions = {}): T {
    const names = this.names(path)
    if (names === undefined) throw outside(path)
    const walk = new Walk(this.root, path)
    try {
      if (this.#granted !== undefined) walk.assertUnlinked()
      return use(walk.to(names, this.#granted === 'file' ? { ...options, followLast: false } : options))
    } finally {
      walk.close()
    }
  }
}

class Walk {
  readonly #root: string
  readonly #asked: string
  readonly #steps: FolderStep[]
  #links = 0

  constructor(root: string, asked: string) {
    this.#root = root
    this.#asked = asked
    this.#steps = [openFolder(root, '', root)]
  }

  to(names: readonly string[], options: WalkOptions): ContainedPlace {
    const todo = names.toReversed()
    // `link/` and `link/.` mean what the link points to.
    const isFollowed = options.followLast !== false || ['', '.'].includes(names.at(-1) ?? '')
    for (;;) {
      const name = todo.pop()
      if (name === undefined) return this.#place('.')
      if (name === '' || name === '.') continue
      if (name === '..') {
        this.#up()
        continue
      }
      const isLast = todo.every((each) => each === '' || each === '.')
      if (isLast && (!isFollowed || !this.#follow(name, todo))) return this.#place(name)
      if (!isLast) this.#enter(name, todo, options)
    }
  }

  /** The path of the folder was resolved earlier: where it leads now is where it led then. */
  assertUnlinked(): void {
    const [{ fd }] = this.#steps as [FolderStep]
    const actual = isDescriptorRelative ? readlinkSync(`/proc/self/fd/${fd}`) : realpathSync(this.#root)
    if (actual !== this.#root) throw outside(this.#asked)
  }

  close(): void {
    for (const { fd } of this.#steps) closeSync(fd)
  }

  get #top(): FolderStep {
    return this.#steps.at(-1) as FolderStep
  }

  #place(name: string): ContainedPlace {
    const { base } = this.#top
    const path = [...this.#steps.slice(1).map((step) => step.name), ...(name === '.' ? [] : [name])].join('/')
    return { base, name, path: path === '' ? '.' : path }
  }

  #up(): void {
    if (this.#steps.length === 1) throw outside(this.#asked)
    closeSync((this.#steps.pop() as FolderStep).fd)
  }

  #enter(name: string, todo: string[], { makeParents = false }: WalkOptions): void {
    const path = at({ base: this.#top.base, name })
    try {
      this.#steps.push(openFolder(path, name))
    } catch (error) {
      const code = codeOf(error)
      if (code === 'ENOENT' && makeParents) {
        makeFolder(path)
        this.#steps.push(openFolder(path, name))
      } else if (code === 'ENOENT') throw missing(this.#asked)
      else if ((code !== 'ELOOP' && code !== 'ENOTDIR') || !this.#follow(name, todo))
        throw fileError(error, this.#asked)
    }
  }

  /** Puts the target of a link in place of its name. Returns false if it is no link. */
  #follow(name: string, todo: string[]): boolean {
    let target: string
    try {
      target = readlinkSync(at({ base: this.#top.base, name }))
    } catch {
      return false
    }
    this.#links++
    if (this.#links > MAX_LINKS) {
      throw new InspanError('invalid-input', `${this.#asked} leads through too many links.`)
    }
    if (isAbsolute(target)) {
      if (target !== this.#root && !target.startsWith(this.#root + sep)) throw outside(this.#asked)
      while (this.#steps.length > 1) this.#up()
      target = target.slice(this.#root.length)
    }
    todo.push(...target.split(sep).toReversed())
    return true
  }
}

function openFolder(path: string, name: string, plain = path): FolderStep {
  const fd = openSync(path, OPEN_FOLDER)
  return { fd, name, base: isDescriptorRelative ? `/proc/self/fd/${fd}` : plain }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

export function outside(path: string): InspanError {
  return new InspanError('invalid-input', `${path} is outside of the workspace.`, {
    hint: 'Use a path inside it, or ask for access with request_access.',
    details: { path },
  })
}

export function missing(path: string): InspanError {
  return new InspanError('not-found', `There is no ${path}.`, { details: { path } })
}

/** Says in a sentence what the system refused. Names no descriptor. */
export function fileError(error: unknown, path: string): unknown {
  if (InspanError.is(error)) return error
  const code = codeOf(error)
  if (code === 'ENOENT') return missing(path)
  const why = WHY[code ?? '']
  if (why === undefined) return error
  return new InspanError(code === 'ENOSPC' ? 'disk-full' : 'io', `${path}: ${why}.`, {
    details: { path },
    cause: error,
  })
}

const WHY: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'the operation is not permitted',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is not a folder',
  ELOOP: 'it was replaced by a link while it was being used',
  ENOTEMPTY: 'the folder is not empty',
  EEXIST: 'it exists already',
  ENOSPC: 'the disk is full',
  EROFS: 'the file system is read-only',
  ENXIO: 'it is not a file',
  ENAMETOOLONG: 'the name is too long',
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Opens a file of a place, never through a link and never waiting for the other end of a pipe. */
export function openFile(place: ContainedPlace, flags: number, mode?: number): number {
  const fd = openSync(at(place), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, mode)
  if (fstatSync(fd).isFile()) return fd
  closeSync(fd)
  throw new InspanError('invalid-input', `${place.path} is not a file.`)
}

/** Calls `use` with the name of a folder that stays the same folder, whatever its path leads to meanwhile. */
export function inFolder<T>({ base, name }: Pick<ContainedPlace, 'base' | 'name'>, use: (base: string) => T): T {
  const { base: opened, fd } = openFolder(at({ base, name }), name)
  try {
    return use(opened)
  } finally {
    closeSync(fd)
  }
}
