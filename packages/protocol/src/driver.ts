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
 * What an agent can do, known before its first turn and true for the installed version. What it cannot do is a typed
 * error for the caller, never silence.
 */
export interface Capabilities {
  /** Which of its tool calls come to us for approval before they run. `none`: it asks nobody. */
  readonly governs: 'all' | 'asks-only' | 'none'
  readonly steer: 'inject' | 'queue' | 'restart' | 'none'
  /** Where a conversation can be taken up again: at our anchor, only at its own end, or not at all. */
  readonly resume: 'anchor' | 'head' | 'none'
  readonly fork: 'anchor' | 'head' | 'none'
  /** How it can be told what others said: as items of its own history, or as text. */
  readonly handover: 'items' | 'text'
  readonly hostTools: 'inproc' | 'mcp' | 'protocol' | 'none'
  readonly interrupt: 'clean' | 'kill'
  readonly usage: 'turn' | 'cumulative' | 'none'
  /**
   * What redaction reaches: all that the model is sent again, or only what we have on record, because the agent keeps a
   * record of its own.
   */
  readonly redaction: 'all' | 'record'
  readonly images: boolean
  /** It can be given MCP servers. Tools of the host are `hostTools`, wherever those come from. */
  readonly mcp: boolean
  /** It has subagents of its own. Those of the host are tools. */
  readonly subagents: boolean
  readonly systemPrompt: 'replace' | 'append' | 'none'
  /** `null` when the agent does not say which models it takes. */
  readonly models: readonly string[] | null
  readonly version?: string
}

/** One agent taking the floor: what it is asked, and within which limits. */
export interface Turn {
  readonly turnId: string
  readonly runId: string
  readonly threadId: string
  readonly input: readonly Part[]
  readonly model?: string
  readonly instructions?: string
  readonly cwd?: string
  readonly maxSteps?: number
  readonly rules?: PermissionRules
  readonly requestContext?: JsonObject
  readonly providerOptions?: JsonObject
  readonly output?: TurnOutput
  readonly budget?: Budget
  /** Set when an earlier attempt at this turn was cut short. */
  readonly resumed?: {
    readonly attempt: number
    /** What earlier attempts were billed for. The turn's `finish` counts it, too. */
    readonly usage?: UsageMetadata
    /** The number of its next step: those that were cut short have one, too. */
    readonly nextStep?: number
    /** How its last whole step ended. */
    readonly step?: Pick<StepFinishEvent, 'finishReason' | 'usage'>
  }
}

/** An answer that is data: what it has to look like. */
export interface TurnOutput {
  /** JSON Schema. */
  readonly schema: JsonObject
  readonly name?: string
  readonly description?: string
  /** How often the agent is told what is wrong with its answer and asked again. Default: 1. */
  readonly repairs?: number
}

/** What a run may use up. At a limit its turn ends. */
export interface Budget {
  /** Input and output together. */
  readonly tokens?: number
  /** Needs to know what the model costs. */
  readonly usd?: number
  /** Time at work: waiting for people does not count. */
  readonly ms?: number
  /** The share of a limit at which it is announced. Default: 0.8. */
  readonly warnAt?: number
}

export type BudgetLimit = 'tokens' | 'usd' | 'ms'

/** What holds for a turn unless somebody says otherwise. */
export type TurnDefaults = Partial<
  Pick<Turn, 'model' | 'instructions' | 'cwd' | 'maxSteps' | 'providerOptions' | 'output' | 'budget'>
>

export interface ToolCallRequest extends ToolCallInfo {
  readonly category?: ToolCategory
  readonly serverName?: string
  readonly annotations?: ToolAnnotations
  readonly parentToolCallId?: string
  readonly cwd?: string
}

/** Which rule decided, so that a decision can be explained. */
export interface Decision {
  readonly policy: Policy
  readonly reason: string
  /** How it is called, for people. */
  readonly rule?: string
  /** What it is about. */
  readonly about?: { readonly tool: string } | { readonly category: ToolCategory }
}

