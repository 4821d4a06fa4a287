import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { InspanError } from '@inspan/protocol'
import type { Fence, Membership, Owner, Store } from '@inspan/protocol/store'
import { currentPidScope, isProcessAlive, processStartTime } from '@inspan/stores/shared'

/** How long an owner on another machine counts as alive after its last heartbeat. */
const LEASE_MS = 30_000
const HEARTBEAT_MS = 10_000

/** The owners in this process: one can ask another for a thread that is idle there. */
const here = new Map<string, ProcessOwner>()

/** How long to wait before this process tries again to become an owner, once it was taken for dead. */
const RETURN_MS = 500

/** How a thread of this process is taken away. */
interface OnTaken {
  /** Another owner in this process wants it: releases the thread if it is idle. Returns whether it did. */
  readonly wanted: () => Promise<boolean>
  /** Others took this process for dead: nothing more may be written. */
  readonly lost: () => void
}

export interface ClaimedThread extends Fence {
  /** Whether a run that was left open counts as having failed: not if its owner was asked to end, or lost the store. */
  readonly countsAsAttempt: boolean
}

export interface OwnerOptions {
  /** Shown to others that want its threads. */
  readonly url?: string
  readonly now?: () => number
  /** There may be work in a thread that no process is doing. Only a store that several machines share reports it. */
  readonly onWake?: (thread: string) => void
}

