import type { JsonObject, ToolAnnotations, ToolCategory } from '@inspan/protocol'
import type { ModelOutput, OnInterrupted } from '@inspan/protocol/driver'
import { checkTool } from './check-tool.ts'
import type { Infer, SchemaInput } from './schema.ts'
import { reportSchema } from './schema-report.ts'
import type { ToolContext } from './tool-context.ts'

export interface ToolOptions<
  Input extends SchemaInput = JsonObject,
  Output extends SchemaInput = JsonObject,
  Suspend extends SchemaInput = JsonObject,
  Resume extends SchemaInput = JsonObject,
  Result = unknown,
> {
  /** The tool's name in a list of tools. In an object of tools, the key is the name. */
  readonly id: string
  /** Tells the model when to use the tool. */
  readonly description: string
  /** Default: an object with anything in it. */
  readonly inputSchema?: Input
  /** A result that does not fit is an error. */
  readonly outputSchema?: Output
  /** The schema of what the tool asks with `suspend`. */
  readonly suspendSchema?: Suspend
  /** The schema of the answer. */
  readonly resumeSchema?: Resume
  /** Requires approval unless a rule allows the call: always, or depending on the input. */
  readonly requireApproval?: boolean | ((input: JsonObject) => boolean)
  /** The category, for rules. Without one such rules do not apply, unless the tool has a well-known name. */
  readonly category?: ToolCategory
  /** Whether the tool can safely run again with the same key if it is unknown whether it ran. */
  readonly idempotent?: boolean
  /**
   * What to do with a call that had started when its process died: `report` it to the model, `ask` somebody whether to
   * repeat it, or `retry` it with the same key. Default: `retry` if the tool is idempotent or read-only, else the
   * runtime's `onInterrupted`, which is `report`.
   */
  readonly onInterrupted?: OnInterrupted
  readonly annotations?: ToolAnnotations
  /** A generator shows what it yields as progress. Its result is what it returns, or else the last value it yielded. */
  readonly execute: (
    input: Infer<Input>,
    context: ToolContext<Infer<Suspend>, Infer<Resume>>,
  ) => Promise<Result> | Result | Yielding<Result>
  /** Returns what the model sees of a result. The record keeps all of it. */
  readonly toModelOutput?: (
    result: Awaited<Result>,
    call: ShownCall,
  ) => ModelOutput | string | Promise<ModelOutput | string>
}

/** The call whose result is shown to the model. */
export interface ShownCall {
  readonly toolCallId: string
  readonly input: unknown
}

type Yielding<Result> = AsyncGenerator<Result, Result | void> | Generator<Result, Result | void>

/** A tool definition. `execute` and `toModelOutput` are methods, so that tools with any input fit into one list. */
export interface Tool<Input = unknown, Result = unknown> {
  readonly id: string
  readonly description: string
  readonly inputSchema: SchemaInput
  readonly outputSchema?: SchemaInput
  readonly suspendSchema?: SchemaInput
  readonly resumeSchema?: SchemaInput
  readonly requireApproval?: boolean | ((input: JsonObject) => boolean)
  readonly category?: ToolCategory
  readonly idempotent?: boolean
  readonly onInterrupted?: OnInterrupted
  readonly annotations?: ToolAnnotations
  execute(input: Input, context: ToolContext): Promise<Result> | Result | Yielding<Result>
  toModelOutput?(result: Result, call: ShownCall): ModelOutput | string | Promise<ModelOutput | string>
}

/** Defines a tool. The input is checked against the schema before `execute` runs. */
export function createTool<
  Input extends SchemaInput = JsonObject,
  Output extends SchemaInput = JsonObject,
  Suspend extends SchemaInput = JsonObject,
  Resume extends SchemaInput = JsonObject,
  Result = unknown,
>(options: ToolOptions<Input, Output, Suspend, Resume, Result>): Tool<Infer<Input>, Result> {
  checkTool(options as unknown as Tool)
  const { id, inputSchema, outputSchema, resumeSchema, suspendSchema } = options
  reportSchema(inputSchema, `tool "${id}"`)
  reportSchema(outputSchema, `the output of tool "${id}"`)
  reportSchema(suspendSchema, `what tool "${id}" asks`)
  reportSchema(resumeSchema, `what is answered to tool "${id}"`)
  return { inputSchema: { type: 'object' }, ...options } as unknown as Tool<Infer<Input>, Result>
}
