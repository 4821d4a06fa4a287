import type { JsonObject, NativeRef, Part } from '@inspan/protocol'
import type { Host } from '@inspan/protocol/driver'
import type { MappedEvent } from '../kit/activity.ts'
import type { Dialect } from '../kit/mapper.ts'
import type { LimitReader } from '../launch/cli-turn.ts'
import type { CliSpec } from '../launch/cli-driver.ts'
import type { LaunchPlan, LaunchRequest } from '../launch/launch-plan.ts'
import type { Asks } from './asks.ts'
import type { Handover } from './handover.ts'

/** Describes a CLI whose process stays, takes many turns and can be talked to while it works. */
export interface LiveCliSpec extends CliSpec {
  readonly dialect: Dialect
  /**
   * Returns how to start the process. Pure. If the result for a turn is the same as for the running process, apart from
   * session and model, that process takes the turn.
   */
  launch(request: LaunchRequest): LivePlan
  /** Returns the anchor of this event, if a later turn can resume there. */
  anchorOf(event: MappedEvent): string | undefined
  /** Returns the usage limits that a line of the output reports. Called for every line: must be cheap. */
  readonly limits?: LimitReader
  /** Returns the anchor of a recorded message. */
  readonly placeOf: (native: NativeRef) => string | undefined
  /** Makes the peer for a new process. All state about the process belongs to the peer. */
  connect(link: LiveLink): LivePeer
}

export type LivePlan = Omit<LaunchPlan, 'stdin' | 'sessionId'>

/** The connection to the process. */
export interface LiveLink {
  readonly agentId: string
  /** Writes one line to standard input. It is silently lost if the process has ended: the end is reported elsewhere. */
  send(message: JsonObject): void
}

/** A turn as its peer sees it. */
export interface TurnPort {
  readonly asks: Asks
  /** Set if the native session is not the one that was to be resumed, and the output does not tell its id. */
  nativeId: string | undefined
  warn(message: string, code?: string): void
  /**
   * Ends the turn, because the CLI reported its end: its session ends where our turn does, even if we stopped it. What
   * the CLI says from now on belongs to the next turn.
   */
  over(): void
}

export interface LiveTask {
  readonly request: LaunchRequest
  /** The process was started for this turn and has to be told which session to resume. */
  readonly isFirst: boolean
  readonly history: Host['history']
  /**
   * Returns what was said in the thread and not in the session, for peers that can pass it on. `isKnown` tells which
   * messages the session holds. Default: all messages of the session.
   */
  readonly handover: (isKnown?: (native: NativeRef) => boolean) => Promise<Handover>
  /** The same as text to put before the prompt, for peers without another way. */
  readonly handoverText: () => Promise<string | undefined>
}

/** The native session to resume does not exist, or is not as it was. */
export class SessionLost extends Error {
  override readonly name = 'SessionLost'
}

/** Speaks with one process in its own protocol. */
export interface LivePeer {
  /** Whether a request to the CLI is open, so that its output has to be read. */
  readonly isWaiting: boolean
  /**
   * Resolves when the CLI has accepted the task. Rejects with the reason if not: `SessionLost` if it is the session.
   */
  start(task: LiveTask, port: TurnPort): Promise<void>
  /** Gets one record of the output, after it was mapped. */
  record(record: JsonObject): void
  /** `id` is ours. Rejects if the turn takes no more messages. */
  steer(parts: readonly Part[], id: string): Promise<'injected' | 'queued'>
  /** Ends the turn the clean way. Resolves when the CLI has agreed; it reports the end of the turn separately. */
  interrupt(): Promise<void>
  /** Ids of messages that were steered and not heard. */
  readonly undelivered: readonly string[]
  /** Called when the process has ended. */
  gone(): void
}
