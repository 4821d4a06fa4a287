import type { Answer, Grants, JsonObject, JsonValue, Part, PermissionRules, Wait } from '@inspan/protocol'
import type {
  Decision,
  FaultPoints,
  OnInterrupted,
  RawSpool,
  ToolCallRequest,
  TurnDefaults,
} from '@inspan/protocol/driver'
import type { CheckpointFile, ConfigChangedRecord, RecordBody, ThreadState } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import type { PermissionPolicy } from '../policy/index.ts'
import type { MemoryOf, WindowOf } from './context/thread-context.ts'
import type { RuntimeAgents } from './turns/active-run.ts'
import type { ProcessOwner } from './threads/ownership.ts'
import type { TracerSource } from './telemetry/tracing.ts'
import type { ThreadLogOptions } from './log/thread-log.ts'
import type { PriceOf } from './runs/priced-usage.ts'

/** A thread, and the door that opens it. Others come in by `attach`. */
export interface ThreadRuntimeOptions extends Door {
  readonly store: Store
  /** This process: `await ProcessOwner.register(store)`, one for all threads. */
  readonly owner: ProcessOwner
  /** The id of an existing thread; `createThread` makes one. */
  readonly thread: string
}

/**
 * Somebody that has a thread open: a harness, an SDK agent, a server. Its agents, rules and hooks are for its own runs;
 * its denies and its redactor hold for all.
 */
export interface Door extends Pick<ThreadLogOptions, 'now' | 'onListenerFailure' | 'redact'> {
  /** Recorded with the runs it starts. After a restart, only a door of that name continues them. */
  readonly door?: string
  /** How its submissions name it, where several doors of a process have the same name. Default: `door`. */
  readonly doorKey?: string
  /** The agents that can take the floor, by the id that submissions name: `{ me: runtimeAgent(agent) }`. */
  readonly agents: RuntimeAgents
  /** Returns the agent that gets a queued message when it is sent. Default: the agent it was addressed to. */
  readonly agentOfQueued?: (state: ThreadState) => string
  /** Whether queued messages are sent although the run before them was cancelled. Default: they wait for the next message. */
  readonly sendsAfterCancel?: boolean
  /**
   * The rules of the harness. Without `policy` and `decide` everything is allowed, except a call in doubt and a tool
   * whose definition has changed: those are asked about, unless yolo.
   */
  readonly policy?: PermissionPolicy
  /** Returns the rules of the sessions that have the thread open. */
  readonly sessionRules?: () => PermissionRules
  /** Returns grants besides the thread's own. */
  readonly grants?: () => Grants
  /** Restores files. Without it, a command to restore them is answered with `unsupported`. */
  readonly files?: FilesPort
  /** Where agents record their raw output, which is deleted with the thread. */
  readonly spool?: RawSpool
  /** Decides besides the policy; the stricter of both counts. */
  readonly decide?: (call: ToolCallRequest, state: ThreadState) => Decision
  /** For tests: points at which the engine can be made to fail. */
  readonly faults?: FaultPoints
  /** Makes the ids of runs, turns, messages and waits that have none yet. Default: UUIDs of version 7. */
  readonly newId?: () => string
  /** Returns facts to record with an answer, in one transaction. */
  readonly withAnswer?: (wait: Wait, answer: Answer) => readonly ControlFact[]
  /**
   * Returns a change of mode, model or agent with all that the choice brings along, e.g. the model of the mode. Called for every
   * such command, whoever gives it; what it refuses is refused.
   */
  readonly withChoice?: (change: ConfigChange, state: ThreadState) => ConfigChange
  /** Returns facts to record before a run begins, whoever starts it. */
  readonly beforeRun?: (state: ThreadState) => readonly ControlFact[]
  /** How many attempts a run has, the first one included, before a crash ends it. Default: 3. */
  readonly maxAttempts?: number
  /** What happens to a call that a crash cut short, unless its tool decides. Default: `report`. */
  readonly onInterrupted?: OnInterrupted
  /** Milliseconds after which an unanswered approval is declined. Until then the process stays alive. Default: no limit. */
  readonly approvalTimeout?: number
  /** Milliseconds after which a foreign agent that only waits is closed; its question stays. Default: 15 minutes. */
  readonly parkAfter?: number
  /** How many milliseconds the session of a foreign agent stays open between turns. Default: 15 minutes. */
  readonly keepWarm?: number
  /** Milliseconds after which an idle thread is released until the next command. Default: 10,000. */
  readonly passivateAfter?: number
  /** How much of what others said an agent receives when its turn begins, in tokens. Default: 50,000. */
  readonly handoverTokens?: number
  /**
   * Returns the context window of a model in tokens. What does not fit into it is left out of requests; while it is
   * unknown, that happens when the provider refuses a request as too long.
   */
  readonly windowOf?: WindowOf
  /** Makes the memory of the thread, which decides what replaces older messages. */
  readonly memory?: MemoryOf
  /** Returns the price of a model's tokens. If set, the record of every step has its cost. */
  readonly priceOf?: PriceOf
  /** The source of tracers for the spans of turns. Default: the registered OpenTelemetry SDK, if there is one. */
  readonly tracing?: TracerSource
  /** Stops what would follow from runs that have ended, e.g. a judge. Called when somebody aborts. */
  readonly stopFollowing?: () => Promise<void>
  /** Makes the door leave: the thread is going to be deleted. */
  readonly evict?: () => Promise<void>
}

