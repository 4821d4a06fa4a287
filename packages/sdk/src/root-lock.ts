import { readFileSync, rmSync } from 'node:fs'
import { open, readFile, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { AgentSDKError } from './errors.ts'

interface Holder {
  readonly pid: number
  readonly host: string
  readonly token: string
}

/** The folders that managers of this process use. */
const here = new Map<string, string>()

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
    if (here.has(path)) throw inUse(storageRootFolder, 'this process')
    here.set(path, token)
    try {
      for (let attempt = 0; ; attempt++) {
        if (await create(path, { pid: process.pid, host: hostname(), token })) return new RootLock(path, token)
        const holder = await holderOf(path)
        if (attempt >= 3 || (holder !== undefined && isAlive(holder))) {
          throw inUse(storageRootFolder, holder === undefined ? 'another process' : `process ${holder.pid}`)
        }
        await rm(path, { force: true })
      }
    } catch (error) {
      here.delete(path)
      throw error
    }
  }

  release(): void {
    here.delete(this.#path)
    try {
      const holder = JSON.parse(readFileSync(this.#path, 'utf8')) as Holder
      if (holder.token === this.#token) rmSync(this.#path, { force: true })
    } catch {
      // Somebody removed the folder: then there is no lock either.
    }
  }
}

async function create(path: string, holder: Holder): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600)
    try {
      await file.writeFile(JSON.stringify(holder))
    } finally {
      await file.close()
    }
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

async function holderOf(path: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Holder
  } catch {
    return undefined
  }
}

/** A process on another machine counts as alive: we cannot see it. Our own id without our entry is a reused one. */
function isAlive({ host, pid }: Holder): boolean {
  if (host !== hostname()) return true
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

function inUse(folder: string, who: string): AgentSDKError {
  return new AgentSDKError('STORAGE_IN_USE', `The storage folder ${folder} is in use by ${who}.`, {
    hint: 'Shut down the other manager, or use a folder of its own.',
  })
}
