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
  /** This process: `await ProcessOwner.register(store)`, one for all threads. */
  readonly owner: ProcessOwner
  /** The id of a thread that is there: `createThread` makes one. */
  readonly thread: string
  /** Who can be given the floor, by the id that submissions name: `{ me: runtimeAgent(agent) }`. */
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
  /** For tests: where it can be made to fail. */
  readonly faults?: FaultPoints
  /** Ids of runs and of what is said in them, where whoever says it gives none. UUIDs of version 7 when absent. */
  readonly newId?: () => string
  /** What is put on record together with an answer, in one transaction. */
  readonly withAnswer?: (wait: Wait, answer: Answer) => readonly ControlFact[]
  /** What is put on record before a run begins, whoever starts it. */
  readonly beforeRun?: (state: ThreadState) => readonly ControlFact[]
  /** Before a run is looked at of which nothing is at work here: when the thread is opened, or taken again. */
  readonly beforeRecovery?: () => Promise<void>
  /** How often a run is taken up again after a crash before it is given up. Default: 3. */
  readonly maxAttempts?: number
  /** What becomes of calls that were interrupted, of tools that do not say so themselves. Default: `report`. */
  readonly onInterrupted?: OnInterrupted
  /** An approval nobody gave for so many milliseconds is declined. Without this it waits for ever. */
  readonly approvalTimeout?: number
  /** After so many milliseconds the program of an agent that only waits is closed; its question stays. Default: 15 minutes. */
  readonly parkAfter?: number
  /** How many milliseconds the session of a foreign agent stays open between turns. Default: 15 minutes. */
  readonly keepWarm?: number
  /** After so many milliseconds with nothing to do the thread is let go of, until something is asked of it. Default: 10,000. */
  readonly passivateAfter?: number
  /** How much of what others said an agent is told when it gets the floor, in tokens. Default: 50,000. */
  readonly handoverTokens?: number
  /** What a model asks for its tokens. With it the record of every step says what it cost. */
  readonly priceOf?: PriceOf
  /** Whose tracers make the spans of its turns. Without it those of the SDK that is registered, if one is. */
  readonly tracing?: TracerSource
}

/** What somebody says, and to whom. */
export interface Submission {
  /** `[{ id: '0', type: 'text', text: 'Hi' }]`: ids are unique within the message. */
  readonly parts: readonly Part[]
  /** One of `agents`. */
  readonly agentId: string
  /** Who says it, as it is recorded. */
  readonly by?: string
  /** Recorded with the run, and given to its tools and to the functions that say what a turn works with. */
  readonly requestContext?: JsonObject
  /** What is to hold for the turns of this run, whatever the agent says. */
  readonly turn?: TurnDefaults
  /** Default: a new one. */
  readonly messageId?: string
  /**
   * Of the run that it starts: what is steered into another run, or queued, has none. One that a run has is refused. Default:
   * a new one.
   */
  readonly runId?: string
}

/** Another agent takes the floor in the same run. */
export interface HandOff {
  readonly agentId: string
  /** What it is told. Without this it is told to go on from what was said. */
  readonly input?: readonly Part[]
}

/** What is to be different from now on: rules, grants, yolo, mode, model, settings, title, goal. */
export type ConfigChange = Omit<ConfigChangedRecord, 'type'>

/** What may be put on record from outside; runs, calls and waits have their own ways. */
export type ControlFact = Extract<
  RecordBody,
  { type: 'message.added' | 'tasks.changed' | 'config.changed' | 'queue.added' | 'queue.removed' | 'note' }
>
