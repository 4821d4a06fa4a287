import type {
  Answer,
  ConfigChangedRecord,
  Decision,
  FaultPoints,
  Grants,
  JsonObject,
  OnInterrupted,
  Part,
  PermissionRules,
  RecordBody,
  Store,
  ThreadState,
  ToolCallRequest,
  TurnDefaults,
  Wait,
} from '@evener/protocol'
import type { PermissionPolicy } from '../policy/index.ts'
import type { RuntimeAgents } from './turns/active-run.ts'
import type { ProcessOwner } from './threads/ownership.ts'
import type { TracerSource } from './telemetry/tracing.ts'
import type { ThreadLogOptions } from './log/thread-log.ts'
import type { PriceOf } from './runs/priced-usage.ts'

export interface ThreadRuntimeOptions extends Pick<ThreadLogOptions, 'now' | 'onListenerFailure' | 'redact'> {
  readonly store: Store
  readonly owner: ProcessOwner
  readonly thread: string
  readonly agents: RuntimeAgents
  /** Who takes what was queued, when its turn comes. Without this whoever it was said to. */
  readonly agentOfQueued?: (state: ThreadState) => string
  /**
   * The rules of the harness. With neither these nor `decide` everything is allowed but a call in doubt and a tool that is
   * not what it was: these are asked about, unless yolo.
   */
  readonly policy?: PermissionPolicy
  /** The rules of the sessions that look at the thread. */
  readonly sessionRules?: () => PermissionRules
  /** What was granted besides the thread's own grants. */
  readonly grants?: () => Grants
  /**
   * Where an "always" is kept: all grants, with the new one. Without this it is kept with the thread. When it takes too long
   * the answer is refused, and what is kept afterwards counts nevertheless.
   */
  readonly keepGrants?: (grants: Grants) => Promise<void> | void
  /** Decides besides the policy; the stricter of both counts. */
  readonly decide?: (call: ToolCallRequest, state: ThreadState) => Decision
  readonly faults?: FaultPoints
  /** Ids of runs and of what is said in them, where whoever says it gives none. */
  readonly newId?: () => string
  /** What is put on record together with an answer, in one transaction. */
  readonly withAnswer?: (wait: Wait, answer: Answer) => readonly ControlFact[]
  /** What is put on record before a run begins, whoever starts it. */
  readonly beforeRun?: (state: ThreadState) => readonly ControlFact[]
  /** Before a run is looked at of which nothing is at work here: when the thread is opened, or taken again. */
  readonly beforeRecovery?: () => Promise<void>
  /** How often a run is taken up again after a crash before it is given up. */
  readonly maxAttempts?: number
  /** What becomes of calls that were interrupted, of tools that do not say so themselves. Default: `report`. */
  readonly onInterrupted?: OnInterrupted
  /** An approval nobody gave for so many milliseconds is declined. Without this it waits for ever. */
  readonly approvalTimeout?: number
  /** After so many milliseconds the program of an agent that only waits is closed; its question stays. */
  readonly parkAfter?: number
  /** How many milliseconds the session of a foreign agent stays open between turns. */
  readonly keepWarm?: number
  /** After so many milliseconds with nothing to do the thread is let go of, until something is asked of it. */
  readonly passivateAfter?: number
  /** How much of what others said an agent is told when it gets the floor, in tokens. */
  readonly handoverTokens?: number
  /** What a model asks for its tokens. With it the record of every step says what it cost. */
  readonly priceOf?: PriceOf
  /** Whose tracers make the spans of its turns. Without it those of the SDK that is registered, if one is. */
  readonly tracing?: TracerSource
}

export interface Submission {
  readonly parts: readonly Part[]
  readonly agentId: string
  readonly by?: string
  /** Recorded with the run, and given to its tools and to the functions that say what a turn works with. */
  readonly requestContext?: JsonObject
  /** What is to hold for the turns of this run, whatever the agent says. */
  readonly turn?: TurnDefaults
  readonly messageId?: string
  readonly runId?: string
}

/** Another agent takes the floor in the same run. */
export interface HandOff {
  readonly agentId: string
  /** What it is told. Without this it is told to go on from what was said. */
  readonly input?: readonly Part[]
}

export type ConfigChange = Omit<ConfigChangedRecord, 'type'>

/** What may be put on record from outside; runs, calls and waits have their own ways. */
export type ControlFact = Extract<
  RecordBody,
  { type: 'message.added' | 'tasks.changed' | 'config.changed' | 'queue.added' | 'queue.removed' | 'note' }
>
