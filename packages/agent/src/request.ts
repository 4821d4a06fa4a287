import type { LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { JsonObject, JsonValue, StepRequest, StoredMessage } from '@inspan/protocol'
import { checkEffort, type Effort, type Host, type HostTool, type Turn } from '@inspan/protocol/driver'
import { resolveDynamic, type AgentContext } from './agent-context.ts'
import { withoutBlankTexts } from './blank-texts.ts'
import { withCacheMarkers } from './cache-markers.ts'
import type { LanguageModel } from './language-model.ts'
import { withReachableFiles } from './linked-files.ts'
import type { NativeDriverOptions } from './native-driver.ts'
import { inWordsOf } from './older-models.ts'
import { toPrompt } from './prompt.ts'
import { resolveModel } from './resolve-model.ts'
import { responseFormat } from './structured-output.ts'

/** A request to the model, and the part of it that is recorded. */
export interface PreparedRequest {
  readonly model: LanguageModel
  readonly options: LanguageModelV4CallOptions
  readonly recorded: StepRequest
}

/** Builds the request of a step from the current settings and the conversation in the log. */
export async function prepareRequest(
  options: NativeDriverOptions,
  turn: Turn,
  host: Host,
  context: AgentContext,
): Promise<PreparedRequest> {
  const current = { ...turn, ...(await host.turn()) }
  const named = current.model ?? (await resolveDynamic(options.model, context))
  const model = await resolveModel(named, options.resolveModel)
  const given = current.instructions ?? (await resolveDynamic(options.instructions, context))
  const instructions = given === undefined ? undefined : host.redact(given)
  const messages: StoredMessage[] = []
  for await (const message of host.history({ order: 'oldest' })) messages.push(message)
  const tools = host.listTools().map(functionTool)
  const output = turn.output ?? options.output
  const request: LanguageModelV4CallOptions = {
    prompt: withoutBlankTexts(model, await withReachableFiles(model, toPrompt(instructions, messages, options.id))),
    ...options.settings,
    ...(current.effort === undefined ? {} : { reasoning: reasoningOf(current.effort) }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(tools.length === 0 || options.toolChoice === undefined ? {} : { toolChoice: options.toolChoice }),
    ...(output === undefined ? {} : { responseFormat: responseFormat(output) }),
    ...providerOptions(options.providerOptions, current.providerOptions),
  }
  // Forks share this id with their parent, like the messages.
  const conversation = messages[0]?.id
  return {
    model,
    options: inWordsOf(
      model,
      options.cache === false ? request : withCacheMarkers(request, model.provider, conversation),
    ),
    recorded: {
      model: typeof named === 'string' ? named : `${model.provider.split('.', 1)[0] ?? ''}/${model.modelId}`,
      ...(instructions === undefined ? {} : { system: instructions }),
      ...(tools.length === 0 ? {} : { tools: tools as unknown as JsonValue }),
    },
  }
}

type FunctionTool = Extract<NonNullable<LanguageModelV4CallOptions['tools']>[number], { type: 'function' }>

function functionTool(tool: HostTool): FunctionTool {
  return {
    type: 'function',
    name: tool.name,
    inputSchema: tool.inputSchema,
    ...(tool.description === undefined ? {} : { description: tool.description }),
  }
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
