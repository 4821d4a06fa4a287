import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { EvenerError, type Fence, type Owner, type Store } from '@evener/protocol'

/** How long a silent owner on another machine is believed to live. */
const LEASE_MS = 30_000
const HEARTBEAT_MS = 10_000

/** This process as an owner of threads: one row and one heartbeat, however many threads it holds. */
export class ProcessOwner {
  readonly id: string
  readonly #store: Store
  #timer: NodeJS.Timeout | undefined

  private constructor(store: Store, id: string) {
    this.#store = store
    this.id = id
  }

  static async register(store: Store, options: { url?: string; now?: () => number } = {}): Promise<ProcessOwner> {
    const now = options.now ?? Date.now
    const owner = new ProcessOwner(store, randomUUID())
    await store.putOwner({
      id: owner.id,
      host: hostname(),
      pid: process.pid,
      startTime: startTimeOf(process.pid) ?? '',
      bootId: bootId(),
      until: now() + LEASE_MS,
      ...(options.url === undefined ? {} : { url: options.url }),
    })
    owner.#timer = setInterval(() => {
      // A missed heartbeat only shortens the lease; a lost one shows at the next append, which is fenced.
      store.heartbeat(owner.id, now() + LEASE_MS).catch(() => undefined)
    }, HEARTBEAT_MS)
    owner.#timer.unref()
    return owner
  }

  /** Takes the stream, also from an owner that is dead; says who holds it otherwise. */
  async claim(stream: string): Promise<Fence> {
    let claim = await this.#store.claim(stream, this.id)
    if (claim.status === 'held' && (claim.holder === null || isDead(claim.holder, Date.now()))) {
      claim = await this.#store.takeOver(stream, this.id, claim.epoch)
    }
    if (claim.status === 'owned') return { owner: this.id, epoch: claim.epoch }
    const { holder } = claim
    throw new EvenerError('held', `Thread ${stream} is in use by ${describeOwner(holder, claim.owner)}.`, {
      hint: holder?.url === undefined ? 'Close it there first.' : `Connect to ${holder.url} instead.`,
      details: { stream, owner: claim.owner, holder },
    })
  }

  async release(stream: string, fence: Fence): Promise<void> {
    await this.#store.release(stream, fence)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#store.removeOwner(this.id)
  }
}

/** On this machine we can look; of another one we only know when it last spoke. */
export function isDead(owner: Owner, now: number): boolean {
  if (owner.host !== hostname()) return owner.until < now
  if (owner.bootId !== bootId()) return true
  const startTime = startTimeOf(owner.pid)
  if (startTime === undefined) return !canSignal(owner.pid)
  return owner.startTime !== '' && startTime !== owner.startTime
}

function describeOwner(holder: Owner | null, id: string): string {
  return holder === null ? `owner ${id}` : `process ${holder.pid} on ${holder.host}`
}

/** Tells a process from a later one with the same pid. `undefined` when there is none, or no /proc to ask. */
function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The program's name stands in parentheses and may hold anything, so counting starts after the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? undefined : fields[19]
  } catch {
    return undefined
  }
}

function canSignal(pid: number): boolean {
  if (process.platform === 'linux') return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

let cachedBootId: string | undefined

function bootId(): string {
  if (cachedBootId !== undefined) return cachedBootId
  try {
    cachedBootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    cachedBootId = ''
  }
  return cachedBootId
}