/** A turn whose changes of files are kept. `seq`: that of the thread when the turn began. */
export interface FilesTurn {
  readonly thread: string
  readonly runId: string
  readonly turnId: string
  readonly seq: number
}

/** Keeps and restores the files of a thread. */
export interface FilesPort {
  /**
   * Called before the turn of a foreign agent, and before the first call of a turn that may change files. Neither
   * starts before it resolves. May be repeated.
   */
  baseline?(turn: FilesTurn): Promise<void>
  /** Called before a tool changes a file that it knows, or the files of a folder. */
  keep?(turn: FilesTurn, path: string): Promise<void>
  /** Called when the turn is over here. Returns what it has changed. */
  end?(turn: FilesTurn): Promise<{ readonly root: string; readonly files: readonly CheckpointFile[] } | undefined>
  /** Restores the files as they were before the message, or only reports what that would change. May be repeated. */
  rewind(to: FilesRewind): Promise<FilesRewound>
  /** Forgets what was kept of a thread, or of its turns in a range. May be repeated. */
  forget?(thread: string, range?: { readonly from: number; readonly to: number }): Promise<void>
}

export interface FilesRewind {
  readonly thread: string
  readonly messageId: string
  readonly dryRun: boolean
  /** Turns that began after this seq are not undone. */
  readonly upTo?: number
  /** What a person decided about files that somebody else had changed. */
  readonly settled?: { readonly answer: 'overwrite' | 'keep'; readonly files: readonly string[] }
}

export interface FilesRewound {
  readonly report: JsonObject
  /** Files that somebody else changed since. If there are any, nothing was restored. */
  readonly conflicts?: readonly string[]
  /** The earliest turn that was undone. */
  readonly checkpointId?: string
}

/** A message and the agent it is for. */
export interface Submission {
  /** `[{ id: '0', type: 'text', text: 'Hi' }]`: ids are unique within the message. */
  readonly parts: readonly Part[]
  /** The id of one of the door's `agents`. */
  readonly agentId: string
  /** The `doorKey` or name of the door whose run it starts. Default: the door that opened the thread. */
  readonly door?: string
  /** The author, as recorded. */
  readonly by?: string
  /** Recorded with the run, and passed to its tools and to the functions that compute its tools and turn defaults. */
  readonly requestContext?: JsonObject
  /** Turn settings for this run. They override those of the agent. */
  readonly turn?: TurnDefaults
  /** Default: a new one. */
  readonly messageId?: string
  /** True if the caller has just made the id, so that no message can have it. Otherwise it is looked up. */
  readonly isNewMessageId?: boolean
  /**
   * The id of the run that this starts; unused when the message is steered or queued. The id of an existing run is
   * refused. Default: a new one.
   */
  readonly runId?: string
}

/** Gives the floor of the open run to another agent. */
export interface HandOff {
  readonly agentId: string
  /** The input of the agent. Default: to continue from what was said. */
  readonly input?: readonly Part[]
}

/** What became of a rewind. */
export interface Rewound {
  /** Which files were restored, or with `dryRun` would be. */
  readonly report?: JsonValue
  /** Shows again what the rewind took away; what was said since then is no longer shown. Not for files. */
  readonly undo?: () => Promise<void>
}

/** The changed fields of the config: rules, grants, yolo, mode, model, settings, title, goal. */
export type ConfigChange = Omit<ConfigChangedRecord, 'type'>

/** The records an application may write itself. Runs, calls and waits are recorded by the engine. */
export type ControlFact = Extract<
  RecordBody,
  { type: 'message.added' | 'tasks.changed' | 'config.changed' | 'queue.added' | 'queue.removed' | 'note' }
>
