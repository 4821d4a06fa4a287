import type { ActivityNote } from './activity.ts'
import type { AgentEvent, NativeRef, StepFinishEvent, ToolAnnotations, ToolCallInfo } from './agent-event.ts'
import type { Binding } from './binding.ts'
import type { CancelReceipt, ProcessNote } from './control-record.ts'
import type { ErrorData } from './error-data.ts'
import type { JsonObject, JsonValue } from './json.ts'
import type { Part, StoredMessage } from './message.ts'
import type { PermissionRules, Policy, ToolCategory } from './permission.ts'
import type { UsageMetadata } from './usage.ts'
import type { Answer, WaitRequest } from './wait.ts'

/**
 * What an agent can do: known before its first turn and true for the installed version. Asking for more fails with a
 * typed error, never silently.
 */
export interface Capabilities {
  /** Which of the agent's tool calls need our approval before they run. `none`: the agent asks nobody. */
  readonly governs: 'all' | 'asks-only' | 'none'
  /** How it asks about several calls of one step: about all of them, or about the next after an answer. Default: `together`. */
  readonly asks?: 'together' | 'one-by-one'
  /** What a refused call does: the model gets the reason and continues, or the turn may end there. Default: `goes-on`. */
  readonly refusal?: 'goes-on' | 'may-end-turn'
  /**
   * What a turn continues from. `log`: from the host's history, and the host carries out every tool; a turn that was cut
   * short can be repeated. `native`: from a session that the agent keeps itself, which may have done more than we know.
   */
  readonly continuity: 'log' | 'native'
  /**
   * What a message to a turn at work does. `inject`: the agent hears it before its next model call. `queue`: the agent
   * hears it when it has finished what it does. `restart`: the host cancels the turn and begins another one with the
   * message. `none`: it waits for the end of the run. With `inject` and `queue` the session has `steer` or listens.
   */
  readonly steer: 'inject' | 'queue' | 'restart' | 'none'
  /** Where a native session can be resumed: at our anchor, only at its own end, or not at all. */
  readonly resume: 'anchor' | 'head' | 'none'
  /**
   * Where a native session can be forked: at our anchor, only at its own end, or not at all. The original stays as it is.
   * With `none`, a fork of the thread begins a new native session, which gets what was said before.
   */
  readonly fork: 'anchor' | 'head' | 'none'
  /** How the agent learns what others said: as items of its own history, or as text. */
  readonly handover: 'items' | 'text'
  /** How the agent reaches tools of the host: in this process, over MCP, by its own protocol, or not at all. */
  readonly hostTools: 'inproc' | 'mcp' | 'protocol' | 'none'
  /**
   * What `cancel` does. `clean`: the agent is asked to stop, ends its calls and keeps its session. `kill`: its processes
   * are ended, and what they were doing is in doubt.
   */
  readonly interrupt: 'clean' | 'kill'
  /**
   * What the agent itself counts. `turn`: each turn. `cumulative`: its whole session; the driver yields the increments,
   * measured against `Binding.usageTotal`. `none`: nothing, and no `usage` is yielded.
   */
  readonly usage: 'turn' | 'cumulative' | 'none'
  /** What redaction covers: all that the model is sent again, or only our records, as the agent keeps its own. */
  readonly redaction: 'all' | 'record'
  readonly images: boolean
  /** The agent accepts MCP servers. For tools of the host see `hostTools`. */
  readonly mcp: boolean
  /** The agent has subagents of its own. Subagents of the host are tools. */
  readonly subagents: boolean
  readonly systemPrompt: 'replace' | 'append' | 'none'
  /** `null` when the agent does not report which models it accepts. */
  readonly models: readonly string[] | null
  /** The agent takes `Turn.maxSteps`. Otherwise it makes as many model calls as it wants. */
  readonly maxSteps: boolean
  /** The levels of `Turn.effort` that the agent takes, lowest first. Empty: none, and a turn with one is refused. */
  readonly effort: readonly Effort[]
  /** The agent takes `Turn.output`. Otherwise a turn with one fails with `unsupported`. */
  readonly output: boolean
  /** The agent reports usage limits of its account, with the time at which they end (`Host.noteLimit`). */
  readonly limits: boolean
  /** The agent's own sessions can be listed and read (`AgentDriver.sessions`). */
  readonly sessions: boolean
  readonly version?: string
}

