import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { existsSync, type BigIntStats } from 'node:fs'
import {
  constants,
  copyFile,
  lstat,
  mkdir,
  open,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import { InspanError } from '@inspan/protocol'
import { convertsText, git, MOST_MS, type GitPlace } from './git.ts'

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

const LOCK_POLL_MS = 50
/** Larger files are read by git, in pieces. */
const MOST_READ = 64 * 1024 * 1024
const NOTHING = '0'.repeat(40)
const EMPTY: Buffer = Buffer.alloc(0)
/** Holds what is to be kept while the rest is removed. */
const KEPT = 'refs/inspan/kept'

/**
 * A repository of ours that watches a folder. It starts from the index of the project's own repository and from the
 * objects that this refers to, so that the first scan is a short one. It never writes there, and needs nothing of it
 * later: a command may delete it. Contents are stored once, by their hash.
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

  /** What the scan before the last one has found. */
  get #lastIndex(): string {
    return join(this.folder, 'inspan-last-index')
  }

  prepare(): Promise<void> {
    this.#ready ??= this.#prepare()
    this.#ready.catch(() => (this.#ready = undefined))
    return this.#ready
  }

  /** Stores everything that `.gitignore` does not name and that is the user's. Returns the id of the whole. */
  async scan(): Promise<string> {
    await this.prepare()
    await copyFile(join(this.folder, 'index'), this.#lastIndex).catch(() => undefined)
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
        if (stats !== undefined && Date.now() - stats.mtimeMs > MOST_MS) await rm(lock, { force: true })
        await setTimeout(LOCK_POLL_MS)
      }
    }
  }

  async changes(before: string, after: string): Promise<TreeChange[]> {
    if (before === after) return []
    const args = ['diff-tree', '-r', '-z', '--no-renames', '--raw', '--full-index', before, after]
    const fields = fieldsOf(await git(this.#place, args))
    const found: TreeChange[] = []
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const [{ text = '' } = {}, path] = [fields[at], fields[at + 1]]
      const [oldMode = '', newMode = '', oldId = '', newId = ''] = text.slice(1).split(' ')
      // Nothing could be put back under a name that is no text.
      if (path?.isText === true) {
        found.push({ path: path.text, before: stateOf(oldMode, oldId), after: stateOf(newMode, newId) })
      }
    }
    return found
  }

  /** Returns those of some new files that were no file of ours at the last scan but one, under whatever name. */
  async neverSeen(files: ReadonlyMap<string, BigIntStats>): Promise<string[]> {
    // Without -z, so that the name of a file cannot pose as the number of another.
    const text = (await git(this.#place, ['ls-files', '--debug'], { index: this.#lastIndex })).toString()
    const entries = text.matchAll(/^(.*)\n {2}ctime: .*\n {2}mtime: .*\n {2}dev: (\d+)\tino: (\d+)$/gm)
    const seen = new Set([...entries].flatMap(([, path = '', dev, ino]) => (files.has(path) ? [] : [`${dev}:${ino}`])))
    return [...files].flatMap(([path, { dev, ino }]) =>
      seen.has(`${BigInt.asUintN(32, dev)}:${BigInt.asUintN(32, ino)}`) ? [] : [path],
    )
  }

  /** Returns paths without those below a folder that a tree does not have; that folder stands for them. */
  async shortened(paths: readonly string[], tree: string): Promise<string[]> {
    const text = (await git(this.#place, ['ls-tree', '-r', '-d', '-z', '--name-only', tree])).toString()
    const folders = new Set(text.split('\0'))
    const short = paths.map((path) => {
      const names = path.split('/')
      const count = names.findIndex((_, at) => at > 0 && !folders.has(names.slice(0, at).join('/')))
      return count === -1 ? path : `${names.slice(0, count).join('/')}/`
    })
    return [...new Set(short)]
  }

  /** Stores one file as it is now. Costs the same in a tree of any size. */
  async keep(path: string): Promise<FileState | null> {
    await this.prepare()
    return this.#state(path, true)
  }

  /** Returns the state of a file without storing it. */
  state(path: string): Promise<FileState | null> {
    return this.#state(path, false)
  }

  /** Returns how large contents are, by id. One that is missing is not kept. */
  async sizes(states: readonly (FileState | null)[]): Promise<ReadonlyMap<string, number>> {
    const ids = new Set(states.flatMap((state) => (state === null ? [] : [state.id])))
    if (ids.size === 0) return new Map()
    const input = [...ids].map((id) => `${id}\n`).join('')
    const lines = (await git(this.#place, ['cat-file', '--batch-check'], { input })).toString().split('\n')
    const known = lines.map((line) => line.split(' ')).filter(([, type]) => type === 'blob')
    return new Map(known.map(([id = '', , size]) => [id, Number(size)]))
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

  /**
   * Returns what no scan covers: what is not the user's, what `.gitignore` names, repositories within the folder, and
   * names that are no text.
   */
  async uncovered(): Promise<string[]> {
    await this.prepare()
    const args = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory']
    const ignored = fieldsOf(await git(this.#place, args)).map(({ text }) => text)
    const staged = fieldsOf(await git(this.#place, ['ls-files', '-z', '--stage']))
    const left = staged.filter(({ isText, text }) => !isText || text.startsWith('160000'))
    const nested = left.map(({ text }) => text.slice(text.indexOf('\t') + 1))
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
    const tree = root.toString().trim()
    await git(this.#place, ['update-ref', KEPT, tree])
    await git(this.#place, ['repack', '--quiet', '-a', '-d', '--window=0'])
    await git(this.#place, ['prune', '--expire=now', tree])
    await git(this.#place, ['update-ref', '-d', KEPT])
    await rm(this.#lastIndex, { force: true })
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
    await this.#startFrom(join(root, '.git'))
    await writeFile(ready, '')
  }

  /** Takes over what the project's own repository knows, where it is a plain one. Without it the first scan takes longer. */
  async #startFrom(project: string): Promise<void> {
    const config = await readFile(join(project, 'config'), 'utf8').catch(() => undefined)
    if (config === undefined || /objectformat\s*=\s*sha256/i.test(config)) return
    const index = join(this.#place.gitDir, 'index')
    const isCopied = await copyIndex(join(project, 'index'), index).then(
      () => true,
      () => false,
    )
    if (!isCopied || !(await this.#isPlain(project)) || !(await this.#takeObjects(join(project, 'objects')))) {
      await rm(index, { force: true })
    }
  }

  /** Copies every content that the index refers to. */
  async #takeObjects(objects: string): Promise<boolean> {
    try {
      const staged = (await git(this.#place, ['ls-files', '-z', '--stage'])).toString().split('\0')
      const ids = staged.filter((line) => line !== '' && !line.startsWith('160000')).map((line) => line.split(' ')[1])
      const pack = join(this.#place.gitDir, 'objects/pack/pack')
      const input = [...new Set(ids)].map((id) => `${id}\n`).join('')
      await git(this.#place, ['pack-objects', '--quiet', '--window=0', pack], { input, objects })
      return true
    } catch {
      return false
    }
  }

  /**
   * Whether the project's index is about the bytes on disk: nothing converts line ends or filters contents, and no file
   * is marked as one that git does not look at.
   */
  async #isPlain(project: string): Promise<boolean> {
    if ((await lstat(join(project, 'info/attributes')).catch(() => undefined)) !== undefined) return false
    try {
      const attributes = await git(this.#place, ['ls-files', '-z', '--', ':(glob)**/.gitattributes'])
      const files = (await git(this.#place, ['ls-files', '-z', '-v'])).toString().split('\0')
      const isLookedAt = files.every((line) => line === '' || line.startsWith('H ') || line.startsWith('M '))
      return attributes.length === 0 && isLookedAt && !(await convertsText(this.#place.root))
    } catch {
      return false
    }
  }

  /** What a link leads to is another file, whether the link is the path or a folder above it. */
  async #state(path: string, isStored: boolean): Promise<FileState | null> {
    const { root } = this.#place
    const full = join(root, path)
    const stats = await lstat(full).catch(() => undefined)
    if (stats === undefined || !(stats.isFile() || stats.isSymbolicLink())) return null
    for (let above = dirname(path); above !== '.'; above = dirname(above)) {
      if ((await lstat(join(root, above)).catch(() => undefined))?.isDirectory() !== true) return null
    }
    if (stats.isSymbolicLink())
      return { mode: '120000', id: await this.#idOf(await readlink(full, 'buffer'), isStored) }
    const id =
      stats.size > MOST_READ ? await this.#largeId(path, isStored) : await this.#idOf(await readFile(full), isStored)
    return { mode: (stats.mode & 0o100) !== 0 ? '100755' : '100644', id, permissions: stats.mode & 0o777 }
  }

  async #idOf(bytes: Buffer, isStored: boolean): Promise<string> {
    const id = blobId(bytes)
    if (isStored) await this.#store(bytes, id)
    return id
  }

  async #largeId(path: string, isStored: boolean): Promise<string> {
    await this.prepare()
    const args = ['hash-object', ...(isStored ? ['-w'] : []), '--no-filters', '--', path]
    return (await git(this.#place, args)).toString().trim()
  }

  async #store(bytes: Buffer, id: string): Promise<void> {
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

/** With its time: git looks again at files that changed in the very moment in which an index was written. */
async function copyIndex(from: string, to: string): Promise<void> {
  const { atime, mtimeMs } = await stat(from)
  await copyFile(from, to, constants.COPYFILE_EXCL)
  await utimes(to, atime, Math.floor(mtimeMs) / 1000)
}

/** Splits what git prints with -z. Names of files are bytes, which need not be text. */
function fieldsOf(output: Buffer): { readonly text: string; readonly isText: boolean }[] {
  if (isUtf8(output)) return toFields(output.toString()).map((text) => ({ text, isText: true }))
  return toFields(output.toString('latin1')).map((field) => {
    const bytes = Buffer.from(field, 'latin1')
    return { text: bytes.toString(), isText: isUtf8(bytes) }
  })
}

function toFields(text: string): string[] {
  return text.split('\0').filter(Boolean)
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
