import type { JsonObject, ModelOutput, OnInterrupted, ToolAnnotations, ToolCategory } from '@evener/protocol'
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
  /** Its name in a list of tools. In an object its key is. */
  readonly id: string
  /** What the model goes by when it chooses. */
  readonly description: string
  /** Default: an object with anything in it. */
  readonly inputSchema?: Input
  /** A result that does not fit is an error. */
  readonly outputSchema?: Output
  /** Of what the tool asks with `suspend`. */
  readonly suspendSchema?: Suspend
  /** Of what is answered. */
  readonly resumeSchema?: Resume
  /** Ask somebody first, where no rule allows the call: always, or for such input. */
  readonly requireApproval?: boolean | ((input: JsonObject) => boolean)
  /** What rules about categories go by. Without one they say nothing of it, unless it has a well-known name. */
  readonly category?: ToolCategory
  /** Safe to carry out again with the same key when nobody knows whether it was. */
  readonly idempotent?: boolean
  /**
   * What becomes of a call that had begun when its process died: `report` it to the model, `ask` somebody whether it is to
   * be made again, or `retry` it with the same key. Default: what the runtime says, which reports.
   */
  readonly onInterrupted?: OnInterrupted
  readonly annotations?: ToolAnnotations
  /** As a generator it shows what it yields as progress. What it returns is the result, or else the last it yielded. */
  readonly execute: (
    input: Infer<Input>,
    context: ToolContext<Infer<Suspend>, Infer<Resume>>,
  ) => Promise<Result> | Result | Steps<Result>
  /** What the model sees of a result. The record keeps all of it. */
  readonly toModelOutput?: (result: Awaited<Result>) => ModelOutput | string | Promise<ModelOutput | string>
}

type Steps<Result> = AsyncGenerator<Result, Result | void> | Generator<Result, Result | void>

/** A tool as it is defined. Methods, so that tools of any input fit into one list. */
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
  execute(input: Input, context: ToolContext): Promise<Result> | Result | Steps<Result>
  toModelOutput?(result: Result): ModelOutput | string | Promise<ModelOutput | string>
}

/** Defines a tool. Its input is checked against the schema before it runs, so `execute` gets what it says. */
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
