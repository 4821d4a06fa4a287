import type { HostTool, ToolOutcome } from './driver.ts'
import type { JsonObject } from './json.ts'
import type { ToolCategory } from './permission.ts'
import type { Answer, WaitKind } from './wait.ts'

/**
 * What happens to a call in doubt, i.e. one that had begun when its process died. `report` tells the model, `ask` asks
 * a person whether to make it again, `retry` makes it again with the same idempotency key.
 */
export type OnInterrupted = 'report' | 'ask' | 'retry'

/** A tool that we run ourselves. */
export interface RunnableTool extends HostTool {
  readonly category?: ToolCategory
  /** Safe to run again after a crash with the same key. True for read-only tools, unless only an MCP server claims it. */
  readonly isIdempotent?: boolean
  /** What to do with an interrupted call. Default: `retry` if it is safe to repeat, else the runtime's setting. */
  readonly onInterrupted?: OnInterrupted
  /** Whether a call needs approval when no rule allows it: always, or depending on its input. */
  readonly requiresApproval?: boolean | ((input: JsonObject) => boolean)
  /** Returns what is wrong with an input. Runs before an approval is asked for; the model gets the message. */
  readonly checkInput?: (input: JsonObject) => Promise<string | undefined>
  /**
   * Returns the state of what the call is about, such as the content hash of a file. An approval holds only for that
   * state: if it has changed since, the approval is asked for again.
   */
  readonly preconditions?: (input: JsonObject) => Promise<JsonObject | undefined>
  /** It calls `keepFile` for every file it changes, so that nothing else has to find out which. */
  readonly keepsFiles?: boolean
  readonly execute: (input: JsonObject, context: ToolRunContext) => Promise<ToolOutcome | ToolSuspension>
}

export interface ToolRunContext {
  readonly signal: AbortSignal
  /** The same for every attempt at this call. */
  readonly idempotencyKey: string
  readonly toolCallId: string
  readonly runId: string
  readonly turnId: string
  readonly threadId: string
  readonly agentId: string
  readonly requestContext?: JsonObject
  /** The answer to the question the tool asked. The tool runs again from its beginning. */
  readonly resume?: Answer
  /** The question the tool asked, as it was recorded. */
  readonly suspended?: JsonObject
  /** Paths outside the workspace that people gave this thread access to. */
  readonly allowedPaths?: readonly string[]
  /** Stores a file, or the files of a folder, before the tool changes it, so that it can be put back. */
  readonly keepFile?: (path: string) => Promise<void>
  /** Shows output while the tool runs. `stream`: it is the output of a command. */
  readonly progress: (output: string, stream?: 'stdout' | 'stderr') => void
  /** The `state` of its suspension. */
  readonly state?: string
  /** Records something that people should know. */
  readonly warn?: (text: string) => void
}

/** Returned by a tool that needs an answer first. It then runs again with the answer, maybe in another process. */
export interface ToolSuspension {
  readonly suspend: {
    readonly kind: Exclude<WaitKind, 'approval'>
    /** One line for a person. */
    readonly description: string
    readonly payload?: JsonObject
    /** JSON Schema of the answer, as text. */
    readonly answerSchema?: string
    /** What the tool needs to go on, up to 64 KiB. Kept in the log as it is, and never shown or sent to clients. */
    readonly state?: string
    /** False when the tool cannot go on in another process. */
    readonly resumable?: false
  }
}

/** What `ToolSource.list` may depend on. */
export interface ToolSourceContext {
  readonly threadId: string
  readonly runId: string
  readonly agentId: string
  readonly requestContext?: JsonObject
}

/** A tool as its source lists it. The source carries out its calls. */
export type SourcedTool = Omit<RunnableTool, 'execute'>

/**
 * Where tools come from: a workspace, MCP servers, skills, a browser, the consumer of a chat session. The tools of a
 * thread are the union of its sources. The code that created a source closes it.
 */
export interface ToolSource {
  readonly id: string
  /** Returns the tools offered now. Called before every step, so it answers from memory where it can. */
  list(context: ToolSourceContext): Promise<readonly SourcedTool[]> | readonly SourcedTool[]
  /** Carries out a call of a listed tool. Called again with the answer after a `ToolSuspension`. */
  call(name: string, input: JsonObject, context: ToolRunContext): Promise<ToolOutcome | ToolSuspension>
  /** Calls `onChange` when `list` would return something else. Returns the unsubscribe function. */
  watch?(onChange: () => void): () => void
  /** Ends everything the source holds: processes, connections, timers. Safe to call twice. */
  close(): Promise<void>
}