/** This process as an owner of threads: one row in the store and one heartbeat for all its threads. */
export class ProcessOwner {
  readonly #store: Store
  readonly #options: OwnerOptions
  readonly #entered = new Set<string>()
  readonly #onTaken = new Map<string, OnTaken>()
  readonly #leftBehind = new Set<string>()
  /** What this process was called before it was taken for dead. Nobody writes under these names any more. */
  readonly #formerIds = new Set<string>()
  #id: string
  #membership: Membership | undefined
  /** Pending while this process, once taken for dead, is not an owner again. */
  #isRegistered: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  private constructor(store: Store, options: OwnerOptions) {
    this.#store = store
    this.#options = options
    this.#id = randomUUID()
  }

  /** Another one after this process was taken for dead: what it did before must stay fenced. */
  get id(): string {
    return this.#id
  }

  /** Call once per process and store, and `close` at the end. */
  static async register(store: Store, options: OwnerOptions = {}): Promise<ProcessOwner> {
    const owner = new ProcessOwner(store, options)
    await owner.#register()
    const { now = Date.now } = options
    owner.#timer = setInterval(() => {
      // A missed heartbeat only shortens the lease. Lost ownership shows at the next append, which is fenced.
      store.heartbeat(owner.id, now() + LEASE_MS).catch(() => undefined)
    }, HEARTBEAT_MS)
    owner.#timer.unref()
    return owner
  }

  async #register(): Promise<void> {
    const { now = Date.now, url } = this.#options
    const id = this.#id
    await this.#store.putOwner({
      id,
      host: hostname(),
      pid: process.pid,
      startTime: processStartTime(process.pid),
      bootId: currentPidScope(),
      until: now() + LEASE_MS,
      ...(url === undefined ? {} : { url }),
    })
    here.set(id, this)
    this.#membership = await this.#store.join?.({
      owner: id,
      onWake: (thread) => this.#options.onWake?.(thread),
      onLost: () => this.#lose(id),
    })
  }

  /** Others took this process for dead: it stops what it runs, and comes back as another owner. */
  #lose(id: string): void {
    if (this.#isClosed || id !== this.#id) return
    here.delete(id)
    this.#formerIds.add(id)
    this.#membership = undefined
    this.#id = randomUUID()
    this.#leftBehind.clear()
    for (const { lost } of this.#onTaken.values()) lost()
    this.#isRegistered = this.#return()
  }

  async #return(): Promise<void> {
    while (!this.#isClosed) {
      try {
        return await this.#register()
      } catch {
        await new Promise((resolve) => setTimeout(resolve, RETURN_MS).unref())
      }
    }
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
    this.#onTaken.delete(stream)
  }

  onTaken(stream: string, onTaken: OnTaken): void {
    this.#onTaken.set(stream, onTaken)
  }

  /** Takes the stream, even from a dead owner. Throws if it is held, and says by whom. */
  async claim(stream: string): Promise<ClaimedThread> {
    if (this.#isClosed) {
      throw new InspanError('closed', `Thread ${stream} cannot be opened: its owner is closed.`, {
        hint: 'Register another with `ProcessOwner.register(store)`.',
        details: { stream, owner: this.id },
      })
    }
    await this.#isRegistered
    this.#leftBehind.delete(stream)
    let claim = await this.#store.claim(stream, this.id)
    let hasLeft = false
    if (claim.status === 'held' && this.#isDead(claim.holder)) {
      hasLeft = claim.holder?.until === 0
      claim = await this.#store.takeOver(stream, this.id, claim.epoch)
    }
    if (claim.status === 'held' && (await askedFor(stream, claim.owner))) {
      claim = await this.#store.claim(stream, this.id)
    }
    if (claim.status === 'owned') {
      return { owner: this.id, epoch: claim.epoch, countsAsAttempt: !hasLeft && claim.hasStoreRestarted !== true }
    }
    const { holder } = claim
    const details = { stream, owner: claim.owner, holder }
    if (here.has(claim.owner)) {
      throw new InspanError('held', `${stream} is in use elsewhere in this process.`, {
        hint: 'First end its run, or destroy whatever has it open.',
        details,
      })
    }
    throw new InspanError('held', `Thread ${stream} is in use by ${describeOwner(holder, claim.owner)}.`, {
      hint: holder?.url === undefined ? 'Close it there first.' : `Connect to ${holder.url} instead.`,
      details,
    })
  }

  #isDead(holder: Owner | null): boolean {
    if (holder === null || this.#formerIds.has(holder.id)) return true
    return this.#membership?.isDead(holder.id) ?? isDead(holder, Date.now())
  }

  /** Releases the stream to another owner in this process. Returns true if it is no longer held here. */
  async giveUp(stream: string): Promise<boolean> {
    return (await this.#onTaken.get(stream)?.wanted()) ?? false
  }

  async release(stream: string, fence: Fence): Promise<void> {
    // What was its own before it was taken for dead is for others to go on with: it may hold an open run.
    if (fence.owner === this.#id && !this.#leftBehind.has(stream)) await this.#store.release(stream, fence)
  }

  /** Never releases this thread: once the process is gone, it is found as one with a run to go on with. */
  leaveBehind(stream: string): void {
    this.#leftBehind.add(stream)
  }

  /**
   * A run here can no longer be written, e.g. because the database was away or lost commits. Has the thread looked at
   * once the store answers again, so that somebody continues it.
   */
  async wakeLater(stream: string): Promise<void> {
    if (this.#membership === undefined) return
    for (let isBack = false; !isBack && !this.#isClosed;) {
      await new Promise((resolve) => setTimeout(resolve, RETURN_MS).unref())
      isBack = await this.#store.getStream(stream).then(
        () => true,
        () => false,
      )
    }
    if (!this.#isClosed) this.#options.onWake?.(stream)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    here.delete(this.id)
    const isNeeded = await this.#hasLeftThreads()
    // Removing it would release its threads.
    if (isNeeded) await this.#store.heartbeat(this.id, 0)
    await this.#membership?.leave()
    if (!isNeeded) await this.#store.removeOwner(this.id)
  }

  /** A thread that was to be left behind may have been released, or taken over, before it came to that. */
  async #hasLeftThreads(): Promise<boolean> {
    if (this.#leftBehind.size === 0) return false
    const { items } = await this.#store.listOwned({ owner: this.id, limit: 1 })
    return items.length > 0
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
