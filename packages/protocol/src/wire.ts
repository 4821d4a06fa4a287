import type { Command } from './command.ts'
import type { HarnessState } from './harness-state.ts'
import type { JsonValue } from './json.ts'
import type { DeltaFrame } from './op.ts'
import type { ViewSnapshot } from './view.ts'

/**
 * The version that a client announces in its hello. A client that sends no hello speaks version 0: it gets `state` and
 * deltas with index paths, and no receipts.
 */
export const WIRE_VERSION = 1

/** The largest message of a client, in bytes: enough for an attachment of 15 MB. */
export const MAX_MESSAGE_BYTES: number = 32 * 1024 * 1024

/** Commands, carried out in order. */
export interface CommandsMessage {
  readonly type: 'commands'
  readonly commands: readonly Command[]
}

/** What a client holds and wants to watch. Sending it again replaces the list of threads. */
export interface ClientHello {
  readonly type: 'hello'
  readonly protocol: number
  /** Stays the same over reconnects. Command ids are unique within it. */
  readonly clientId: string
  /** The epoch the cursors belong to. */
  readonly epoch?: string
  /** The last seq the client has, by thread; `null` asks for a snapshot. */
  readonly threads?: { readonly [thread: string]: number | null }
  /** How many of the newest messages a snapshot holds. */
  readonly window?: number
}

export type ClientMessage = CommandsMessage | ClientHello

/** The answer to a hello, before anything else. */
export interface HelloMessage {
  readonly type: 'hello'
  readonly protocol: number
  /** Cursors of another epoch are void. */
  readonly epoch: string
  /** The thread for commands that name none. */
  readonly thread?: string
  /** The newest seq of that thread. A client with this cursor gets nothing but what follows. */
  readonly seq?: number
  /** Whom the server takes the client for. What one person could not send is never sent as another. */
  readonly principal?: string
}

/** Sent when nothing else was for a while, so that a client notices a dead connection. */
export interface PingMessage {
  readonly type: 'ping'
}

/** The whole state for a client of version 0, sent first after connecting. */
export interface StateMessage {
  readonly type: 'state'
  readonly state: HarnessState
  readonly seq?: number
}

/** Why a client with a cursor gets a snapshot anyway. */
export type ResyncReason = 'epoch' | 'gap' | 'overload' | 'window'

/** A thread's head and newest messages. The thread's next delta continues from its seq. */
export interface SnapshotMessage {
  readonly type: 'snapshot'
  readonly thread: string
  readonly snapshot: ViewSnapshot
  readonly resync?: ResyncReason
}

/** What one commit changed. The same bytes for every client of a thread. */
export interface DeltaMessage extends DeltaFrame {
  /** Absent for a client that watches a single thread: the one that the server's hello names. */
  readonly thread?: string
}

export interface ErrorMessage {
  readonly type: 'error'
  readonly message: string
  readonly code?: string
  /** The thread it is about, e.g. one that was deleted. */
  readonly thread?: string
}

/**
 * `accepted`: stored, will be carried out. `done`: carried out. `rejected`: will not be carried out. `conflict`: the id
 * came before with another body. `expired`: the id is too old to know whether it was carried out.
 */
export type ReceiptStatus = 'accepted' | 'done' | 'rejected' | 'conflict' | 'expired'

export type RejectReason =
  | 'invalid'
  | 'wrong-state'
  | 'wrong-run'
  | 'wrong-anchor'
  | 'unknown-id'
  | 'already-answered'
  | 'answer-needed'
  | 'queue-full'
  | 'unsupported'
  | 'denied'
  | 'failed'

/**
 * What was decided about a command, not what came of it: a run is awaited by its id. Stored with the effect, and holds
 * ids only. `message` and `result` come with the first answer and are not stored.
 */
export type CommandResult =
  | { readonly status: 'started'; readonly runId: string }
  /** Queued, or steered into the open run. */
  | { readonly status: 'queued'; readonly itemId: string; readonly runId: string }
  | {
      readonly status: 'done'
      /** The thread that a fork made. */
      readonly thread?: string
      readonly result?: JsonValue
    }
  | { readonly status: 'rejected'; readonly reason: RejectReason; readonly message?: string }
  /** The id came before with another command. */
  | { readonly status: 'conflict' }
  /** Too old to know whether it was carried out, so it never is. */
  | { readonly status: 'expired' }

/** What became of a command, sent to its sender only and after the delta that shows the effect. */
export interface ReceiptMessage {
  readonly type: 'receipt'
  /** The id of the command. */
  readonly id: string
  readonly status: ReceiptStatus
  readonly reason?: RejectReason
  /** For a person. */
  readonly message?: string
  /** The run that was started, or that hears the message. */
  readonly runId?: string
  /** The message in the queue. */
  readonly itemId?: string
  /** The thread that was made. */
  readonly thread?: string
  /** The requested data, e.g. the files a rewind would change. */
  readonly result?: JsonValue
  readonly seq?: number
}

export type ServerMessage =
  | HelloMessage
  | StateMessage
  | SnapshotMessage
  | DeltaMessage
  | ErrorMessage
  | ReceiptMessage
  | PingMessage
