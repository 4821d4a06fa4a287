import { readFileSync, rmSync } from 'node:fs'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { AgentSDKError } from './errors.ts'

interface Holder {
  readonly pid: number
  readonly host: string
  readonly token: string
}

/** The tokens of this process. Another lock with our process id is that of a dead process whose id we got. */
const ours = new Set<string>()

/** Keeps a second manager from using the same storage folder. A lock whose process is gone is taken over. */
export class RootLock {
  readonly #path: string
  readonly #token: string

  private constructor(path: string, token: string) {
    this.#path = path
    this.#token = token
  }

  static async take(storageRootFolder: string): Promise<RootLock> {
    const path = join(storageRootFolder, 'manager.lock')
    const token = crypto.randomUUID()
    ours.add(token)
    try {
      const other = await acquire(path, { pid: process.pid, host: hostname(), token })
      if (other === undefined) return new RootLock(path, token)
      throw inUse(storageRootFolder, ours.has(other.token) ? 'this process' : `process ${other.pid}`)
    } catch (error) {
      ours.delete(token)
      throw error
    }
  }

  release(): void {
    ours.delete(this.#token)
    try {
      if (parse(readFileSync(this.#path, 'utf8'))?.token === this.#token) rmSync(this.#path, { force: true })
    } catch {
      // Somebody removed the folder: then there is no lock either.
    }
  }
}

/** Makes the lock ours, or returns the living process that keeps us out. */
async function acquire(path: string, mine: Holder): Promise<Holder | undefined> {
  for (;;) {
    if (await create(path, mine)) return undefined
    const holder = await holderOf(path)
    if (holder === undefined) continue
    if (isAlive(holder)) return holder
    const other = await removeDead(path, holder, mine)
    if (other !== undefined) return other
  }
}

/**
 * Removes the lock of a dead process. Several may find it at once, and a slow one must not remove the lock that a faster
 * one has put in its place: so a lock is only removed under a lock of its own.
 */
async function removeDead(path: string, dead: Holder, mine: Holder): Promise<Holder | undefined> {
  const removal = `${path}.${dead.token}`
  const other = await acquire(removal, mine)
  if (other !== undefined) return other
  try {
    if ((await holderOf(path))?.token === dead.token) await rm(path, { force: true })
  } finally {
    await rm(removal, { force: true })
  }
  return undefined
}

/** Creates the lock with its content in one step, so that nobody finds it half written. */
async function create(path: string, holder: Holder): Promise<boolean> {
  const text = JSON.stringify(holder)
  const unfinished = `${path}.${holder.token}.tmp`
  await writeFile(unfinished, text, { mode: 0o600 })
  try {
    await link(unfinished, path).catch((error: unknown) => {
      // Some file systems, such as exFAT, have no links.
      if (!NO_LINKS.has(codeOf(error))) throw error
      return writeFile(path, text, { flag: 'wx', mode: 0o600 })
    })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    await rm(unfinished, { force: true })
  }
}

const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'])

/** Returns who has the lock; `undefined` if nobody has it any more. One that cannot be read is nobody's. */
async function holderOf(path: string): Promise<Holder | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
  return parse(text) ?? { pid: 0, host: hostname(), token: 'unreadable' }
}

function parse(text: string): Holder | undefined {
  try {
    const { host, pid, token } = JSON.parse(text) as { readonly [Key in keyof Holder]?: unknown }
    if (typeof host !== 'string' || typeof pid !== 'number' || typeof token !== 'string') return undefined
    // It becomes part of a file name.
    return /^[\w-]{1,64}$/.test(token) ? { host, pid, token } : undefined
  } catch {
    return undefined
  }
}

/** A process on another machine counts as alive: we cannot see it. */
function isAlive({ host, pid, token }: Holder): boolean {
  if (host !== hostname()) return true
  if (pid === process.pid || pid === 0) return ours.has(token)
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

function inUse(folder: string, who: string): AgentSDKError {
  return new AgentSDKError('STORAGE_IN_USE', `The storage folder ${folder} is in use by ${who}.`, {
    hint: 'Shut down the other manager, or use a folder of its own.',
  })
}
