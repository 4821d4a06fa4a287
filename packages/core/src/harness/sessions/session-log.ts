import { toJson } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import { REDUCER_VERSION, storedHead, type Head } from '@inspan/protocol/log'
import type { Fence } from '@inspan/protocol/store'
import { type ConfigChange, type ProcessOwner, ThreadLog } from '../../engine/index.ts'
import type { HarnessState } from '../harness-config.ts'
import type { HarnessCore } from '../harness-core.ts'

const THREAD = 'thread'

/** The stream of a session with an id: its choices and state, apart from those of its thread. */
export class SessionLog {
  readonly #core: HarnessCore
  readonly #owner: ProcessOwner
  readonly #fence: Fence
  readonly #log: ThreadLog

  private constructor(core: HarnessCore, owner: ProcessOwner, fence: Fence, log: ThreadLog) {
    this.#core = core
    this.#owner = owner
    this.#fence = fence
    this.#log = log
  }

  static async open(core: HarnessCore, id: string, resourceId: string): Promise<SessionLog> {
    const { now, store } = core
    const stream = streamOf(core.config.id, resourceId, id)
    if ((await store.getStream(stream)) === null) {
      const at = now()
      const info = { id: stream, resourceId, title: null, createdAt: at, updatedAt: at, hidden: true, metadata: {} }
      await store.createStream({ kind: 'session', headSeq: 0, info }).catch((error: unknown) => {
        // Somebody else was faster; the claim below shows who owns it.
        if (!InspanError.is(error, 'already-exists')) throw error
      })
    }
    const owner = await core.threads.owner()
    owner.enter(stream, 'Session')
    try {
      const fence = await owner.claim(stream)
      return new SessionLog(core, owner, fence, await ThreadLog.open({ store, stream, fence, now }))
    } catch (error) {
      owner.leave(stream)
      throw error
    }
  }

  get head(): Head {
    return this.#log.state.head
  }

  /** The thread it was bound to. */
  get threadId(): string | undefined {
    return threadOf(this.head)
  }

  async keep(change: ConfigChange): Promise<void> {
    await this.#log.commit([{ type: 'config.changed', ...change }])
  }

  keepThread(threadId: string | null): Promise<void> {
    return this.keep({ settings: { [THREAD]: threadId } })
  }

  async keepState(changes: HarnessState): Promise<void> {
    const entries = Object.entries(changes).map(([key, value]) => {
      const json = toJson(value ?? null)
      if (json.isExact) return [key, json.value] as const
      throw new InspanError('invalid-input', `"${key}" of the state is not JSON, so it cannot be stored.`, {
        hint: 'The state of a session with an id is on record. Use a session without one, or put it elsewhere.',
      })
    })
    await this.keep({ state: Object.fromEntries(entries) })
  }

  /** Stores the head, so that the cost of opening it again does not depend on the number of changes. */
  async close(): Promise<void> {
    const { stream } = this.#log
    try {
      await this.#log.close()
      await this.#core.store.append({
        stream,
        fence: this.#fence,
        records: [],
        head: { head: storedHead(this.#log.committed.head), reducerVersion: REDUCER_VERSION },
      })
      await this.#owner.release(stream, this.#fence)
    } finally {
      this.#owner.leave(stream)
    }
  }
}

/** Returns a name that sessions of different resources never share, whatever the ids contain. */
function streamOf(harnessId: string, resourceId: string, id: string): string {
  return `session:${JSON.stringify([harnessId, resourceId, id])}`
}

function threadOf({ settings }: Head): string | undefined {
  const threadId = settings.get(THREAD)
  return typeof threadId === 'string' ? threadId : undefined
}
