import type { Store } from '@inspan/protocol/store'
import { timerMs } from '../checks/check-options.ts'
import type { ThreadRuntime } from '../thread-runtime.ts'
import { executePending } from './pending.ts'

const EVERY_MS = 1000

export interface SweepOptions {
  /** Opens a thread, or returns its open runtime. Fails for a thread that another process holds: that one sweeps too. */
  readonly open: (thread: string) => Promise<Pick<ThreadRuntime, 'executePending' | 'settleDue'>>
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
  #timer: NodeJS.Timeout | undefined
  #last: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(store: Store, options: SweepOptions) {
    this.#store = store
    this.#options = options
  }

  /** Looks now and then. Does not keep the process alive. */
  start(): void {
    if (this.#isStopped || this.#timer !== undefined) return
    this.#timer = setTimeout(
      () => {
        this.#last = this.once()
          .catch((error: unknown) => this.#options.onError?.(error, ''))
          .then(() => {
            this.#timer = undefined
            this.start()
          })
      },
      timerMs(this.#options.every ?? EVERY_MS),
    ).unref()
  }

  /** Looks once. */
  async once(): Promise<void> {
    const { now = Date.now, open } = this.#options
    await executePending(this.#store, (thread) => this.#try(thread, async () => (await open(thread)).executePending()))
    const tried = new Set<string>()
    for (;;) {
      const { items } = await this.#store.listDue({ now: now() })
      const next = items.find(({ stream }) => !tried.has(stream))
      if (next === undefined) return
      tried.add(next.stream)
      await this.#try(next.stream, async () => (await open(next.stream)).settleDue())
    }
  }

  /** Resolves when nothing of it goes on any more. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#last
  }

  async #try(thread: string, task: () => Promise<void>): Promise<void> {
    try {
      await task()
    } catch (error) {
      this.#options.onError?.(error, thread)
    }
  }
}
