import type { Head, ThreadView } from '@inspan/protocol/log'
import { toHarnessState, type HarnessState, type ReceiptMessage } from '@inspan/protocol/wire'
import type { PendingCommand } from './outbox.ts'
import { share } from './share.ts'

export type ConnectionStatus = 'connecting' | 'open' | 'waiting' | 'closed'

/** Everything a client shows. Parts that did not change keep their identity from one state to the next. */
export interface ClientState extends HarnessState {
  /** The thread that is shown. */
  readonly thread: string
  /** Mode, model, rules, grants, queue, tasks, usage, run: the public part of the thread's head. */
  readonly head: Head
  /** `waiting`: disconnected, and about to try again. */
  readonly connection: ConnectionStatus
  /** Why the client is not connected, or what the server last complained about. */
  readonly problem?: string
  /** Commands that the server has not settled yet, oldest first. */
  readonly pending: readonly PendingCommand[]
  /** The last commands that were refused, newest last. */
  readonly refused: readonly ReceiptMessage[]
}

export interface StateParts {
  readonly view: ThreadView
  readonly connection: ConnectionStatus
  readonly problem: string | undefined
  readonly pending: readonly PendingCommand[]
  readonly refused: readonly ReceiptMessage[]
}

export function clientState(before: ClientState | undefined, parts: StateParts): ClientState {
  const { connection, pending, problem, refused, view } = parts
  const { messages, ...shown } = toHarnessState(view)
  return {
    ...shown,
    messages: share(before?.messages, messages),
    ...(shown.pendingApprovals === undefined
      ? {}
      : { pendingApprovals: share(before?.pendingApprovals, shown.pendingApprovals) }),
    thread: view.head.stream,
    head: view.head,
    connection,
    pending,
    refused,
    ...(problem === undefined ? {} : { problem }),
  }
}
