import type { ThreadLock } from '../harness-config.ts'

/** The application's own lock on the thread a session is bound to, held from before the lease until after it. */
export class HeldLock {
  readonly #lock: ThreadLock | undefined
  #held: string | undefined

  constructor(lock: ThreadLock | undefined) {
    this.#lock = lock
  }

  /** Runs work that needs the lock of another thread. The old lock is released only when the work has succeeded. */
  async moveTo<T>(threadId: string, work: () => Promise<T>): Promise<T> {
    if (this.#lock === undefined || this.#held === threadId) return work()
    await this.#lock.acquire(threadId)
    let result: T
    try {
      result = await work()
    } catch (error) {
      await this.#lock.release(threadId)
      throw error
    }
    const before = this.#held
    this.#held = threadId
    if (before !== undefined) await this.#lock.release(before)
    return result
  }

  async release(): Promise<void> {
    const held = this.#held
    this.#held = undefined
    if (held !== undefined) await this.#lock?.release(held)
  }
}
