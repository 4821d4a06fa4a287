import { MemoryStore } from '@inspan/core'
import { createThread } from '@inspan/core/engine'
import { emptyState, type DeltaFrame } from '@inspan/protocol/log'
import { watchThread } from './connection/watch.ts'
import { ThreadFeed } from './feed/thread-feed.ts'

/** As long as the ids that a harness makes. */
export const THREAD = '1794959978593-3tsmartqf2jyb'

export interface FedFeed {
  readonly feed: ThreadFeed
  /** Takes a frame as from the engine: it is sent when it is due. */
  readonly receive: (frame: DeltaFrame) => void
  /** Sends a frame at once. */
  readonly push: (frame: DeltaFrame) => void
}

/** A real feed whose frames come from the caller instead of an engine. */
export async function openFeed(): Promise<FedFeed> {
  const store = new MemoryStore()
  await createThread(store, { id: THREAD, resourceId: 'r' })
  let push: (frame: DeltaFrame) => void = () => undefined
  const feed = new ThreadFeed(THREAD, store, {
    state: emptyState(THREAD),
    isBusy: false,
    onFrame: (listener) => {
      push = listener
      return () => undefined
    },
    close: async () => undefined,
  })
  await feed.ready()
  return {
    feed,
    receive: (frame) => push(frame),
    push: (frame) => {
      push(frame)
      feed.flush()
    },
  }
}

/** Sends frames to clients as a server does. */
export async function feedAll(
  frames: readonly DeltaFrame[],
  clients: readonly ((text: string) => void)[],
): Promise<void> {
  const { feed, push } = await openFeed()
  for (const send of clients) watchThread({ feed, window: 50, isOnly: true, send, isOpen: () => true }, feed.seq)
  for (const frame of frames) push(frame)
}

/** Counts what arrives at clients. */
export class Arrivals {
  readonly #wanted: number
  #got = 0
  #done: () => void = () => undefined

  constructor(wanted: number) {
    this.#wanted = wanted
  }

  arrived(count = 1): void {
    this.#got += count
    if (this.#got === this.#wanted) this.#done()
  }

  /** Sends something, waits until everything has arrived everywhere, and returns how much that was. */
  async after(send: () => Promise<void> | void): Promise<number> {
    this.#got = 0
    const finished = new Promise<void>((resolve) => {
      this.#done = resolve
    })
    await send()
    await finished
    return this.#wanted
  }
}
