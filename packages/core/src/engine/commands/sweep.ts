import type { Store } from '@inspan/protocol/store'
import { timerMs } from '../checks/check-options.ts'
import type { ThreadRuntime } from '../thread-runtime.ts'
import { executePending } from './pending.ts'
import { allItems } from '../../common/all-items.ts'

const EVERY_MS = 1000

/** A thread that was opened for the sweep. */
export interface SweptThread {
  readonly runtime: Pick<ThreadRuntime, 'executePending' | 'settleDue' | 'idle'>
  /** Called when nothing goes on in the thread any more. */
  readonly leave: () => Promise<void>
}

/** What was found: an accepted command, a wait that is due, or a thread that a dead process left. */
export type Found = { readonly kind: 'command' | 'left' } | { readonly kind: 'wait'; readonly due: number }

export interface SweepOptions {
  /**
   * Opens a thread; `undefined` if somebody else should. Fails for a thread that another process holds: that one sweeps
   * too.
   */
  readonly open: (thread: string, found: Found) => Promise<SweptThread | undefined>
  /** Milliseconds between two looks. Default: 1,000. */
  readonly every?: number
  readonly now?: () => number
  /** Called for a thread that could not be opened. Default: it is tried again the next time. */
  readonly onError?: (error: unknown, thread: string) => void
}

/**
 * Looks for work that no process is at: commands that were accepted, and waits that are due. Both are in the store, so
 * it does not matter which process finds them, and each happens once.
 */
export class Sweep {
  readonly #store: Store
  readonly #options: SweepOptions
  /** The threads in which something goes on since they were opened. */
  readonly #busy = new Set<Promise<void>>()
  readonly #waking = new Set<string>()
  /** The threads that are being opened, or whose commands are being carried out. */
  readonly #visits = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  #last: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(store: Store, options: SweepOptions) {
    this.#store = store
    this.#options = options
  }

  /** Looks now and then. Keeps neither the process nor this object alive. */
  start(): void {
    if (this.#isStopped || this.#timer !== undefined) return
    const self = new WeakRef(this)
    this.#timer = setTimeout(() => self.deref()?.look(), timerMs(this.#options.every ?? EVERY_MS)).unref()
  }

  /** Looks once, and then again after a while. */
  look(): void {
    this.#last = this.once()
      .catch((error: unknown) => this.#options.onError?.(error, ''))
      .then(() => {
        this.#timer = undefined
        this.start()
      })
  }

  /** Looks once. Resolves when everything that was found is settled; what follows from it may still go on. */
  async once(): Promise<void> {
    const { every = EVERY_MS, now = Date.now } = this.#options
    // Whoever admitted a command a moment ago is about to carry it out.
    await executePending(
      this.#store,
      (thread) => this.#visit(thread, { kind: 'command' }, (runtime) => runtime.executePending()),
      now() - every,
      now,
    )
    const tried = new Set<string>()
    for await (const { stream, wait } of allItems((from) => this.#store.listDue({ now: now(), ...from }))) {
      if (this.#isStopped) return
      if (tried.has(stream)) continue
      tried.add(stream)
      await this.#visit(stream, { kind: 'wait', due: wait.due ?? 0 }, (runtime) => runtime.settleDue())
    }
  }

  /** Looks at one thread now. */
  wake(thread: string): void {
    if (this.#waking.has(thread)) return
    this.#waking.add(thread)
    const visit = this.#visit(thread, { kind: 'left' }, async (runtime) => {
      await runtime.executePending()
      await runtime.settleDue()
    })
    this.#track(visit.finally(() => this.#waking.delete(thread)))
  }

  /** Looks no more. Resolves when all that was found has begun, so that no run starts after that. */
  async halt(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await Promise.all(this.#visits)
  }

  /** Resolves when the sweep has left all threads. Runs that go on in them are waited for, unless they are ended. */
  async stop(): Promise<void> {
    await this.halt()
    await this.#last
    await Promise.all(this.#busy)
  }

  async #visit(thread: string, found: Found, task: (runtime: SweptThread['runtime']) => Promise<void>): Promise<void> {
    if (this.#isStopped) return
    const visit = this.#openFor(thread, found, task)
    this.#visits.add(visit)
    await visit
    this.#visits.delete(visit)
  }

  async #openFor(
    thread: string,
    found: Found,
    task: (runtime: SweptThread['runtime']) => Promise<void>,
  ): Promise<void> {
    try {
      const swept = await this.#options.open(thread, found)
      if (swept === undefined) return
      await task(swept.runtime).finally(() => this.#leaveWhenIdle(thread, swept))
    } catch (error) {
      this.#options.onError?.(error, thread)
    }
  }

  #leaveWhenIdle(thread: string, { runtime, leave }: SweptThread): void {
    const left = runtime
      .idle()
      .then(leave)
      .catch((error: unknown) => this.#options.onError?.(error, thread))
    this.#track(left)
  }

  #track(work: Promise<void>): void {
    this.#busy.add(work)
    void work.then(() => this.#busy.delete(work))
  }
}