/** How hard a model should think. A driver maps the levels to those of its program and refuses what it has no word for. */
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** The usage limit of an account, as its provider reports it. */
export interface AgentLimit {
  /** The provider's name of the limit, such as `five_hour`. One limit may be reported several times. */
  readonly name: string
  /** `near`: the provider warns. `reached`: nothing more is answered before `resetsAt`. */
  readonly status: 'ok' | 'near' | 'reached'
  /** When the limit starts anew, in milliseconds since 1970. Absent if the provider does not say. */
  readonly resetsAt?: number
  /** How much of it is used, from 0 to 1. */
  readonly used?: number
}

/** One agent taking the floor: its prompt and its limits. */
export interface Turn {
  readonly turnId: string
  readonly runId: string
  readonly threadId: string
  readonly input: readonly Part[]
  readonly model?: string
  /** Absent: the agent's own default. A level that is not among its `Capabilities.effort` fails with `unsupported`. */
  readonly effort?: Effort
  readonly instructions?: string
  readonly cwd?: string
  readonly maxSteps?: number
  readonly rules?: PermissionRules
  readonly requestContext?: JsonObject
  readonly providerOptions?: JsonObject
  readonly output?: TurnOutput
  readonly budget?: Budget
  /**
   * What a usage limit does that ends at a known time. `park`: the run waits until then and goes on, in whichever
   * process. Default: the run fails.
   */
  readonly onLimit?: 'fail' | 'park'
  /** Where an agent with `hostTools: 'mcp'` reaches our tools. Present when there are any. */
  readonly toolServer?: ToolServer
  /** Set when an earlier attempt at this turn was cut short. */
  readonly resumed?: {
    readonly attempt: number
    /** Usage that earlier attempts were billed for. The turn's `finish` includes it. */
    readonly usage?: UsageMetadata
    /** The number of the turn's next step. Steps that were cut short keep their numbers. */
    readonly nextStep?: number
    /** How the turn's last complete step ended. */
    readonly step?: Pick<StepFinishEvent, 'finishReason' | 'usage'>
  }
}

/** The name under which agents know our tool server. */
export const TOOL_SERVER_NAME = 'inspan'

/**
 * Our tools as an MCP server over HTTP. An agent allows all its calls, because the host judges them, and never shows the
 * token: not in arguments, which every user of the machine can read.
 */
export interface ToolServer {
  readonly url: string
  /** Sent as a bearer token. */
  readonly token: string
}

/** Describes an answer that has to be data. */
export interface TurnOutput {
  /** JSON Schema. */
  readonly schema: JsonObject
  readonly name?: string
  readonly description?: string
  /** How often the agent is shown the errors of its answer and asked again. Default: 1. */
  readonly repairs?: number
}

/** What a run may use up. Its turn ends at a limit. */
export interface Budget {
  /** Input and output together. */
  readonly tokens?: number
  /** Only works when the model's prices are known. */
  readonly usd?: number
  /** Working time. Waiting for people does not count. */
  readonly ms?: number
  /** The share of a limit at which a warning is given. Default: 0.8. */
  readonly warnAt?: number
}

export type BudgetLimit = 'tokens' | 'usd' | 'ms'

/** The defaults for a turn. */
export type TurnDefaults = Partial<
  Pick<
    Turn,
    'model' | 'effort' | 'instructions' | 'cwd' | 'maxSteps' | 'providerOptions' | 'output' | 'budget' | 'onLimit'
  >
>

export interface ToolCallRequest extends ToolCallInfo {
  readonly category?: ToolCategory
  readonly serverName?: string
  readonly annotations?: ToolAnnotations
  readonly parentToolCallId?: string
  readonly cwd?: string
}

/** A decision with the rule that made it, so that it can be explained. */
export interface Decision {
  readonly policy: Policy
  readonly reason: string
  /** The rule's name, for people. */
  readonly rule?: string
  /** The tool or category the rule is about. */
  readonly about?: { readonly tool: string } | { readonly category: ToolCategory }
}

export interface HistoryQuery {
  readonly order: 'newest' | 'oldest'
  /** Only messages after this seq. */
  readonly after?: number
  readonly limit?: number
}

/** What the engine has to know of a request before it can say which messages fit into it. */
export interface ContextRequest {
  /** The model as it is recorded: `provider/name`. */
  readonly model: string
  /** Roughly how many tokens of the request are not messages: instructions and tools. */
  readonly fixedTokens?: number
  /** Set when the provider refused the last request as too long. */
  readonly overflow?: {
    /** The size of the window, if the provider named it. */
    readonly window?: number
    /** How often the step was refused for this reason, this time included. */
    readonly attempt: number
  }
}

