import { toJson } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import type { Head } from '@inspan/protocol/log'
import { SideLog, type ConfigChange, type ProcessOwner } from '../../engine/index.ts'
import type { StateShape } from '../harness-config.ts'
import type { HarnessCore } from '../harness-core.ts'

const THREAD = 'thread'

/** The stream of a session with an id: its choices and state, apart from those of its thread. */
export class SessionLog {
  readonly #owner: ProcessOwner
  readonly #stream: string
  readonly #side: SideLog

  private constructor(owner: ProcessOwner, stream: string, side: SideLog) {
    this.#owner = owner
    this.#stream = stream
    this.#side = side
  }

  static async open(core: HarnessCore, id: string, resourceId: string): Promise<SessionLog> {
    const { now, store } = core
    const stream = streamOf(core.config.id, resourceId, id)
    const owner = await core.threads.owner()
    owner.enter(stream, 'Session')
    try {
      return new SessionLog(owner, stream, await SideLog.open({ store, owner, stream, resourceId, now }))
    } catch (error) {
      owner.leave(stream)
      throw error
    }
  }

  get head(): Head {
    return this.#side.log.state.head
  }

  /** The thread it was bound to. */
  get threadId(): string | undefined {
    const threadId = this.head.settings.get(THREAD)
    return typeof threadId === 'string' ? threadId : undefined
  }

  async keep(change: ConfigChange): Promise<void> {
    await this.#side.log.commit([{ type: 'config.changed', ...change }])
  }

  keepThread(threadId: string | null): Promise<void> {
    return this.keep({ settings: { [THREAD]: threadId } })
  }

  async keepState(changes: StateShape): Promise<void> {
    const entries = Object.entries(changes).map(([key, value]) => {
      const json = toJson(value ?? null)
      if (json.isExact) return [key, json.value] as const
      throw new InspanError('invalid-input', `"${key}" of the state is not JSON, so it cannot be stored.`, {
        hint: 'The state of a session with an id is on record. Use a session without one, or put it elsewhere.',
      })
    })
    await this.keep({ state: Object.fromEntries(entries) })
  }

  async close(): Promise<void> {
    try {
      await this.#side.close()
    } finally {
      this.#owner.leave(this.#stream)
    }
  }
}

/** Returns a name that sessions of different resources never share, whatever the ids contain. */
function streamOf(harnessId: string, resourceId: string, id: string): string {
  return `session:${JSON.stringify([harnessId, resourceId, id])}`
}
