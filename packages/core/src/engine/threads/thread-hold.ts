import { ThreadContext } from '../context/thread-context.ts'
import { ThreadHistory } from '../log/history.ts'
import { requireRedactor } from '../log/record-redactor.ts'
import type { Redactor } from '../log/redactor.ts'
import { ThreadLog } from '../log/thread-log.ts'
import type { ThreadRuntimeOptions } from '../thread-options.ts'
import { withDue } from '../waits/due-clock.ts'
import type { ClaimedThread } from './ownership.ts'
import { WaitManager } from '../waits/wait-manager.ts'

/** What a process has of a thread while it owns it: log, waits, history and context. */
export class ThreadHold {
  readonly log: ThreadLog
  readonly waitManager: WaitManager
  readonly history: ThreadHistory
  readonly context: ThreadContext
  /** Returns what the door of the open run gave. Set by the runtime. */
  optionsOfRun: () => ThreadRuntimeOptions
  readonly #options: ThreadRuntimeOptions
  readonly #fence: ClaimedThread

  private constructor(options: ThreadRuntimeOptions, fence: ClaimedThread, log: ThreadLog) {
    this.#options = options
    this.optionsOfRun = () => options
    this.#fence = fence
    this.log = log
    this.waitManager = new WaitManager(options.store, log, (wait) => withDue(wait, this.optionsOfRun()))
    this.history = new ThreadHistory(options.store, log)
    this.context = new ThreadContext(options.store, log, options.windowOf, options.memory)
  }

  /** Whether an open run that is found here counts as having failed. */
  get countsAsAttempt(): boolean {
    return this.#fence.countsAsAttempt
  }

  /** Takes the thread; throws if it is held, and says by whom. `onFailure`: called when it can no longer be written. */
  static async take(
    options: ThreadRuntimeOptions,
    redact: Redactor | undefined,
    onFailure: () => void,
  ): Promise<ThreadHold> {
    const { faults, now, onListenerFailure, owner, store, thread } = options
    const fence = await owner.claim(thread)
    try {
      const log = await ThreadLog.open({
        store,
        stream: thread,
        fence,
        onFailure,
        ...(now === undefined ? {} : { now }),
        ...(faults === undefined ? {} : { faults }),
        ...(onListenerFailure === undefined ? {} : { onListenerFailure }),
        ...(redact === undefined ? {} : { redact }),
      })
      requireRedactor(log.state, redact)
      return new ThreadHold(options, fence, log)
    } catch (error) {
      await owner.release(thread, fence).catch(() => undefined)
      throw error
    }
  }

  async letGo(): Promise<void> {
    this.context.memory?.close()
    try {
      await this.log.close()
    } finally {
      await this.#options.owner.release(this.#options.thread, this.#fence)
    }
  }
}
