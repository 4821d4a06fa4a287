import type { LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { JsonObject, JsonValue, StepRequest } from '@inspan/protocol'
import {
  checkEffort,
  type ContextRequest,
  type Effort,
  type Host,
  type HostTool,
  type Turn,
} from '@inspan/protocol/driver'
import { resolveDynamic, type AgentContext } from './agent-context.ts'
import { withCacheMarkers } from './cache-markers.ts'
import { convertContext } from './kept-prompt.ts'
import type { LanguageModel } from './language-model.ts'
import type { NativeDriverOptions } from './native-driver.ts'
import { resolveModel } from './resolve-model.ts'
import { responseFormat } from './structured-output.ts'
import { wellFormed } from './well-formed.ts'

/** A request to the model, and the part of it that is recorded. */
export interface PreparedRequest {
  readonly model: LanguageModel
  readonly options: LanguageModelV4CallOptions
  readonly recorded: StepRequest
}

/**
 * Builds the request of a step from the current settings and the conversation in the log. Returns `undefined` if the
 * last one was refused as too long, and nothing can be left out.
 */
export async function prepareRequest(
  options: NativeDriverOptions,
  turn: Turn,
  host: Host,
  context: AgentContext,
  overflow?: ContextRequest['overflow'],
): Promise<PreparedRequest | undefined> {
  const current = { ...turn, ...(await host.turn()) }
  const named = current.model ?? (await resolveDynamic(options.model, context))
  const model = await resolveModel(named, options.resolveModel)
  const given = current.instructions ?? (await resolveDynamic(options.instructions, context))
  const instructions = given === undefined ? undefined : wellFormed(host.redact(given))
  const tools = host.listTools().map(functionTool)
  const output = turn.output ?? options.output
  const name = typeof named === 'string' ? named : `${model.provider.split('.', 1)[0] ?? ''}/${model.modelId}`
  const conversation = await host.context({
    model: name,
    fixedTokens: fixedTokens(instructions, tools),
    ...(overflow === undefined ? {} : { overflow }),
  })
  if (conversation === undefined) return undefined
  const converted = await convertContext(conversation, model, options.id)
  const system = instructions === undefined ? [] : [{ role: 'system' as const, content: instructions }]
  const request: LanguageModelV4CallOptions = {
    prompt: system.length === 0 ? [...converted.prompt] : [...system, ...converted.prompt],
    ...options.settings,
    ...(current.effort === undefined ? {} : { reasoning: reasoningOf(current.effort) }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(tools.length === 0 || options.toolChoice === undefined ? {} : { toolChoice: options.toolChoice }),
    ...(output === undefined ? {} : { responseFormat: responseFormat(output) }),
    ...providerOptions(options.providerOptions, current.providerOptions),
  }
  const marks = converted.marked.map((index) => index + system.length)
  return {
    model,
    options:
      options.cache === false ? request : withCacheMarkers(request, model.provider, conversation.conversation, marks),
    recorded: {
      model: name,
      ...(instructions === undefined ? {} : { system: instructions }),
      ...(tools.length === 0 ? {} : { tools: tools as unknown as JsonValue }),
    },
  }
}

const CHARS_PER_TOKEN = 4

/** Roughly the tokens of what is the same in every request. The engine corrects it by what the provider reports. */
function fixedTokens(instructions: string | undefined, tools: readonly FunctionTool[]): number {
  const chars = tools.reduce((sum, tool) => sum + toolChars(tool), instructions?.length ?? 0)
  return Math.ceil(chars / CHARS_PER_TOKEN)
}

const schemaChars = new WeakMap<object, number>()

function toolChars({ description = '', inputSchema, name }: FunctionTool): number {
  const known = schemaChars.get(inputSchema)
  const chars = known ?? JSON.stringify(inputSchema).length
  if (known === undefined) schemaChars.set(inputSchema, chars)
  return chars + name.length + description.length
}

type FunctionTool = Extract<NonNullable<LanguageModelV4CallOptions['tools']>[number], { type: 'function' }>

function functionTool(tool: HostTool): FunctionTool {
  return {
    type: 'function',
    name: tool.name,
    inputSchema: wellFormedSchema(tool.inputSchema),
    ...(tool.description === undefined ? {} : { description: wellFormed(tool.description) }),
  }
}

const schemas = new WeakMap<object, HostTool['inputSchema']>()

/** A schema is the same in every step, so it is looked through once. */
function wellFormedSchema(schema: HostTool['inputSchema']): HostTool['inputSchema'] {
  const known = schemas.get(schema)
  if (known !== undefined) return known
  const repaired = wellFormed(schema)
  schemas.set(schema, repaired)
  return repaired
}

/** The levels a model call can be given. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const

function reasoningOf(effort: Effort): (typeof EFFORTS)[number] {
  checkEffort('A model call', effort, EFFORTS)
  return effort === 'max' ? 'xhigh' : effort
}

/** Merges provider options; later ones override earlier ones. */
function providerOptions(...given: readonly (JsonObject | undefined)[]): { providerOptions?: SharedV4ProviderOptions } {
  const merged: { [provider: string]: JsonObject } = {}
  for (const options of given) {
    for (const [provider, values] of Object.entries(options ?? {})) {
      merged[provider] = { ...merged[provider], ...(values as JsonObject) }
    }
  }
  return Object.keys(merged).length === 0 ? {} : { providerOptions: merged }
}