export interface HistoryQuery {
  readonly order: 'newest' | 'oldest'
  /** Only what came after this seq. */
  readonly after?: number
  readonly limit?: number
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
  /** Absent: the model sees the result. */
  readonly modelOutput?: ModelOutput
}

export interface HostTool {
  readonly name: string
  readonly description?: string
  readonly inputSchema: JsonObject
  readonly annotations?: ToolAnnotations
  /**
   * The MCP server it comes from. What such a tool says of itself raises caution and never lowers it: that it only reads, or
   * may be repeated, is not believed. Its category is `mcp` where nobody says otherwise.
   */
  readonly serverName?: string
}

export interface HandoverBudget {
  readonly maxTokens: number
  countTokens(text: string): number
}

/** What an agent was told of what others said. `truncated`: not all of it fitted; `omitted`: so many older messages did not. */
export interface HandoverNote {
  readonly messages: number
  readonly tokens: number
  readonly truncated: boolean
  readonly omitted?: number
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/**
 * What a driver may ask of whoever runs it. It belongs to one turn: a question, a tool call or a process that comes when
 * the turn is over is refused with `closed`.
 */
export interface Host {
  /** Waits for a person. The wait outlives this process. */
  ask(request: WaitRequest): Promise<Answer>
  /** The agent no longer waits for the answer: its question is taken back. */
  withdraw?(waitId: string): Promise<void> | void
  decide(call: ToolCallRequest): Decision
  history(query: HistoryQuery): AsyncIterable<StoredMessage>
  /**
   * Asked before every model step and at the end of a turn: moves what was steered into the conversation. True when
   * something was said, so that the agent has to go on.
   */
  listen?(): Promise<boolean>
  /** Puts words of ours into the conversation, for the agent to hear before its next step. */
  remind?(text: string): Promise<void>
  /**
   * Asked before every model step: what holds from here on, which may be another model and other instructions than at the
   * start of the turn. What `listTools` gives afterwards belongs to it.
   */
  turn?(): Promise<TurnDefaults>
  listTools?(): readonly HostTool[]
  callTool?(call: ToolCallRequest): Promise<ToolOutcome>
  /** A native binding is recorded as soon as it is known, not at the end of the turn. */
  bind(binding: Binding): void
  /** A process was started for the turn. The agent is told its task when this has settled, so recovery can find it. */
  noteProcess?(note: ProcessNote): Promise<void> | void
  /** How much of what others said the agent may be told, and how that is counted. */
  readonly handover?: HandoverBudget
  /** The agent was told what others said. */
  noteHandover?(note: HandoverNote): void
  /**
   * Activity that no agent event stands for: warnings, output nobody understands, subagents coming and going. Called in
   * its place among the events, before the next one is handed out.
   */
  noteActivity?(activity: ActivityNote, native?: NativeRef): void
  /**
   * What must not be written down is taken out of a text. Instructions pass here before a model is asked with them, and the
   * raw lines of a program before they are recorded. Never throws.
   */
  redact?(text: string): string
  /** Something people should know, kept on record. */
  warn?(text: string, data?: JsonObject): void
  readonly signal: AbortSignal
  now(): number
  /** What goes wrong beside a turn. Warnings and errors are kept on record. */
  log(level: LogLevel, message: string, context?: JsonObject): void
}

/** Anything that can take a turn. */
export interface AgentDriver {
  readonly id: string
  describe(): Promise<Capabilities>
  open(binding: Binding | null, host: Host): Promise<AgentSession>
}

export interface AgentSession {
  /** Ends with exactly one `finish`. */
  run(turn: Turn): AsyncIterable<AgentEvent>
  steer?(message: StoredMessage): Promise<'injected' | 'queued'>
  cancel(): Promise<CancelReceipt>
  close(): Promise<void>
}
