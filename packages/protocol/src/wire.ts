import type { Command } from './command.ts'
import type { HarnessState } from './harness-state.ts'
import type { JsonValue } from './json.ts'
import type { DeltaFrame } from './op.ts'
import type { ViewSnapshot } from './view.ts'

/**
 * The version a client announces in its hello. One that sends none speaks version 0: it gets `state` and deltas with
 * index paths, and no receipts.
 */
export const WIRE_VERSION = 1

/** Carried out in order. */
export interface CommandsMessage {
  readonly type: 'commands'
  readonly commands: readonly Command[]
}

/** What a client holds and wants to watch. Sent again it replaces the list of threads. */
export interface ClientHello {
  readonly type: 'hello'
  readonly protocol: number
  /** Stays the same over reconnects: command ids are unique within it. */
  readonly clientId: string
  /** The epoch the cursors belong to. */
  readonly epoch?: string
  /** By thread the last seq the client has; `null` to begin with a snapshot. */
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
  /** The thread that commands without a name of their own are meant for. */
  readonly thread?: string
}

/** The whole state for a client of version 0: the first thing after connecting. */
export interface StateMessage {
  readonly type: 'state'
  readonly state: HarnessState
  readonly seq?: number
}

/** Why a client that had a cursor gets a snapshot nevertheless. */
export type ResyncReason = 'epoch' | 'gap' | 'overload' | 'window'

/** A thread's head and newest messages. The next delta of the thread goes on from its seq. */
export interface SnapshotMessage {
  readonly type: 'snapshot'
  readonly thread: string
  readonly snapshot: ViewSnapshot
  readonly resync?: ResyncReason
}

/** What one commit changed. The same bytes for every client of a thread. */
export interface DeltaMessage extends DeltaFrame {
  /** Absent for a client of version 0, which watches one. */
  readonly thread?: string
}

export interface ErrorMessage {
  readonly type: 'error'
  readonly message: string
  readonly code?: string
}

/**
 * `accepted`: it is stored and will be carried out. `done`, `rejected`: it was, or will not be. `conflict`: the id came
 * before with another body. `expired`: the id is too old to know whether it was carried out.
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

/** What became of a command, for its sender alone; comes after the delta that shows it. */
export interface ReceiptMessage {
  readonly type: 'receipt'
  /** The command's. */
  readonly id: string
  readonly status: ReceiptStatus
  readonly reason?: RejectReason
  /** For a person. */
  readonly message?: string
  /** What was asked for, e.g. the files a rewind would change. */
  readonly result?: JsonValue
  readonly seq?: number
}

export type ServerMessage = HelloMessage | StateMessage | SnapshotMessage | DeltaMessage | ErrorMessage | ReceiptMessage