/** The messages that the model sees. It is a function of the log. */
export interface ModelContext {
  /** Oldest first. A message is the same object as in the last answer until it changes. */
  readonly messages: readonly StoredMessage[]
  /** The same object while the thread is held: whatever a driver makes of the messages can be cached by it. */
  readonly cacheKey: object
  /** Names the conversation; forks share it. */
  readonly conversation: string
}

/** What a tool shows the model instead of its whole result. */
export type ModelOutput =
  | { readonly type: 'text'; readonly value: string }
  | { readonly type: 'json'; readonly value: JsonValue }
  | { readonly type: 'content'; readonly value: readonly ModelOutputPart[] }

export type ModelOutputPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'file'; readonly mediaType: string; readonly data: string; readonly fileName?: string }

export interface ToolOutcome {
  readonly result: JsonValue
  readonly isError?: boolean
  readonly error?: ErrorData
  /** When absent, the model sees the result. */
  readonly modelOutput?: ModelOutput
  /** What the call did, in the shared vocabulary: a read, a write, a command. A tool that reports none has none. */
  readonly activity?: ActivityNote
}

export interface HostTool {
  readonly name: string
  readonly description?: string
  readonly inputSchema: JsonObject
  readonly annotations?: ToolAnnotations
  /**
   * The MCP server the tool comes from. What such a tool declares about itself can raise caution but never lower it: a
   * claim to be read-only or repeatable is ignored. Its category defaults to `mcp`.
   */
  readonly serverName?: string
  /** The server's own name for the tool. Default: `name` without a leading `serverName_`. */
  readonly serverToolName?: string
}

export interface HandoverBudget {
  readonly maxTokens: number
  countTokens(text: string): number
}

/**
 * How much of what others said an agent was given. `truncated`: not all of it fitted. `omitted`: how many older
 * messages did not.
 */
