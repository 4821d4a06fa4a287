import { setTimeout as sleep } from 'node:timers/promises'
import { InspanError } from '@inspan/protocol'
import type { CommandKey } from '@inspan/protocol/store'
import type { Command, CommandResult } from '@inspan/protocol/wire'
import { admitCommand, type ServedHarness, type ThreadRuntime } from '@inspan/core/serving'
import type { Caller } from './http/guard.ts'
import { ThreadFeed } from './feed/thread-feed.ts'
import { ThreadSource } from './feed/thread-source.ts'
import type { SharedWebhooks } from './shared-webhooks.ts'
import type { Webhooks } from './webhooks.ts'

/** How long a thread that nobody watches stays open. A run at work keeps it open, however long. */
const LINGER_MS = 30_000

/** How often threads that other processes may write are looked at. */
const FOLLOW_MS = 250
/** The same where the store signals what others write: a signal may get lost. */
const FOLLOW_SIGNALS_MS = 1000
const EPOCH_MS = 250
/** How long the sender of a command waits for the process that holds the thread. */
const SETTLE_MS = 30_000
const SETTLE_POLL_MS = 50

interface HubThread {
  readonly resourceId: string
  readonly source: ThreadSource
  readonly feed: ThreadFeed
  /** Set while this process has the thread open. */
  leave: (() => Promise<void>) | undefined
  takingOver?: Promise<void> | undefined
  users: number
  unusedSince: number
}

/** A thread in use. It stays open at least until it is released. */
export interface UsedThread {
  readonly feed: ThreadFeed
  /** Throws `held` while another process holds the thread. */
  readonly runtime: ThreadRuntime
  /** Carries out a command, or has it carried out by the process that holds the thread. */
  execute(command: Command, key: CommandKey): Promise<CommandResult>
  release(): void
}

/** The open threads of a server: one feed each, however many clients watch it. */
export class Hub {
  readonly door: ServedHarness
  readonly #webhooks: Webhooks | SharedWebhooks | undefined
  readonly #places = new Map<string, Promise<HubThread>>()
  readonly #sweep: NodeJS.Timeout
  readonly #epochs: NodeJS.Timeout
  #following: NodeJS.Timeout | undefined
  readonly #stopListening: (() => void) | undefined
  readonly #onClosed = new Set<(thread: string) => void>()
  /** The first thread of a tenant is being made. */
  readonly #firsts = new Map<string, Promise<string>>()
  readonly #onMoved = new Set<() => void>()
  /** The epoch of the store when threads were looked at last, or the first one was opened. */
  #epoch: string | undefined
  #closed = false

