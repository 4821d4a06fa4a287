import type { JsonObject } from '@inspan/protocol'
import type { ToolRunContext, ToolSuspension } from '@inspan/protocol/driver'
import { RequestContext } from './request-context.ts'
import { toJson } from './to-json.ts'

export interface SuspendOptions {
  /** The kind of the wait. Default: `tool`. */
  readonly kind?: ToolSuspension['suspend']['kind']
  /** One line for the person who is asked. */
  readonly description?: string
}

/** The second argument of `execute`. */
export interface ToolContext<Suspend = JsonObject, Resume = unknown> {
  readonly abortSignal: AbortSignal
  readonly toolCallId: string
  readonly runId: string
  readonly threadId: string
  /** The same for every attempt at this call, even after a crash. */
  readonly idempotencyKey: string
  readonly requestContext: RequestContext
  /** Shows output while the tool runs. */
  readonly progress: (output: string) => void
  /** Like `progress`, as a stream. */
  readonly writer: { readonly write: (output: unknown) => Promise<void> }
  /**
   * Ends this attempt with a question. When it is answered, maybe in another process, the tool is carried out again
   * from its beginning with `resumeData`. Never returns.
   */
  readonly suspend: (payload: Suspend, options?: SuspendOptions) => Promise<never>
  /** The answer; `undefined` in the first attempt. */
  readonly resumeData: Resume | undefined
  /** The payload of the question that was answered, to tell several questions apart. */
  readonly suspendData: Suspend | undefined
  readonly agent: {
    readonly agentId: string
    readonly toolCallId: string
    readonly threadId: string
    readonly suspend: (payload: Suspend, options?: SuspendOptions) => Promise<never>
    readonly resumeData: Resume | undefined
  }
}

/** Lets a door (a harness, a server) extend the context of tools. */
export type DecorateContext = (context: ToolContext, run: ToolRunContext) => ToolContext

/** Thrown by `suspend`, so that nothing after it runs. */
export class Suspended extends Error {
  constructor() {
    super('The tool waits for an answer. Let this pass: it is carried out again with the answer.')
    this.name = 'Suspended'
  }
}

export interface Question {
  readonly payload: JsonObject
  readonly options: SuspendOptions
}

export interface PreparedContext {
  readonly context: ToolContext
  /** Returns what the tool asked, even if it caught `Suspended`. */
  readonly asked: () => Question | undefined
}

export function toolContext(run: ToolRunContext, resumeData: unknown): PreparedContext {
  let asked: Question | undefined
  const suspend = (payload: JsonObject, options: SuspendOptions = {}): Promise<never> => {
    // A copy, because the tool may change its payload later.
    asked ??= { payload: toJson(payload ?? {}).value as JsonObject, options }
    const suspended = Promise.reject(new Suspended())
    // Handled here: without `await` in the tool it would be an unhandled rejection, though the question was taken.
    suspended.catch(() => undefined)
    return suspended
  }
  const progress = (output: unknown): void => run.progress(typeof output === 'string' ? output : textOf(output))
  const { agentId, toolCallId, threadId } = run
  const context: ToolContext = {
    abortSignal: run.signal,
    toolCallId,
    runId: run.runId,
    threadId,
    idempotencyKey: run.idempotencyKey,
    requestContext: RequestContext.from(run.requestContext),
    progress,
    writer: { write: async (output) => progress(output) },
    suspend,
    resumeData,
    suspendData: run.suspended,
    agent: { agentId, toolCallId, threadId, suspend, resumeData },
  }
  return { context, asked: () => asked }
}

/** Returns progress as text. Values that are not JSON must not fail the tool, as they are only shown. */
function textOf(value: unknown): string {
  return value === undefined ? String(value) : JSON.stringify(toJson(value).value)
}
