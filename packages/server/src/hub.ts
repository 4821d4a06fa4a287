import { InspanError } from '@inspan/protocol'
import type { ServedHarness, ThreadRuntime } from '@inspan/core/serving'
import type { Caller } from './http/guard.ts'
import { ThreadFeed } from './feed/thread-feed.ts'
import type { Webhooks } from './webhooks.ts'

/** How long a thread that nobody watches stays open. A run at work keeps it open, however long. */
const LINGER_MS = 30_000

interface Place {
  readonly feed: ThreadFeed
  readonly runtime: ThreadRuntime
  readonly leave: () => Promise<void>
  users: number
  unusedSince: number
}

/** A thread in use. It stays open at least until it is released. */
export interface UsedThread {
  readonly feed: ThreadFeed
  readonly runtime: ThreadRuntime
  release(): void
}

/** The open threads of a server: one feed each, however many clients watch it. */
export class Hub {
  readonly door: ServedHarness
  readonly #webhooks: Webhooks | undefined
  readonly #places = new Map<string, Promise<Place>>()
  readonly #sweep: NodeJS.Timeout
  readonly #onClosed = new Set<(thread: string) => void>()
  /** The first thread of a tenant is being made. */
  readonly #firsts = new Map<string, Promise<string>>()
  #closed = false

  constructor(door: ServedHarness, webhooks?: Webhooks) {
    this.door = door
    this.#webhooks = webhooks
    this.#sweep = setInterval(() => this.#closeUnused(), LINGER_MS / 3)
    this.#sweep.unref()
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
      opening = this.#place(thread, resourceId)
      place = await opening
    }
    place.users++
    await place.feed.ready()
    let isReleased = false
    return {
      feed: place.feed,
      runtime: place.runtime,
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

  /** Calls `listener` when a thread was deleted while clients watched it. */
  onClosed(listener: (thread: string) => void): () => void {
    this.#onClosed.add(listener)
    return () => void this.#onClosed.delete(listener)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#sweep)
    await Promise.allSettled([...this.#places.keys()].map((thread) => this.#leave(thread)))
  }

  async #newest(resourceId: string): Promise<string> {
    await this.door.ready()
    const { items } = await this.door.store.listThreads({ resourceId, limit: 1 })
    return (items[0] ?? (await this.door.create(resourceId, {}))).id
  }

  #place(thread: string, resourceId: string): Promise<Place> {
    const known = this.#places.get(thread)
    if (known !== undefined) return known
    const place = this.#open(thread, resourceId)
    this.#places.set(thread, place)
    place.catch(() => {
      if (this.#places.get(thread) === place) this.#places.delete(thread)
    })
    return place
  }

  async #open(thread: string, resourceId: string): Promise<Place> {
    let feed: ThreadFeed | undefined
    const begin = (runtime: ThreadRuntime): void => {
      this.#webhooks?.opened(thread, runtime.committed.head.seq)
      const stop = runtime.onFrame((frame) => this.#webhooks?.frame(thread, frame))
      feed = new ThreadFeed(thread, this.door.store, {
        get state() {
          return runtime.committed
        },
        get isBusy() {
          return runtime.run !== undefined
        },
        onFrame: (listener) => runtime.onFrame(listener),
        close: async () => stop(),
      })
    }
    const onEvicted = async (): Promise<void> => {
      for (const listener of this.#onClosed) listener(thread)
      await this.#leave(thread)
    }
    const entered = await this.door.enter(thread, { resourceId, begin, onEvicted })
    if (feed === undefined) throw new InspanError('io', `Thread ${thread} was opened without being announced.`)
    return { feed, runtime: entered.runtime, leave: () => entered.leave(), users: 0, unusedSince: Date.now() }
  }

  async #leave(thread: string): Promise<void> {
    const place = this.#places.get(thread)
    this.#places.delete(thread)
    const open = await place?.catch(() => undefined)
    if (open === undefined) return
    await open.feed.close()
    await open.leave()
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
