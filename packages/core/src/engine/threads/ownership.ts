import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { InspanError } from '@inspan/protocol'
import type { Fence, Owner, Store } from '@inspan/protocol/store'
import { currentPidScope, isProcessAlive, processStartTime } from '../../machine.ts'

/** How long an owner on another machine counts as alive after its last heartbeat. */
const LEASE_MS = 30_000
const HEARTBEAT_MS = 10_000

/** The owners in this process: one can ask another for a thread that is idle there. */
const here = new Map<string, ProcessOwner>()

/** Releases a thread if it is idle; returns whether it did. */
type LetGo = () => Promise<boolean>

/** This process as an owner of threads: one row in the store and one heartbeat for all its threads. */
export class ProcessOwner {
  readonly id: string
  readonly #store: Store
  readonly #entered = new Set<string>()
  readonly #lettingGo = new Map<string, LetGo>()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  private constructor(store: Store, id: string) {
    this.#store = store
    this.id = id
  }

  /** Call once per process and store, and `close` at the end. `url`: shown to others that want its threads. */
  static async register(store: Store, options: { url?: string; now?: () => number } = {}): Promise<ProcessOwner> {
    const now = options.now ?? Date.now
    const owner = new ProcessOwner(store, randomUUID())
    await store.putOwner({
      id: owner.id,
      host: hostname(),
      pid: process.pid,
      startTime: processStartTime(process.pid),
      bootId: currentPidScope(),
      until: now() + LEASE_MS,
      ...(options.url === undefined ? {} : { url: options.url }),
    })
    owner.#timer = setInterval(() => {
      // A missed heartbeat only shortens the lease. Lost ownership shows at the next append, which is fenced.
      store.heartbeat(owner.id, now() + LEASE_MS).catch(() => undefined)
    }, HEARTBEAT_MS)
    owner.#timer.unref()
    here.set(owner.id, owner)
    return owner
  }

  /** Throws if the thread is open in this process: a second runtime would take the first for dead. */
  enter(stream: string, what = 'Thread'): void {
    if (this.#entered.has(stream)) {
      throw new InspanError('held', `${what} ${stream} is open in this process already.`, {
        hint: 'Use the runtime that has it, or close that first.',
        details: { stream, owner: this.id },
      })
    }
    this.#entered.add(stream)
  }

  leave(stream: string): void {
    this.#entered.delete(stream)
    this.#lettingGo.delete(stream)
  }

  /** Sets the function to call when another owner in this process wants the thread. */
  onWanted(stream: string, letGo: LetGo): void {
    this.#lettingGo.set(stream, letGo)
  }

  /** Takes the stream, even from a dead owner. Throws if it is held, and says by whom. */
  async claim(stream: string): Promise<Fence> {
    if (this.#isClosed) {
      throw new InspanError('closed', `Thread ${stream} cannot be opened: its owner is closed.`, {
        hint: 'Register another with `ProcessOwner.register(store)`.',
        details: { stream, owner: this.id },
      })
    }
    let claim = await this.#store.claim(stream, this.id)
    if (claim.status === 'held' && (claim.holder === null || isDead(claim.holder, Date.now()))) {
      claim = await this.#store.takeOver(stream, this.id, claim.epoch)
    }
    if (claim.status === 'held' && (await askedFor(stream, claim.owner))) {
      claim = await this.#store.claim(stream, this.id)
    }
    if (claim.status === 'owned') return { owner: this.id, epoch: claim.epoch }
    const { holder } = claim
    const details = { stream, owner: claim.owner, holder }
    if (here.has(claim.owner)) {
      throw new InspanError('held', `${stream} is in use elsewhere in this process.`, {
        hint: 'End what goes on there, or destroy what has it open, first.',
        details,
      })
    }
    throw new InspanError('held', `Thread ${stream} is in use by ${describeOwner(holder, claim.owner)}.`, {
      hint: holder?.url === undefined ? 'Close it there first.' : `Connect to ${holder.url} instead.`,
      details,
    })
  }

  /** Releases the stream to another owner in this process. Returns true if it is no longer held here. */
  async giveUp(stream: string): Promise<boolean> {
    const letGo = this.#lettingGo.get(stream)
    return letGo === undefined ? false : letGo()
  }

  async release(stream: string, fence: Fence): Promise<void> {
    await this.#store.release(stream, fence)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    here.delete(this.id)
    await this.#store.removeOwner(this.id)
  }
}

async function askedFor(stream: string, ownerId: string): Promise<boolean> {
  const owner = here.get(ownerId)
  return owner === undefined ? false : owner.giveUp(stream)
}

/**
 * Whether the owner is dead. Where its pid means the same to us, we check the process. On another machine, in another
 * container or from another boot, only its last heartbeat counts: all of them may have the same host name.
 */
export function isDead(owner: Owner, now: number): boolean {
  if (owner.host !== hostname() || owner.bootId !== currentPidScope()) return owner.until < now
  return !isProcessAlive(owner.pid, owner.startTime)
}

function describeOwner(holder: Owner | null, id: string): string {
  return holder === null ? `owner ${id}` : `process ${holder.pid} on ${holder.host}`
}
