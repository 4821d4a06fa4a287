import type { Capabilities, Host, JsonObject, NativeRef, Part } from '@evener/protocol'
import type { MappedEvent } from '../kit/activity.ts'
import type { Dialect } from '../kit/mapper.ts'
import type { LaunchPlan, LaunchRequest } from '../launch/launch-plan.ts'
import type { CliProfile } from '../launch/profile.ts'
import type { Asks } from './asks.ts'
import type { Handover } from './handover.ts'

/** What makes a program an agent that stays, takes many turns and can be talked to while it works. */
export interface LiveHarness {
  readonly profile: CliProfile
  readonly dialect: Dialect
  /** True for the pinned version. */
  readonly capabilities: Capabilities
  /**
   * How the process is started. Pure. A turn for which it says the same, whatever session and model, is taken by the
   * process that is there.
   */
  launch(request: LaunchRequest): LivePlan
  /** The place this event stands at, if a later turn can resume there. */
  anchorOf(event: MappedEvent): string | undefined
  /** The place a recorded message stands at. */
  readonly placeOf: (native: NativeRef) => string | undefined
  /** A new process: whatever is remembered about it belongs to the peer. */
  connect(link: LiveLink): LivePeer
}

export type LivePlan = Omit<LaunchPlan, 'stdin' | 'sessionId'>

/** The way to the process. */
export interface LiveLink {
  readonly agentId: string
  /** One line to its standard input. Lost without a word when it is gone: its end tells. */
  send(message: JsonObject): void
}

/** A turn, as whoever talks to the program sees it. */
export interface TurnPort {
  readonly asks: Asks
  warn(message: string, code?: string): void
  /** The program has said that the turn is over. What it says from now on belongs to the next one. */
  over(): void
}

export interface LiveTask {
  readonly request: LaunchRequest
  /** The process was started for this turn and has to be told which session to go on with. */
  readonly isFirst: boolean
  readonly history: Host['history']
  /**
   * What was said in the thread and not in the session, for peers that can tell it to the program. `isKnown` says which
   * messages the session holds, when those are not all of its own.
   */
  readonly handover: (isKnown?: (native: NativeRef) => boolean) => Promise<Handover>
  /** The same in words, to be said before the prompt where there is no other way. */
  readonly handoverText: () => Promise<string | undefined>
}

/** The native session that the turn should have gone on with is not there, or not as it was. */
export class SessionLost extends Error {
  override readonly name = 'SessionLost'
}

/** One process, spoken to in its own protocol. */
export interface LivePeer {
  /** Something was asked of the program and has to be read. */
  readonly isWaiting: boolean
  /** Settles when the program has taken the task; rejects with why it has not, with `SessionLost` if that is why. */
  start(task: LiveTask, port: TurnPort): Promise<void>
  /** One record of its output, after it was mapped. */
  record(record: JsonObject): void
  /** `id` is ours. Rejects when the turn takes nothing any more. */
  steer(parts: readonly Part[], id: string): Promise<'injected' | 'queued'>
  /** The clean way to end the turn. Settles when the program has agreed; that the turn is over it tells apart. */
  interrupt(): Promise<void>
  /** Ids of messages that were given with `steer` and not heard. */
  readonly unheard: readonly string[]
  /** The process is gone. */
  gone(): void
}
