import type { Part, StoredMessage } from '@inspan/protocol'
import type { ThreadState } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import type { ControlFact, RecordOrigin, RunHandle, Submission, ThreadRuntime } from '../../engine/index.ts'
import { timeOrderedId } from '../../common/time-ordered-id.ts'

export type SubmittedMessage = Pick<Submission, 'messageId' | 'requestContext'>

type PortRuntime = Pick<ThreadRuntime, 'state' | 'record' | 'steer'>
type PortStore = Pick<Store, 'getMessage' | 'listMessages'>

interface Sender {
  /** Called at every submission: a mode switch may have changed it. */
  readonly agentId: () => string
  /** The key of the door whose runs it starts. */
  readonly door?: string | undefined
}

/** An open thread as the parts of the control layer use it. */
export class ThreadPort {
  readonly newId: () => string
  readonly #runtime: PortRuntime
  readonly #store: PortStore
  readonly #sender: Sender

  constructor(runtime: PortRuntime, store: PortStore, sender: Sender, newId: () => string = timeOrderedId) {
    this.newId = newId
    this.#runtime = runtime
    this.#store = store
    this.#sender = sender
  }

  get state(): ThreadState {
    return this.#runtime.state
  }

  record(facts: readonly ControlFact[], origin?: RecordOrigin): Promise<void> {
    return this.#runtime.record(facts, origin)
  }

  /** Sends a message: starts a run, or is delivered to the agent of the present one, also if that waits. */
  submit(parts: readonly Part[], message?: SubmittedMessage): Promise<RunHandle> {
    const [messageId, runId] = [this.newId(), this.newId()]
    const { agentId, door } = this.#sender
    const from = door === undefined ? {} : { door }
    return this.#runtime.steer({ agentId: agentId(), ...from, parts, messageId, runId, ...message })
  }

  /** Returns `null` when the present conversation does not contain the message. */
  getMessage(messageId: string): Promise<StoredMessage | null> {
    return this.#store.getMessage(this.state.head.lineage, messageId)
  }

  /** Oldest first. */
  async newestMessages(limit: number): Promise<readonly StoredMessage[]> {
    const { items } = await this.#store.listMessages(this.state.head.lineage, { order: 'newest', limit })
    return items.toReversed()
  }
}
