import { randomUUID } from 'node:crypto'
import type { Part, Store, StoredMessage, ThreadState } from '@evener/protocol'
import type { RunHandle } from '../../engine/active-run.ts'
import type { RecordOrigin } from '../../engine/record-body.ts'
import type { ControlFact, Submission, ThreadRuntime } from '../../engine/thread-runtime.ts'

/** A loaded thread as the parts of the control layer use it. */
export interface ThreadPort {
  readonly state: ThreadState
  record(facts: readonly ControlFact[], origin?: RecordOrigin): Promise<void>
  /** Says something to whoever has the floor in the thread: starts a run, or is heard in the one that is going on. */
  submit(parts: readonly Part[], message?: SubmittedMessage): Promise<RunHandle>
  /** `null` when the conversation, as it stands now, does not hold it. */
  getMessage(messageId: string): Promise<StoredMessage | null>
  /** Oldest first. */
  newestMessages(limit: number): Promise<readonly StoredMessage[]>
  readonly newId: () => string
}

export type SubmittedMessage = Pick<Submission, 'messageId' | 'requestContext'>

/** `agentId` is asked at every submission: a mode switch may have changed it. */
export function threadPort(
  runtime: Pick<ThreadRuntime, 'state' | 'record' | 'submit'>,
  store: Pick<Store, 'getMessage' | 'listMessages'>,
  agentId: () => string,
  newId: () => string = randomUUID,
): ThreadPort {
  return {
    get state() {
      return runtime.state
    },
    record: (facts, origin) => runtime.record(facts, origin),
    submit: (parts, message) =>
      runtime.submit({ agentId: agentId(), parts, messageId: newId(), runId: newId(), ...message }),
    getMessage: (messageId) => store.getMessage(runtime.state.head.lineage, messageId),
    newestMessages: async (limit) =>
      (await store.listMessages(runtime.state.head.lineage, { order: 'newest', limit })).items.toReversed(),
    newId,
  }
}
