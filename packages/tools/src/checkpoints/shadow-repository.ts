import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { constants, copyFile, lstat, mkdir, open, readFile, readlink, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import { InspanError } from '@inspan/protocol'
import { convertsText, git, type GitPlace } from './git.ts'

/** The state of a path: what is needed to put it back. `null`: there is nothing. */
export interface FileState {
  readonly mode: '100644' | '100755' | '120000'
  /** The id of the content, as git names it. */
  readonly id: string
  /** All permission bits, where the file itself was looked at. git knows only whether it is executable. */
  readonly permissions?: number
}

/** Something stored, by its id. */
export interface Contents {
  readonly type: 'blob' | 'tree'
  readonly id: string
}

export interface TreeChange {
  readonly path: string
  readonly before: FileState | null
  readonly after: FileState | null
}

/** No scan takes so long. */
const LOCK_MS = 10 * 60_000
const LOCK_POLL_MS = 50
const NOTHING = '0'.repeat(40)
const EMPTY: Buffer = Buffer.alloc(0)

/**
 * A repository of ours that watches a folder. It shares the objects of the project's own repository and starts from its
 * index, and never writes to it. Contents are stored once, by their hash.
 */
export class ShadowRepository {
  readonly #place: GitPlace
  /** Returns the paths that no scan covers, because they are not the user's. */
  readonly #leftOut: () => readonly string[]
  #ready: Promise<void> | undefined

  constructor(folder: string, root: string, leftOut: () => readonly string[]) {
    const name = createHash('sha256').update(root).digest('hex').slice(0, 24)
    this.#place = { gitDir: join(folder, name), root }
    this.#leftOut = leftOut
  }

  get folder(): string {
    return this.#place.gitDir
  }

  prepare(): Promise<void> {
    this.#ready ??= this.#prepare()
    this.#ready.catch(() => (this.#ready = undefined))
    return this.#ready
  }

  /** Stores everything that `.gitignore` does not name and that is the user's. Returns the id of the whole. */
  async scan(): Promise<string> {
    await this.prepare()
    const except = this.#leftOut().map((path) => `:(exclude,top,literal)${path}`)
    await this.#alone('index.lock', ['add', '--all', '--ignore-errors', '.', ...except], [0, 1])
    return (await this.#alone('index.lock', ['write-tree'], [0])).toString().trim()
  }

  /** Another process may be at the same folder: git lets one at a time have a lock, and the others fail. */
  async #alone(lockName: string, args: readonly string[], allowed: readonly number[]): Promise<Buffer> {
    const lock = join(this.#place.gitDir, lockName)
    for (;;) {
      try {
        return await git(this.#place, args, { allowed })
      } catch (error) {
        if (!InspanError.is(error, 'io') || !/could not lock|index\.lock/.test(error.message)) throw error
        const stats = await lstat(lock).catch(() => undefined)
        // Its git was killed.
        if (stats !== undefined && Date.now() - stats.mtimeMs > LOCK_MS) await rm(lock, { force: true })
        await setTimeout(LOCK_POLL_MS)
      }
    }
  }

  async changes(before: string, after: string): Promise<TreeChange[]> {
    if (before === after) return []
    const args = ['diff-tree', '-r', '-z', '--no-renames', '--raw', '--full-index', before, after]
    const fields = (await git(this.#place, args)).toString().split('\0')
    const found: TreeChange[] = []
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const [oldMode = '', newMode = '', oldId = '', newId = ''] = (fields[at] ?? '').slice(1).split(' ')
      found.push({ path: fields[at + 1] ?? '', before: stateOf(oldMode, oldId), after: stateOf(newMode, newId) })
    }
    return found
  }

  /** Stores one file as it is now. Costs the same in a tree of any size. */
  async keep(path: string): Promise<FileState | null> {
    return this.#state(path, (bytes, id) => this.#store(bytes, id))
  }

  /** Returns the state of a file without storing it. */
  state(path: string): Promise<FileState | null> {
    return this.#state(path, async () => undefined)
  }

  content({ id }: FileState): Promise<Buffer> {
    return git(this.#place, ['cat-file', 'blob', id])
  }

  /** Returns how two contents of a path differ, in git's unified format. */
  async diff(path: string, before: FileState | null, after: FileState | null): Promise<string> {
    await this.prepare()
    if (before === null || after === null) await this.#store(EMPTY, blobId(EMPTY))
    const idOf = (state: FileState | null): string => state?.id ?? blobId(EMPTY)
    const args = ['diff', '--no-ext-diff', '--no-color', '--text', idOf(before), idOf(after)]
    const text = (await git(this.#place, args)).toString()
    const hunks = text.slice(Math.max(0, text.indexOf('@@')))
    if (!hunks.startsWith('@@')) return ''
    return [
      before === null ? '--- /dev/null' : `--- a/${path}`,
      after === null ? '+++ /dev/null' : `+++ b/${path}`,
      hunks,
    ].join('\n')
  }

  /** Returns what no scan covers: what is not the user's, what `.gitignore` names, and repositories within the folder. */
  async uncovered(): Promise<string[]> {
    await this.prepare()
    const args = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory']
    const ignored = (await git(this.#place, args)).toString().split('\0').filter(Boolean)
    const staged = (await git(this.#place, ['ls-files', '-z', '--stage'])).toString().split('\0')
    const nested = staged.filter((line) => line.startsWith('160000')).map((line) => line.slice(line.indexOf('\t') + 1))
    const own = this.#leftOut().filter((path) => existsSync(join(this.#place.root, path)))
    return [...new Set([...ignored, ...nested, ...own])].sort()
  }

  /** Removes everything that is neither listed nor part of the last scan. */
  async prune(kept: readonly Contents[]): Promise<void> {
    await this.prepare()
    const ids = new Map(kept.map((each) => [each.id, each]))
    // One tree that holds all of them: there may be too many for a command line.
    const lines = [...ids.values()].map(
      ({ id, type }) => `${type === 'tree' ? '040000' : '100644'} ${type} ${id}\t${id}`,
    )
    const root = await git(this.#place, ['mktree', '--missing'], { input: lines.map((line) => `${line}\n`).join('') })
    await git(this.#place, ['prune', '--expire=now', root.toString().trim()])
  }

  async #prepare(): Promise<void> {
    const { gitDir, root } = this.#place
    // Written last: another process must not use a repository that is half made.
    const ready = join(gitDir, 'inspan-ready')
    if ((await lstat(ready).catch(() => undefined)) !== undefined) return
    await mkdir(gitDir, { recursive: true, mode: 0o700 })
    await this.#alone('config.lock', ['init', '--quiet', '--template=', '--object-format=sha1'], [0])
    await mkdir(join(gitDir, 'info'), { recursive: true })
    // Above every .gitattributes of the project: bytes are kept as they are.
    await writeFile(join(gitDir, 'info/attributes'), '* -text -filter -ident -working-tree-encoding -eol\n')
    await this.#shareObjects(join(root, '.git'))
    await writeFile(ready, '')
  }

  /** Uses what the project's own repository has, where it is a plain one. */
  async #shareObjects(project: string): Promise<void> {
    const config = await readFile(join(project, 'config'), 'utf8').catch(() => undefined)
    if (config === undefined || /objectformat\s*=\s*sha256/i.test(config)) return
    const { gitDir } = this.#place
    await mkdir(join(gitDir, 'objects/info'), { recursive: true })
    await writeFile(join(gitDir, 'objects/info/alternates'), `${join(project, 'objects')}\n`)
    const index = join(gitDir, 'index')
    await copyFile(join(project, 'index'), index, constants.COPYFILE_EXCL).catch(() => undefined)
    // Without the project's index only the first scan takes longer.
    if (!(await this.#isPlain(project))) await rm(index, { force: true })
  }

  /** Whether the project's index is about the bytes on disk: nothing converts line ends or filters contents. */
  async #isPlain(project: string): Promise<boolean> {
    if ((await lstat(join(project, 'info/attributes')).catch(() => undefined)) !== undefined) return false
    try {
      const attributes = await git(this.#place, ['ls-files', '-z', '--', ':(glob)**/.gitattributes'])
      return attributes.length === 0 && !(await convertsText(this.#place.root))
    } catch {
      return false
    }
  }

  async #state(path: string, store: (bytes: Buffer, id: string) => Promise<void>): Promise<FileState | null> {
    const full = join(this.#place.root, path)
    const stats = await lstat(full).catch(() => undefined)
    if (stats === undefined) return null
    if (!stats.isFile() && !stats.isSymbolicLink()) return null
    const bytes = stats.isSymbolicLink() ? await readlink(full, 'buffer') : await readFile(full)
    const id = blobId(bytes)
    await store(bytes, id)
    if (stats.isSymbolicLink()) return { mode: '120000', id }
    return { mode: (stats.mode & 0o100) !== 0 ? '100755' : '100644', id, permissions: stats.mode & 0o777 }
  }

  async #store(bytes: Buffer, id: string): Promise<void> {
    await this.prepare()
    const folder = join(this.#place.gitDir, 'objects', id.slice(0, 2))
    const file = join(folder, id.slice(2))
    if ((await lstat(file).catch(() => undefined)) !== undefined) return
    await mkdir(folder, { recursive: true })
    const packed = await promisify(deflate)(Buffer.concat([header(bytes), bytes]))
    const beside = `${file}.${process.pid}.${Date.now()}.tmp`
    const handle = await open(beside, 'wx', 0o444)
    try {
      await handle.writeFile(packed as Buffer)
    } finally {
      await handle.close()
    }
    await rename(beside, file)
  }
}

function header(bytes: Buffer): Buffer {
  return Buffer.from(`blob ${bytes.length}\0`)
}

function blobId(bytes: Buffer): string {
  return createHash('sha1').update(header(bytes)).update(bytes).digest('hex')
}

function stateOf(mode: string, id: string): FileState | null {
  if (id === NOTHING || (mode !== '100644' && mode !== '100755' && mode !== '120000')) return null
  return { mode, id }
}
