import { InspanError, toErrorData, type Answer, type JsonObject } from '@inspan/protocol'
import type { ModelOutput, RunnableTool, ToolOutcome, ToolRunContext, ToolSuspension } from '@inspan/protocol/driver'
import type { Tool } from './create-tool.ts'
import { toTool, type PlainTool } from './plain-tool.ts'
import { jsonSchemaOf, schemaText, validate } from './schema.ts'
import { reportSchema } from './schema-report.ts'
import { toJson } from './to-json.ts'
import { Suspended, toolContext, type DecorateContext, type Question, type ToolContext } from './tool-context.ts'

/** A tool from `createTool`, of the AI SDK or as a plain object, or one that the engine runs as it is. */
export type ToolInput = Tool | PlainTool | RunnableTool

/** Tools by the name the model calls them by, or a list of tools with an id or name. */
export type ToolsInput = { readonly [name: string]: ToolInput } | readonly ToolInput[]

export function runnableTools(tools: ToolsInput, decorate?: DecorateContext): RunnableTool[] {
  return namedTools(tools).map(([name, tool]) => runnableTool(tool, { name, decorate }))
}

/** Throws if a tool cannot be used, or if two have the same name: a model could only call the first. */
export function checkTools(tools: ToolsInput): void {
  const names = namedTools(tools).map(([name, tool]) => {
    if (isRunnable(tool)) return name
    const { inputSchema, outputSchema } = toTool(tool, name)
    jsonSchemaOf(inputSchema, `tool "${name}"`)
    reportSchema(inputSchema, `tool "${name}"`)
    reportSchema(outputSchema, `the output of tool "${name}"`)
    return name
  })
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice === undefined) return
  throw new InspanError('invalid-input', `\`tools\` has two tools called "${twice}".`, {
    hint: 'Give each an id of its own, or pass an object with the names the model is to call them by.',
  })
}

function namedTools(tools: ToolsInput): readonly (readonly [string, ToolInput])[] {
  if (!Array.isArray(tools)) return Object.entries(tools as { readonly [name: string]: ToolInput })
  return (tools as readonly ToolInput[]).map((tool, index) => [nameInList(tool, index), tool])
}

function nameInList(tool: ToolInput, index: number): string {
  const name: unknown = isObject(tool) ? (Reflect.get(tool, 'id') ?? Reflect.get(tool, 'name')) : undefined
  if (typeof name === 'string' && name !== '') return name
  throw new InspanError('invalid-input', `Tool ${index + 1} of the list \`tools\` has no name.`, {
    hint: 'Pass an object, `tools: { weather: tool(…) }`, or give each tool of a list an `id`.',
  })
}

/** Marks tools that the engine runs as they are: a plain tool may have a `name` as well. */
const RUNNABLE: unique symbol = Symbol('runnable')

function isRunnable(tool: ToolInput): tool is RunnableTool {
  return isObject(tool) && (RUNNABLE in tool || 'serverName' in tool)
}

/** For tools whose `execute` returns an outcome. Without the mark, what it returns is the result. */
export function asRunnable(tool: RunnableTool): RunnableTool {
  return { ...tool, [RUNNABLE]: true } as RunnableTool
}

/** Returns a tool as the engine carries it out. */
export function runnableTool(
  given: ToolInput,
  options: { readonly name?: string | undefined; readonly decorate?: DecorateContext | undefined } = {},
): RunnableTool {
  if (isRunnable(given)) return options.name === undefined ? given : { ...given, name: options.name }
  return asRunnable(toRunnable(given, options))
}

function toRunnable(
  given: Tool | PlainTool,
  options: { readonly name?: string | undefined; readonly decorate?: DecorateContext | undefined },
): RunnableTool {
  const tool = toTool(given, options.name)
  const name = options.name ?? tool.id
  return {
    name,
    description: tool.description,
    inputSchema: jsonSchemaOf(tool.inputSchema, `tool "${name}"`),
    ...(tool.annotations === undefined ? {} : { annotations: tool.annotations }),
    ...(tool.category === undefined ? {} : { category: tool.category }),
    ...(tool.idempotent === undefined ? {} : { isIdempotent: tool.idempotent }),
    ...(tool.onInterrupted === undefined ? {} : { onInterrupted: tool.onInterrupted }),
    ...(tool.requireApproval === undefined ? {} : { requiresApproval: tool.requireApproval }),
    checkInput: async (input) => {
      const checked = await validate(tool.inputSchema, input)
      return checked.ok ? undefined : checked.message
    },
    execute: (input, context) => carryOut(tool, input, context, options.decorate),
  }
}

async function carryOut(
  tool: Tool,
  given: JsonObject,
  run: ToolRunContext,
  decorate: DecorateContext | undefined,
): Promise<ToolOutcome | ToolSuspension> {
  const input = await validate(tool.inputSchema, given)
  if (!input.ok) return failed(`The input is not valid: ${input.message}`)
  const resume = await resumeDataOf(tool, run.resume)
  if ('refused' in resume) return failed(resume.refused)
  const { context, asked } = toolContext(run, resume.data)
  let result: unknown
  try {
    const executed: unknown = await tool.execute(input.value, decorate?.(context, run) ?? context)
    result = isGenerator(executed) ? await lastOf(executed, context, run.signal) : executed
  } catch (error) {
    if (!(error instanceof Suspended) || asked() === undefined) throw error
  }
  const question = asked()
  return question === undefined ? outcomeOf(tool, result, run, input.value) : suspensionOf(tool, question)
}

