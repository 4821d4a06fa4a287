import { InspanError, type JsonObject } from '@inspan/protocol'
import type { ModelOutput } from '@inspan/protocol/driver'
import type { Tool } from './create-tool.ts'
import type { SchemaInput } from './schema.ts'
import { fromSdkSchema, type SdkSchema } from './sdk-schema.ts'
import type { ToolContext } from './tool-context.ts'

/**
 * A tool as other libraries define it: `tool()` of the AI SDK, or a plain object. Its methods take `never`, so that tools
 * with any input fit.
 */
export interface PlainTool {
  readonly id?: string
  readonly name?: string
  readonly type?: string | undefined
  readonly title?: string | undefined
  readonly description?: string | ((options: never) => string) | undefined
  readonly inputSchema?: SchemaInput | SdkSchema | object | undefined
  readonly outputSchema?: SchemaInput | SdkSchema | object | undefined
  readonly needsApproval?: boolean | ((input: never, options: never) => boolean | PromiseLike<boolean>) | undefined
  execute?(input: never, options: never): unknown
  toModelOutput?(options: never): unknown
}

type PlainExecute = (input: unknown, options: object) => unknown

/** Returns one of our tools for a tool of any kind. Refuses what could not be carried out, and says why. */
export function toTool(given: Tool | PlainTool, name?: string): Tool {
  if (typeof given !== 'object' || given === null) throw unusable(name, `is ${given === null ? 'null' : typeof given}`)
  if ('type' in given && given.type === 'provider') {
    throw unusable(name, `is defined by a model's provider (${given.id ?? 'no id'})`, {
      hint: 'Only tools with an `execute` function can be carried out, approved and recorded here.',
      code: 'unsupported',
    })
  }
  if (typeof given.execute !== 'function') {
    throw unusable(name, 'has no `execute` function', {
      hint: 'Give it one: it is carried out here, not by the caller.',
    })
  }
  return isOurs(given) ? given : adapted(given, name)
}

/** One from `createTool`, or written in its shape. */
function isOurs(given: Tool | PlainTool): given is Tool {
  if (typeof given.id !== 'string' || typeof given.description !== 'string') return false
  return given.inputSchema !== undefined && fromSdkSchema(given.inputSchema) === given.inputSchema
}

function adapted(given: PlainTool, name: string | undefined): Tool {
  const id = given.id ?? name ?? given.name ?? ''
  const what = `tool "${id}"`
  const { description, needsApproval, outputSchema } = given
  const execute = Reflect.get(given, 'execute') as PlainExecute
  const shown = Reflect.get(given, 'toModelOutput') as ((options: object) => unknown) | undefined
  return {
    ...ownOptions(given),
    id,
    description:
      typeof description === 'function' ? description({ context: {} } as never) : (description ?? given.title ?? ''),
    inputSchema: schemaOf(given.inputSchema, what) ?? { type: 'object' },
    ...(outputSchema === undefined
      ? {}
      : { outputSchema: schemaOf(outputSchema, `the output of ${what}`) as SchemaInput }),
    ...(needsApproval === undefined ? {} : { requireApproval: approval(needsApproval) }),
    execute: async (input, context) => lastOf(execute.call(given, input, optionsFor(context)), context),
    ...(shown === undefined
      ? {}
      : { toModelOutput: async (output, call) => modelOutputOf(await shown.call(given, { ...call, output })) }),
  }
}

const OWN = ['requireApproval', 'category', 'idempotent', 'onInterrupted', 'annotations'] as const

/** What only tools of ours have. */
function ownOptions(given: object): Partial<Tool> {
  return Object.fromEntries(OWN.filter((name) => name in given).map((name) => [name, Reflect.get(given, name)]))
}

/** The second argument that tools of the AI SDK expect, on top of ours. */
function optionsFor(context: ToolContext): object {
  return { ...context, messages: [], context: {}, experimental_context: {} }
}

/** A function is not asked about the call's messages: they are not at hand when an approval is decided. */
function approval(given: NonNullable<PlainTool['needsApproval']>): boolean | ((input: JsonObject) => boolean) {
  if (typeof given === 'boolean') return given
  return (input) => {
    const answer: unknown = given(input as never, { toolCallId: '', messages: [], context: {} } as never)
    // A promise would be needed before the call is shown: ask rather than wait.
    return typeof answer === 'boolean' ? answer : true
  }
}

/** An async iterable shows what it yields as progress; its last value is the result. */
async function lastOf(returned: unknown, { writer }: ToolContext): Promise<unknown> {
  const value: unknown = await returned
  if (typeof value !== 'object' || value === null || !(Symbol.asyncIterator in value)) return value
  let last: unknown
  for await (const each of value as AsyncIterable<unknown>) {
    last = each
    await writer.write(each)
  }
  return last
}

/** The AI SDK has more kinds of output than we show; those are shown as JSON. */
function modelOutputOf(output: unknown): ModelOutput | string {
  if (typeof output === 'string') return output
  const { type, value } = (typeof output === 'object' && output !== null ? output : {}) as {
    readonly type?: unknown
    readonly value?: unknown
  }
  if (type === 'error-text' && typeof value === 'string') return { type: 'text', value }
  if (type === 'text' || type === 'json') return output as ModelOutput
  if (type === 'content' && Array.isArray(value)) return { type: 'content', value: value.map(contentPart) }
  return { type: 'json', value: (value ?? output) as never }
}

function contentPart(part: unknown): never {
  const { type, data, mediaType } = part as {
    readonly type?: string
    readonly data?: unknown
    readonly mediaType?: string
  }
  return (type === 'text' ? part : { type: 'file', data, mediaType }) as never
}

function schemaOf(given: unknown, what: string): SchemaInput | undefined {
  if (given === undefined) return undefined
  const schema = fromSdkSchema(given)
  if (schema !== undefined) return schema
  throw new InspanError('invalid-input', `The schema of ${what} is ${describe(given)}.`, {
    hint: 'Give a schema of a library that follows Standard Schema (zod, valibot, arktype), `jsonSchema()` of the AI SDK, or a plain JSON Schema.',
  })
}

function describe(given: unknown): string {
  return given === null ? 'null' : Array.isArray(given) ? 'a list' : `a ${typeof given} that is no schema`
}

function unusable(
  name: string | undefined,
  why: string,
  {
    hint = 'Use `createTool`, `tool()` of the AI SDK, or { description, inputSchema, execute }.',
    code = 'invalid-input' as const,
  }: {
    readonly hint?: string
    readonly code?: 'invalid-input' | 'unsupported'
  } = {},
): InspanError {
  return new InspanError(code, `${name === undefined ? 'A tool' : `Tool "${name}"`} ${why}.`, { hint })
}