export interface HandoverNote {
  readonly messages: number
  readonly tokens: number
  readonly truncated: boolean
  readonly omitted?: number
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/**
 * What a driver may ask of the code that runs it. A host belongs to one turn: a question, tool call or process that
 * comes after the turn's end is refused with `closed`. Every member is there on every host; `createHost` fills in
 * those that a program with its own host has no use for.
 */
export interface Host {
  /**
   * Opens a wait and resolves with its answer, however long that takes. The wait outlives this process. Rejects with
   * `closed` when the turn is cancelled. A driver never answers in the host's place: not on a timer, a disconnect or
   * an error.
   */
  ask(request: WaitRequest): Promise<Answer>
  /** Takes a question back when the agent no longer waits for the answer. Unknown ids are ignored. */
  withdraw(waitId: string): Promise<void> | void
  /**
   * Judges a tool call by the rules that hold now. Asked before the call runs. `deny` is final, `ask` means that the
   * driver has to `ask` and may run the call only if that is approved.
   */
  decide(call: ToolCallRequest): Decision
  /** The thread's messages. Reading may stop anywhere. */
  history(query: HistoryQuery): AsyncIterable<StoredMessage>
  /**
   * Returns what the model sees: called before every model step, by agents whose capabilities say that they continue
   * from our log. What does not fit into the model's window is left out, which is a record, so two requests in a row
   * differ only in what was added, unless there is such a record between them. Resolves to `undefined` only for a
   * request with `overflow`, when nothing more can be left out.
   */
  context(request: ContextRequest): Promise<ModelContext | undefined>
  /**
   * Called before every model step and at the end of a turn: moves steered messages into the conversation. Resolves to
   * true when there were any, so that the agent has to go on.
   */
  listen(): Promise<boolean>
  /** Puts a reminder into the conversation, which the agent hears before its next step. */
  remind(text: string): Promise<void>
  /**
   * Called before every model step: returns what holds from here on. Model and instructions may differ from those at
   * the start of the turn. `listTools` returns the matching tools afterwards.
   */
  turn(): Promise<TurnDefaults>
  /** The tools the agent may call through `callTool`. A driver with `hostTools: 'none'` offers none of them. */
  listTools(): readonly HostTool[]
  /**
   * Carries out a call, approval included. A failed tool is an outcome with `isError`; it rejects only if the turn is
   * over or the call could not be recorded.
   */
  callTool(call: ToolCallRequest): Promise<ToolOutcome>
  /** Records a native binding as soon as it is known, not at the end of the turn, and again whenever it changes. */
  bind(binding: Binding): void
  /** Records a process of the turn. The agent gets its task after this settles, so that recovery can find it. */
  noteProcess(note: ProcessNote): Promise<void> | void
  /** How much of what others said the agent may be given, and how it is counted. */
  readonly handover: HandoverBudget
  /** Records that the agent was given what others said. Called once the agent has it. */
  noteHandover(note: HandoverNote): void
  /**
   * Records activity without an agent event: warnings, output that was not understood, subagents that start and
   * end. Called in order with the events, before the next event is yielded.
   */
  noteActivity(activity: ActivityNote, native?: NativeRef): void
  /** Records a usage limit when the agent reports one or its status changes. */
  noteLimit(limit: AgentLimit): void
  /**
   * Removes from a text what must not be written. Applied to instructions before a model gets them, and to the raw
   * lines of a program before they are recorded. Never throws.
   */
  redact(text: string): string
  /** Records something people should know. */
  warn(text: string, data?: JsonObject): void
  /** Aborted when the turn is cancelled. The driver then ends the turn with `finish`. */
  readonly signal: AbortSignal
  /** The host's clock, in milliseconds since 1970. */
  now(): number
  /** Logs what goes wrong beside a turn. Warnings and errors are also recorded. */
  log(level: LogLevel, message: string, context?: JsonObject): void
}

/** The version of the driver port. A driver written to another version is refused. */
export const DRIVER_PORT = 1

/** Anything that can take a turn. `testDriver` of `@inspan/testing/contracts` checks what is promised here. */
export interface AgentDriver {
  /** The version of this contract that the driver was written to. */
  readonly port: typeof DRIVER_PORT
  /** Stored with threads: the same agent keeps its id when the program changes. */
  readonly id: string
  /**
   * Reports what the agent can do, before its first turn. May start a program to ask for its version. Rejects with
   * `not-found` if the program is not installed. Equal between calls unless the installation changes.
   */
  describe(): Promise<Capabilities>
  /**
   * Opens a session that continues the bound native session, or none yet. Costs nothing that `close` does not free, and
   * gives the agent no task. A native session that is gone is not an error here: its first turn begins another one.
   */
  open(binding: Binding | null, host: Host): Promise<AgentSession>
  /** The agent's own sessions. Present if `Capabilities.sessions`. */
  readonly sessions?: NativeSessions
}

export interface AgentSession {
  /**
   * Takes one turn at a time; one after `close` is refused with `closed`. Ends with
   * exactly one `finish`, and nothing after it, whatever happens: what goes wrong is an `error` event before a `finish`
   * with `error`. Each tool call has one result, or none if the turn was cut short. Leaving the loop ends the turn.
   */
  run(turn: Turn): AsyncIterable<AgentEvent>
  /**
   * Passes a message to the running turn. Present unless `Capabilities.steer` is `none` or the driver hears messages
   * through `Host.listen`. Rejects with `conflict` when no turn runs.
   */
  steer?(message: StoredMessage): Promise<'injected' | 'queued'>
  /**
   * Stops the running turn, which still yields its `finish`. Resolves when nothing of the turn runs any more; says which
   * calls were cut off. Without a running turn it does nothing.
   */
  cancel(): Promise<CancelReceipt>
  /** Cancels what runs and ends every process, timer and handle. May be called twice. */
  close(): Promise<void>
}

/** Access to the sessions that an agent keeps on this machine, our own and those begun without us. Reads only. */
export interface NativeSessions {
  /** The sessions begun in this folder, newest first. A folder without any gives none. */
  list(folder: string): Promise<readonly NativeSessionInfo[]>
  /**
   * The messages of a session, oldest first, in our shape, for import into a thread. Lines that cannot be read are left
   * out. Throws `not-found` for an unknown id.
   */
  read(id: string, folder: string): AsyncIterable<NativeMessage>
}

export interface NativeSessionInfo {
  /** The agent's own id of the session: the `nativeId` of a binding that continues it. */
  readonly id: string
  /** Its title, or the beginning of its first prompt. */
  readonly title?: string
  /** In milliseconds since 1970. */
  readonly updatedAt: number
  readonly cwd: string
}

/** A message of a native session. */
export interface NativeMessage {
  /** The agent's own id of the message, if it has one. */
  readonly id?: string
  readonly role: 'user' | 'assistant'
  readonly at?: number
  readonly parts: readonly Part[]
}
