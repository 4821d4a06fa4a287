import type { Store } from '@inspan/protocol/store'
import { Mailbox } from '../../engine/threads/mailbox.ts'
import { ProcessOwner } from '../../engine/threads/ownership.ts'
import type { ThreadRuntime } from '../../engine/thread-runtime.ts'

/** A thread that a session of this harness is bound to. */
export interface OpenThread<Viewer> {
  readonly threadId: string
  readonly runtime: ThreadRuntime
  readonly viewers: ReadonlySet<Viewer>
}

/** Called when a thread has been claimed, before anything goes on in it. */
export interface Opening {
  begin(runtime: ThreadRuntime): void
}

export interface OpenThreadsOptions<Viewer> {
  readonly store: Store
  readonly now: () => number
  readonly onClosed?: (runtime: ThreadRuntime) => void
  /** `opening.begin` is called when the thread has been claimed, before anything goes on in it. */
  readonly open: (
    threadId: string,
    owner: ProcessOwner,
    viewers: ReadonlySet<Viewer>,
    opening: Opening,
  ) => Promise<ThreadRuntime>
}

interface Place<Viewer> {
  readonly viewers: Set<Viewer>
  /** Serialises opening and closing the thread. */
  readonly turns: Mailbox
  /** The number of viewers that are entering. */
  entering: number
  runtime: ThreadRuntime | undefined
}

/** Holds one runtime per thread, however many sessions are bound to it. It is closed when the last of them leaves. */
export class OpenThreads<Viewer> {
  readonly #options: OpenThreadsOptions<Viewer>
  readonly #places = new Map<string, Place<Viewer>>()
  #owner: Promise<ProcessOwner> | undefined

  constructor(options: OpenThreadsOptions<Viewer>) {
    this.#options = options
  }

  /** Returns this process as an owner of threads, registered on first use. */
  owner(): Promise<ProcessOwner> {
    const { now, store } = this.#options
    this.#owner ??= ProcessOwner.register(store, { now }).catch((error: unknown) => {
      this.#owner = undefined
      throw error
    })
    return this.#owner
  }

  /** A listener added in `opening.begin` hears everything that happens in the thread. */
  enter(threadId: string, viewer: Viewer, opening: Opening): Promise<OpenThread<Viewer>> {
    const place = this.#place(threadId)
    place.entering++
    return place.turns.post(async () => {
      const { viewers } = place
      place.entering--
      viewers.add(viewer)
      try {
        if (place.runtime !== undefined) opening.begin(place.runtime)
        else place.runtime = await this.#options.open(threadId, await this.owner(), viewers, opening)
      } catch (error) {
        viewers.delete(viewer)
        this.#forget(threadId, place)
        throw error
      }
      return { threadId, runtime: place.runtime, viewers }
    })
  }

  async leave(threadId: string, viewer: Viewer): Promise<void> {
    const place = this.#places.get(threadId)
    await place?.turns.post(async () => {
      const { runtime, viewers } = place
      if (viewers.size === 1 && viewers.has(viewer)) {
        // Closed before its viewer is removed, so that the viewer hears how the run ends.
        place.runtime = undefined
        try {
          await runtime?.close()
        } finally {
          if (runtime !== undefined) this.#options.onClosed?.(runtime)
          viewers.delete(viewer)
          this.#forget(threadId, place)
        }
        return
      }
      viewers.delete(viewer)
      this.#forget(threadId, place)
    })
  }

  /** Returns the runtime of the thread if it is open. */
  find(threadId: string): ThreadRuntime | undefined {
    return this.#places.get(threadId)?.runtime
  }

  viewers(threadId: string): readonly Viewer[] {
    return [...(this.#places.get(threadId)?.viewers ?? [])]
  }

  async close(): Promise<void> {
    const owner = await this.#owner
    this.#owner = undefined
    await owner?.close()
  }

  #place(threadId: string): Place<Viewer> {
    const known = this.#places.get(threadId)
    if (known !== undefined) return known
    const place: Place<Viewer> = { viewers: new Set(), turns: new Mailbox(), entering: 0, runtime: undefined }
    this.#places.set(threadId, place)
    return place
  }

  #forget(threadId: string, place: Place<Viewer>): void {
    if (place.viewers.size === 0 && place.entering === 0 && this.#places.get(threadId) === place)
      this.#places.delete(threadId)
  }
}