type AnyGenerator = AsyncGenerator<unknown, unknown> | Generator<unknown, unknown>

function isGenerator(value: unknown): value is AnyGenerator {
  if (typeof value !== 'object' || value === null || !('next' in value) || typeof value.next !== 'function')
    return false
  // Other iterators are results: a list is not what it ends with.
  return Symbol.asyncIterator in value || Object.prototype.toString.call(value) === '[object Generator]'
}

/**
 * Returns what the generator returns, or else the last value it yielded. A cancel stops it; its own `finally` releases
 * what it holds.
 */
async function lastOf(values: AnyGenerator, { writer }: ToolContext, signal: AbortSignal): Promise<unknown> {
  let last: unknown
  const end = async (): Promise<unknown> => values.return(undefined)
  const stop = (): void => void end().catch(() => undefined)
  signal.addEventListener('abort', stop, { once: true })
  try {
    for (;;) {
      const { done, value } = await values.next()
      if (done === true) return value ?? last
      // A sync generator yields promises as they are.
      last = await value
      await writer.write(last)
    }
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
  }
}

type Resume = { readonly data: unknown } | { readonly refused: string }

async function resumeDataOf(tool: Tool, answer: Answer | undefined): Promise<Resume> {
  if (answer === undefined) return { data: undefined }
  if (answer.decision === 'decline' && answer.value === undefined) {
    return { refused: `The question was declined${answer.reason === undefined ? '' : `: ${answer.reason}`}.` }
  }
  const data = answer.value ?? {}
  if (tool.resumeSchema === undefined) return { data }
  const checked = await validate(tool.resumeSchema, data)
  return checked.ok ? { data: checked.value } : { refused: `The answer does not fit: ${checked.message}` }
}

async function suspensionOf(tool: Tool, { options, payload }: Question): Promise<ToolOutcome | ToolSuspension> {
  if (tool.suspendSchema !== undefined) {
    const checked = await validate(tool.suspendSchema, payload)
    if (!checked.ok) return failed(`The tool asked something that does not fit its schema: ${checked.message}`)
  }
  return {
    suspend: {
      kind: options.kind ?? 'tool',
      description: options.description ?? `${tool.id} waits for an answer`,
      payload,
      ...(tool.resumeSchema === undefined ? {} : { answerSchema: schemaText(tool.resumeSchema, `tool "${tool.id}"`) }),
    },
  }
}

async function outcomeOf(tool: Tool, result: unknown, run: ToolRunContext, input: unknown): Promise<ToolOutcome> {
  let value = result
  if (tool.outputSchema !== undefined) {
    const checked = await validate(tool.outputSchema, result)
    if (!checked.ok) return failed(`The tool gave a result that does not fit its schema: ${checked.message}`)
    value = checked.value
  }
  const json = toJson(value)
  if (!json.isExact)
    run.warn?.(
      `The result of "${tool.id}" is not JSON; it was converted, and the converted value is recorded and shown.`,
    )
  const modelOutput = await modelOutputOf(tool, value, run, input)
  return { result: json.value, ...(modelOutput === undefined ? {} : { modelOutput }) }
}

/** Returns what the model sees. A failure only warns: the tool has had its effect and must not look failed. */
async function modelOutputOf(
  tool: Tool,
  result: unknown,
  run: ToolRunContext,
  input: unknown,
): Promise<ModelOutput | undefined> {
  try {
    const shown: unknown = await tool.toModelOutput?.(result, { toolCallId: run.toolCallId, input })
    return shown === undefined ? undefined : modelOutput(shown)
  } catch (error) {
    run.warn?.(`"${tool.id}" could not say what to show of its result: ${toErrorData(error).message}`)
    return undefined
  }
}

function modelOutput(shown: unknown): ModelOutput {
  if (typeof shown === 'string') return { type: 'text', value: shown }
  const { value, isExact } = toJson(shown)
  if (isExact && isModelOutput(value)) return value
  throw new Error('It has to be a text, or { type, value } of the type text, json or content.')
}

function isModelOutput(given: unknown): given is ModelOutput {
  if (typeof given !== 'object' || given === null || !('type' in given) || !('value' in given)) return false
  const { type, value } = given
  if (type === 'content') return Array.isArray(value) && value.every(isModelOutputPart)
  return type === 'json' || (type === 'text' && typeof value === 'string')
}

function isModelOutputPart(part: unknown): boolean {
  if (typeof part !== 'object' || part === null || !('type' in part)) return false
  if (part.type === 'text') return 'text' in part && typeof part.text === 'string'
  return 'data' in part && typeof part.data === 'string' && 'mediaType' in part && typeof part.mediaType === 'string'
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function failed(message: string): ToolOutcome {
  return { result: message, isError: true }
}
