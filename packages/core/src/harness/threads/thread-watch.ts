import type { ThreadState } from '@evener/protocol'
import type { LogEntry } from '../../engine/log/thread-log.ts'
import type { ThreadRuntime } from '../../engine/thread-runtime.ts'

export interface HearsEntries {
  /** `isOlder`: it was kept until now. */
  entry(entry: LogEntry, isOlder: boolean): void
}

/** What happens in a thread from one moment on: kept until somebody can hear it, told as it comes from then on. */
export class ThreadWatch {
  #from: ThreadState | undefined
  #stop: (() => void) | undefined
  #kept: LogEntry[] = []
  #listener: HearsEntries | undefined

  /** The moment. */
  begin(runtime: Pick<ThreadRuntime, 'onEntry' | 'state'>): void {
    this.#from = runtime.state
    this.#stop = runtime.onEntry((entry) => {
      if (this.#listener === undefined) this.#kept.push(entry)
      else this.#listener.entry(entry, false)
    })
  }

  /** All that was kept, in its order, then what comes. */
  tell(listener: HearsEntries): void {
    // What comes while this is being told is put behind it, and told as well.
    for (const entry of this.#kept) listener.entry(entry, true)
    this.#kept = []
    this.#listener = listener
  }

  /** The thread as it was in that moment; given once. */
  takeFrom(): ThreadState | undefined {
    const from = this.#from
    this.#from = undefined
    return from
  }

  end(): void {
    this.#stop?.()
  }
}
