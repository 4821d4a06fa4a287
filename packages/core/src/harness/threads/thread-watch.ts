import type { ThreadState } from '@inspan/protocol/log'
import type { LogEntry, ThreadRuntime } from '../../engine/index.ts'

export interface HearsEntries {
  /** `isOlder`: the entry was kept back until now. */
  entry(entry: LogEntry, isOlder: boolean): void
}

/** Watches a thread from a moment on: keeps entries until there is a listener, then passes them on as they come. */
export class ThreadWatch {
  #from: ThreadState | undefined
  #stop: (() => void) | undefined
  #kept: LogEntry[] = []
  #listener: HearsEntries | undefined

  /** Begins watching. */
  begin(runtime: Pick<ThreadRuntime, 'onEntry' | 'state'>): void {
    this.#from = runtime.state
    this.#stop = runtime.onEntry((entry) => {
      if (this.#listener === undefined) this.#kept.push(entry)
      else this.#listener.entry(entry, false)
    })
  }

  /** Passes on the kept entries in their order, then new ones as they come. */
  tell(listener: HearsEntries): void {
    // Entries that come during this loop are added to the list and passed on as well.
    for (const entry of this.#kept) listener.entry(entry, true)
    this.#kept = []
    this.#listener = listener
  }

  /** Returns the state of the thread when watching began; only once. */
  takeFrom(): ThreadState | undefined {
    const from = this.#from
    this.#from = undefined
    return from
  }

  end(): void {
    this.#stop?.()
  }
}
