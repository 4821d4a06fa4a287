import type { AgentHarness, HarnessFactory, WithAgentConfig } from '@inspan/protocol/chat'
import { Agent, type LanguageModel, type LoopHooks, type RetryOptions, type ToolsInput } from '@inspan/core'
import { askModel, runtimeAgent } from '@inspan/core/engine'
import type { EngineAgentConfig } from '../engine/agent-config.ts'
import type { EngineSetup, MadeAgent } from '../engine/engine-agent.ts'
import { EngineHarness, type EngineOptions, type WireBus } from '../engine/engine-harness.ts'
import { selectModel } from '../models/models.ts'
import { loadModel } from './load-model.ts'
import { observedModel } from './observed-model.ts'

export interface NativeHarnessOptions extends EngineOptions {
  /** The model of all agents. Default: the one that their config names, made with its provider's package. */
  readonly model?: LanguageModel
  /** How requests reach providers, e.g. through a proxy. Default: `fetch`. Not for a `model` that was given. */
  readonly fetch?: typeof fetch
  /** Tools that run in this process, for all agents. */
  readonly tools?: ToolsInput
  /** How often a model is asked again after a failure. */
  readonly retry?: RetryOptions
}

/** The harness of our own model loop. */
export type NativeAgentHarness = AgentHarness & EngineHarness & WithAgentConfig<EngineAgentConfig>

/** Agents on any model of the AI SDK, with tools that run in this process. */
export class NativeHarnessFactory implements HarnessFactory<NativeAgentHarness> {
  readonly protocolVersion = 1
  readonly #options: NativeHarnessOptions

  constructor(options: NativeHarnessOptions = {}) {
    this.#options = options
  }

  create(storageRootFolder: string): Promise<NativeAgentHarness> {
    const { fetch: request, model, retry, tools, ...engine } = this.#options
    return EngineHarness.open({
      ...engine,
      id: 'native',
      storageRootFolder,
      makeAgent: (setup, wire) => nativeAgent(setup, wire, { fetch: request, model, retry, tools }),
    })
  }
}

type NativeParts = { readonly [Key in 'fetch' | 'model' | 'retry' | 'tools']: NativeHarnessOptions[Key] | undefined }

function nativeAgent(setup: EngineSetup, wire: WireBus, parts: NativeParts): MadeAgent {
  const { agentId, config, connectivity } = setup
  const { fetch: request, model, retry, tools } = parts
  const made = new Map<string, Promise<LanguageModel>>()
  const modelNamed = (name: string | undefined): Promise<LanguageModel> => {
    const wanted = name === undefined ? connectivity.model : selectModel(name)
    const known = made.get(wanted.id) ?? loadModel({ ...connectivity, model: wanted }, request)
    made.set(wanted.id, known)
    // A failure may pass: it is not kept.
    known.catch(() => made.delete(wanted.id))
    return known
  }
  const chosenModel = async (named: string | undefined, sessionId: string): Promise<LanguageModel> => {
    const chosen = model !== undefined && named === undefined ? model : await modelNamed(named)
    return observedModel(chosen, { wire, agentId, sessionId })
  }
  const agent = new Agent({
    id: agentId,
    ...(config.name === undefined ? {} : { name: config.name }),
    ...(retry === undefined ? {} : { retry }),
    ...(tools === undefined ? {} : { tools }),
    hooks: hooksOf(setup),
    model: ({ requestContext, threadId }) => {
      const { model: named } = (requestContext.get('chat') ?? {}) as { model?: string }
      return chosenModel(named, threadId)
    },
  })
  return {
    runtimeAgent: runtimeAgent(agent),
    ask: async (threadId, system, prompt, signal) =>
      askModel(await chosenModel(undefined, threadId), system, prompt, signal),
  }
}

/** Lets the host replace results before the model, the events and the history get them. */
function hooksOf({ hooks, log, serverToolOf }: EngineSetup): LoopHooks {
  if (hooks?.onToolResult === undefined) return {}
  return {
    afterTool: async ({ input, isError, result, toolCallId, toolName }) => {
      try {
        const { serverName } = serverToolOf(toolName) ?? {}
        const server = serverName === undefined ? {} : { serverName }
        const replaced = await hooks.onToolResult?.({ toolCallId, toolName, ...server, args: input, result, isError })
        return replaced === undefined ? undefined : { result: JSON.parse(JSON.stringify(replaced.result)), isError }
      } catch (error) {
        // The hook may have wanted to hide the result.
        log('error', 'The hook onToolResult failed, so the result was withheld.', { toolCallId, toolName, error })
        return { result: WITHHELD, isError: true }
      }
    },
  }
}

const WITHHELD = '[The result was withheld: it could not be checked for what must not be shown.]'
