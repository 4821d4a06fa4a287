import type { JsonObject, ToolRunContext, ToolSuspension } from '@evener/protocol'
import { RequestContext } from './request-context.ts'
import { toJson } from './to-json.ts'

export interface SuspendOptions {
  /** What kind of question it is. Default: `tool`. */
  readonly kind?: ToolSuspension['suspend']['kind']
  /** One line for the person who is asked. */
  readonly description?: string
}

/** What a tool is given besides its input. */
export interface ToolContext<Suspend = JsonObject, Resume = unknown> {
  readonly abortSignal: AbortSignal
  readonly toolCallId: string
  readonly runId: string
  readonly threadId: string
  /** The same for every attempt at this call, also after a crash. */
  readonly idempotencyKey: string
  readonly requestContext: RequestContext
  /** Shows what the tool is doing while it does it. */
  readonly progress: (output: string) => void
  /** The same as a stream. */
  readonly writer: { readonly write: (output: unknown) => Promise<void> }
  /**
   * Ends this attempt with a question. When it is answered, maybe in another process, the tool is carried out again
   * from its beginning with `resumeData`. Never returns.
   */
  readonly suspend: (payload: Suspend, options?: SuspendOptions) => Promise<never>
  /** What was answered; `undefined` in the first attempt. */
  readonly resumeData: Resume | undefined
  /** What the tool had asked to get it: of several questions one after the other, which one was answered. */
  readonly suspendData: Suspend | undefined
  readonly agent: {
    readonly agentId: string
    readonly toolCallId: string
    readonly threadId: string
    readonly suspend: (payload: Suspend, options?: SuspendOptions) => Promise<never>
    readonly resumeData: Resume | undefined
  }
}

/** Lets a door (a harness, a server) add to what tools are given. */
export type DecorateContext = (context: ToolContext, run: ToolRunContext) => ToolContext

/** Thrown by `suspend`, so that nothing after it is done. */
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
  /** What the tool asked, whether or not it let `Suspended` pass. */
  readonly asked: () => Question | undefined
}

export function toolContext(run: ToolRunContext, resumeData: unknown): PreparedContext {
  let asked: Question | undefined
  const suspend = (payload: JsonObject, options: SuspendOptions = {}): Promise<never> => {
    // A copy: what the tool does with its own later is not what was asked.
    asked ??= { payload: toJson(payload ?? {}).value as JsonObject, options }
    const suspended = Promise.reject(new Suspended())
    // Not awaited, it is no unhandled failure: the question was heard.
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

/** What is shown on the way is only shown: that it is no JSON must not fail the tool. */
function textOf(value: unknown): string {
  return value === undefined ? String(value) : JSON.stringify(toJson(value).value)
}