  constructor(door: ServedHarness, webhooks?: Webhooks | SharedWebhooks) {
    this.door = door
    this.#webhooks = webhooks
    this.#sweep = setInterval(() => {
      this.#closeUnused()
      void this.recover().catch(() => undefined)
    }, LINGER_MS / 3)
    this.#sweep.unref()
    this.#stopListening = door.store.onChange?.((thread, seq) => {
      // What could not be read is read by the next look.
      void this.#readTo(thread, seq).catch(() => undefined)
    })
    // Not with the looks at threads: they wait for the store, which may not answer while its data is being replaced.
    this.#epochs = setInterval(() => this.#checkEpoch(), EPOCH_MS)
    this.#epochs.unref()
    this.#follow()
  }

  get isClosed(): boolean {
    return this.#closed
  }

  get openThreads(): number {
    return this.#places.size
  }

  get epoch(): string {
    return this.door.store.epoch
  }

  tenantOf({ tenant }: Pick<Caller, 'tenant'>): string {
    return tenant ?? this.door.resourceId
  }

  /** Opens a thread of the caller's. For one of somebody else's it fails as if there were none. */
  async use(thread: string, caller: Pick<Caller, 'tenant'>): Promise<UsedThread> {
    if (this.#closed) throw new InspanError('closed', 'The server is shutting down.')
    const resourceId = this.tenantOf(caller)
    await this.door.find(thread, resourceId)
    let opening = this.#place(thread, resourceId)
    let place = await opening
    // It may have been closed while we waited for it.
    while (this.#places.get(thread) !== opening) {
      if (this.#closed) throw new InspanError('closed', 'The server is shutting down.')
      opening = this.#place(thread, resourceId)
      place = await opening
    }
    place.users++
    try {
      await place.feed.ready()
    } catch (error) {
      place.users--
      throw error
    }
    let isReleased = false
    return {
      feed: place.feed,
      get runtime() {
        const { runtime } = place.source
        if (runtime !== undefined) return runtime
        throw new InspanError('held', `Thread ${thread} is in use by another process.`)
      },
      execute: (command, key) => this.#execute(thread, place, command, key),
      release: () => {
        if (isReleased) return
        isReleased = true
        place.users--
        place.unusedSince = Date.now()
      },
    }
  }

  /** Returns the thread for clients that name none: the newest of the caller's, or a new one. */
  async defaultThread(caller: Pick<Caller, 'tenant'>): Promise<string> {
    const resourceId = this.tenantOf(caller)
    const making = this.#firsts.get(resourceId)
    if (making !== undefined) return making
    const first = this.#newest(resourceId)
    this.#firsts.set(resourceId, first)
    try {
      return await first
    } finally {
      this.#firsts.delete(resourceId)
    }
  }

  /** Continues runs whose process died, whether or not anybody watches them. */
  async recover(): Promise<void> {
    for await (const { id, resourceId } of this.door.abandoned()) {
      if (this.#closed) return
      // Another server may be faster, and a thread that cannot be opened must not keep the others waiting.
      const used = await this.use(id, { tenant: resourceId }).catch(() => undefined)
      used?.release()
    }
  }

  /** Calls `listener` when a thread was deleted while clients watched it. */
  onClosed(listener: (thread: string) => void): () => void {
    this.#onClosed.add(listener)
    return () => void this.#onClosed.delete(listener)
  }

  /** Calls `listener` when the data of the store was replaced, so that what clients were sent may not be in it. */
  onMoved(listener: () => void): () => void {
    this.#onMoved.add(listener)
    return () => void this.#onMoved.delete(listener)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#sweep)
    clearInterval(this.#epochs)
    clearTimeout(this.#following)
    this.#stopListening?.()
    await Promise.allSettled([...this.#places.keys()].map((thread) => this.#leave(thread)))
  }

  async #newest(resourceId: string): Promise<string> {
    await this.door.ready()
    const { items } = await this.door.listThreads({ resourceId, limit: 1 })
    return (items[0] ?? (await this.door.create(resourceId, {}))).id
  }

  #place(thread: string, resourceId: string): Promise<HubThread> {
    const known = this.#places.get(thread)
    if (known !== undefined) return known
    const place = this.#open(thread, resourceId)
    this.#places.set(thread, place)
    place.catch(() => {
      if (this.#places.get(thread) === place) this.#places.delete(thread)
    })
    return place
  }

  async #open(thread: string, resourceId: string): Promise<HubThread> {
    const source = new ThreadSource()
    let leave: HubThread['leave']
    try {
      leave = await this.#enter(thread, resourceId, source)
    } catch (error) {
      if (!InspanError.is(error, 'held')) throw error
      await source.follow(this.door.store, thread)
    }
    // The clients of this thread learn this epoch. If the data is replaced before the next look, that has to show.
    this.#epoch ??= this.epoch
    const { head } = source.state
    this.#webhooks?.opened(thread, head.seq)
    source.onFrame((frame) => this.#webhooks?.frame(thread, frame))
    const feed = new ThreadFeed(thread, this.door.store, source)
    return { resourceId, source, feed, leave, users: 0, unusedSince: Date.now() }
  }

  async #enter(thread: string, resourceId: string, source: ThreadSource): Promise<() => Promise<void>> {
    let stop: (() => void) | undefined
    const begin = (runtime: ThreadRuntime): void => {
      source.begin(runtime)
      // A run that lost its data is woken soon, and must not find the thread open with a state that is gone.
      stop = runtime.onLost(() => this.#checkEpoch())
    }
    const onEvicted = (): Promise<void> => this.#evicted(thread)
    const entered = await this.door.enter(thread, { resourceId, begin, onEvicted })
    await source.attached()
    return () => {
      stop?.()
      return entered.leave()
    }
  }

  async #leave(thread: string): Promise<void> {
    const place = this.#places.get(thread)
    this.#places.delete(thread)
    const open = await place?.catch(() => undefined)
    if (open === undefined) return
    await open.takingOver?.catch(() => undefined)
    await open.feed.close()
    await open.leave?.()
  }

  async #execute(thread: string, place: HubThread, command: Command, key: CommandKey): Promise<CommandResult> {
    const { source } = place
    if (source.runtime === undefined) await this.#takeOver(thread, place)
    if (source.runtime !== undefined) {
      try {
        return await source.runtime.execute(command, key)
      } catch (error) {
        // Another process took the thread while it rested here. The command is in the table by now.
        if (!InspanError.is(error, 'held')) throw error
      }
    }
    if (command.type === 'rewind' && command.dryRun === true) {
      const message = 'Another process is at work in this thread. Try again when it is done.'
      return { status: 'rejected', reason: 'wrong-state', message }
    }
    const { store } = this.door
    const admission = await admitCommand(store, { command, key, target: thread, at: Date.now() })
    if (admission.status === 'conflict' || admission.status === 'expired') return { status: admission.status }
    return this.#settled(place, key)
  }

  /** Waits until the process that holds the thread has carried a command out. */
  async #settled({ source }: HubThread, key: CommandKey): Promise<CommandResult> {
    const until = Date.now() + SETTLE_MS
    while (!this.#closed && Date.now() < until) {
      const row = await this.door.store.getCommand(key)
      if (row?.state === 'done') {
        await source.catchUp()
        return row.outcome as unknown as CommandResult
      }
      await sleep(SETTLE_POLL_MS, undefined, { ref: false })
    }
    throw new InspanError('held', 'The process that holds the thread has not carried the command out yet.')
  }

  /** Opens a followed thread here as soon as its process lets go of it or is dead. */
  async #takeOver(thread: string, place: HubThread): Promise<void> {
    place.takingOver ??= this.#enter(thread, place.resourceId, place.source)
      .then((leave) => {
        place.leave = leave
      })
      .catch((error: unknown) => {
        if (!InspanError.is(error, 'held')) throw error
      })
      .finally(() => {
        place.takingOver = undefined
      })
    await place.takingOver
  }

  /**
   * Reads what another process wrote. Nothing else: a busy thread has dozens of signals a second in each process that
   * follows it, and an attempt to take it would lock the row that its owner appends to.
   */
  async #readTo(thread: string, seq: number): Promise<void> {
    const place = await this.#places.get(thread)
    if (place === undefined || !this.#isFollowed(place)) return
    await place.source.catchUp(seq)
  }

  /** Whether somebody needs to see what other processes write. */
  #isFollowed({ feed, source, users }: HubThread): boolean {
    return source.runtime?.isHeld !== true && (users > 0 || feed.isWatched)
  }

  /** Looks at all threads now and then: the signals of a store may be lost, and some stores have none. */
  #follow(): void {
    const everyMs = this.#stopListening === undefined ? FOLLOW_MS : FOLLOW_SIGNALS_MS
    this.#following = setTimeout(() => {
      void this.#lookAtAll().then(() => {
        if (!this.#closed) this.#follow()
      })
    }, everyMs)
    this.#following.unref()
  }

  async #lookAtAll(): Promise<void> {
    await Promise.allSettled([...this.#places.keys()].map((thread) => this.#look(thread)))
  }

  /** Threads are opened anew when the data was replaced; clients connect again and hear that they have to start over. */
  #checkEpoch(): void {
    const before = this.#epoch
    // Unknown as long as the store was never used.
    if (this.#places.size > 0) this.#epoch = this.epoch
    if (before === undefined || before === this.#epoch) return
    for (const listener of this.#onMoved) listener()
    for (const thread of this.#places.keys()) void this.#leave(thread).catch(() => undefined)
  }

  /** Looks at a thread that another process holds, or may have written or deleted since it rests here. */
  async #look(thread: string): Promise<void> {
    const opening = this.#places.get(thread)
    const place = await opening
    if (place === undefined) return
    const { source } = place
    if (!this.#isFollowed(place)) return
    if ((await this.door.store.getThread(thread)) === null) {
      if (this.#places.get(thread) === opening) await this.#evicted(thread)
      return
    }
    await source.catchUp()
    if (source.runtime === undefined) await this.#takeOver(thread, place)
  }

  /** Tells those who watch a thread that it is gone. */
  async #evicted(thread: string): Promise<void> {
    for (const listener of this.#onClosed) listener(thread)
    await this.#leave(thread)
  }

  #closeUnused(): void {
    for (const [thread, opening] of this.#places) {
      void opening
        .then(async (place) => {
          const isUnused = place.users === 0 && !place.feed.isWatched && !place.feed.isBusy
          if (isUnused && Date.now() - place.unusedSince >= LINGER_MS) await this.#leave(thread)
        })
        .catch(() => undefined)
    }
  }
}
