import type { ThreadState } from '@evener/protocol'
import type { LogEntry } from '../engine/thread-log.ts'
import type { ThreadRuntime } from '../engine/thread-runtime.ts'

type Hears = (entry: LogEntry, wasKept: boolean) => void

/** What happens in a thread from one moment on: kept until somebody can hear it, told as it comes from then on. */
export class ThreadWatch {
  /** The thread as it was in that moment. */
  readonly from: ThreadState
  readonly #stop: () => void
  #kept: LogEntry[] = []
  #hears: Hears | undefined

  constructor(runtime: Pick<ThreadRuntime, 'onEntry' | 'state'>) {
    this.from = runtime.state
    this.#stop = runtime.onEntry((entry) => {
      if (this.#hears === undefined) this.#kept.push(entry)
      else this.#hears(entry, false)
    })
  }

  /** All that was kept, in its order, then what comes. */
  tell(hears: Hears): void {
    // What comes while this is being told is put behind it, and told as well.
    for (const entry of this.#kept) hears(entry, true)
    this.#kept = []
    this.#hears = hears
  }

  end(): void {
    this.#stop()
  }
}
