import {
  toErrorData,
  type Answer,
  type JsonObject,
  type ModelOutput,
  type RunnableTool,
  type ToolOutcome,
  type ToolRunContext,
  type ToolSuspension,
} from '@evener/protocol'
import type { Tool } from './create-tool.ts'
import { jsonSchemaOf, schemaText, validate } from './schema.ts'
import { toJson } from './to-json.ts'
import { Suspended, toolContext, type DecorateContext, type Question, type ToolContext } from './tool-context.ts'

/** Tools by the name the model is to call them by, or a list of tools that go by their ids. */
export type ToolsInput = { readonly [name: string]: Tool | RunnableTool } | readonly (Tool | RunnableTool)[]

export function runnableTools(tools: ToolsInput, decorate?: DecorateContext): RunnableTool[] {
  if (Array.isArray(tools)) return tools.map((tool: Tool | RunnableTool) => runnableTool(tool, { decorate }))
  return Object.entries(tools as { readonly [name: string]: Tool | RunnableTool }).map(([name, tool]) =>
    runnableTool(tool, { name, decorate }),
  )
}

/** A tool as the engine carries it out. */
export function runnableTool(
  tool: Tool | RunnableTool,
  options: { readonly name?: string | undefined; readonly decorate?: DecorateContext | undefined } = {},
): RunnableTool {
  if (!('id' in tool)) return options.name === undefined ? tool : { ...tool, name: options.name }
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
  return question === undefined ? outcomeOf(tool, result, run) : suspensionOf(tool, question)
}

function isGenerator(value: unknown): value is AsyncGenerator<unknown, unknown> {
  if (typeof value !== 'object' || value === null) return false
  return Symbol.asyncIterator in value && 'next' in value && typeof value.next === 'function'
}

/** Whoever cancels takes no more of it; what it holds is given back by its own `finally`. */
async function lastOf(
  values: AsyncGenerator<unknown, unknown>,
  { writer }: ToolContext,
  signal: AbortSignal,
): Promise<unknown> {
  let last: unknown
  const stop = (): void => void values.return(undefined).catch(() => undefined)
  signal.addEventListener('abort', stop, { once: true })
  try {
    for await (const value of values) {
      last = value
      await writer.write(value)
    }
  } finally {
    signal.removeEventListener('abort', stop)
  }
  return last
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

async function outcomeOf(tool: Tool, result: unknown, run: ToolRunContext): Promise<ToolOutcome> {
  let value = result
  if (tool.outputSchema !== undefined) {
    const checked = await validate(tool.outputSchema, result)
    if (!checked.ok) return failed(`The tool gave a result that does not fit its schema: ${checked.message}`)
    value = checked.value
  }
  const json = toJson(value)
  if (!json.isExact) run.warn?.(`The result of "${tool.id}" is no JSON; what it was made into is recorded and shown.`)
  const modelOutput = await modelOutputOf(tool, value, run)
  return { result: json.value, ...(modelOutput === undefined ? {} : { modelOutput }) }
}

/** The tool has had its effect: that it cannot be shown well must not make it look as if it had failed. */
async function modelOutputOf(tool: Tool, result: unknown, run: ToolRunContext): Promise<ModelOutput | undefined> {
  try {
    const shown = await tool.toModelOutput?.(result)
    return typeof shown === 'string' ? { type: 'text', value: shown } : shown
  } catch (error) {
    run.warn?.(`"${tool.id}" could not say what to show of its result: ${toErrorData(error).message}`)
    return undefined
  }
}

function failed(message: string): ToolOutcome {
  return { result: message, isError: true }
}
