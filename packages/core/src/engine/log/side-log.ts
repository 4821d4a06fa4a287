import { InspanError } from '@inspan/protocol'
import { REDUCER_VERSION, storedHead } from '@inspan/protocol/log'
import type { Fence, Store } from '@inspan/protocol/store'
import type { ProcessOwner } from '../threads/ownership.ts'
import { ThreadLog } from './thread-log.ts'

export interface SideLogOptions {
  readonly store: Store
  readonly owner: ProcessOwner
  readonly stream: string
  readonly resourceId: string
  readonly now: () => number
}

/** A stream beside the threads, such as that of a session, held by this process until it is closed. */
export class SideLog {
  readonly log: ThreadLog
  readonly #options: SideLogOptions
  readonly #fence: Fence

  private constructor(options: SideLogOptions, fence: Fence, log: ThreadLog) {
    this.#options = options
    this.#fence = fence
    this.log = log
  }

  /** Makes the stream if there is none, and takes it. Throws `held` while another process has it. */
  static async open(options: SideLogOptions): Promise<SideLog> {
    const { now, owner, resourceId, store, stream } = options
    const there = await store.getStream(stream)
    if (there?.kind === 'thread') {
      throw new InspanError('conflict', `A thread has the id ${JSON.stringify(stream)}, which is needed here.`, {
        hint: 'Delete that thread.',
        details: { stream },
      })
    }
    if (there === null) {
      const at = now()
      const info = { id: stream, resourceId, title: null, createdAt: at, updatedAt: at, hidden: true, metadata: {} }
      await store.createStream({ kind: 'session', headSeq: 0, info }).catch((error: unknown) => {
        // Somebody else was faster; the claim below shows who owns it.
        if (!InspanError.is(error, 'already-exists')) throw error
      })
    }
    const fence = await owner.claim(stream)
    try {
      return new SideLog(options, fence, await ThreadLog.open({ store, stream, fence, now }))
    } catch (error) {
      await owner.release(stream, fence).catch(() => undefined)
      throw error
    }
  }

  /** Stores the head, so that the cost of reading it again does not depend on the number of changes. */
  async close(): Promise<void> {
    const { owner, store, stream } = this.#options
    await this.log.close()
    await store.append({
      stream,
      fence: this.#fence,
      records: [],
      head: { head: storedHead(this.log.committed.head), reducerVersion: REDUCER_VERSION },
    })
    await owner.release(stream, this.#fence)
  }
}
