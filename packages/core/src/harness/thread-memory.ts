import { Agent, askModel, embedWith, resolveModel, type LanguageModel } from '@inspan/agent'
import { Memory, type MemoryModelInput } from '@inspan/memory'
import type { MemoryModel, MemoryServices, ThreadMemory } from '@inspan/protocol/driver'
import type { HarnessEvent } from '@inspan/protocol/harness'
import type { MemoryOf, ThreadRuntime } from '../engine/index.ts'
import type { HarnessAgent } from './harness-config.ts'
import type { HarnessCore } from './harness-core.ts'
import { MEMORY_SETTINGS, thresholdOf } from './observational-memory.ts'

/**
 * Returns what makes the memory of a thread, if the harness or one of its agents has a memory of ours. That of the agent
 * of the current mode wins.
 */
export function threadMemory(
  core: HarnessCore,
  runtime: () => ThreadRuntime | undefined,
  emit: (event: HarnessEvent) => void,
): MemoryOf | undefined {
  const { agents, config } = core
  const given = [config.memory, ...agents.all.map(memoryOf)].filter((memory) => memory instanceof Memory)
  if (given.length === 0) return undefined
  return (thread) => {
    const attached = new Map<unknown, ThreadMemory>()
    for (const memory of new Set(given)) {
      attached.set(memory, memory.attach(thread, servicesOf(core, memory, runtime, emit)))
    }
    const current = (): ThreadMemory | undefined => {
      const state = runtime()?.state
      const own = state === undefined ? undefined : memoryOf(agents.of(agents.modeOf(state)))
      return attached.get(own ?? config.memory)
    }
    return {
      get tools() {
        return current()?.tools ?? []
      },
      beforeStep: async () => current()?.beforeStep(),
      compact: async () => (await current()?.compact()) ?? false,
      close: () => attached.forEach((each) => each.close()),
    }
  }
}

function memoryOf(agent: HarnessAgent): object | undefined {
  return agent instanceof Agent ? agent.options.memory : undefined
}

function servicesOf(
  core: HarnessCore,
  memory: Memory,
  runtime: () => ThreadRuntime | undefined,
  emit: (event: HarnessEvent) => void,
): MemoryServices {
  const { omConfig } = core.config
  const embedder = typeof memory.options.recall === 'object' ? memory.options.recall.embedder : undefined
  const setting = (key: string): unknown => runtime()?.state.head.settings.get(key)
  return {
    ask: async (role, system, prompt, signal) => {
      const model = await modelOf(core, chosen(memory, role, setting, omConfig))
      return model === undefined ? undefined : askModel(model, system, prompt, signal)
    },
    threshold: (role) => thresholdOf(role, setting, omConfig),
    setTitle: async (title) => {
      const thread = runtime()
      const oldTitle = thread?.state.head.title ?? null
      if (thread === undefined || oldTitle === title) return undefined
      await thread.configure({ title })
      return { oldTitle }
    },
    ...(embedder === undefined ? {} : { embed: embedWith(embedder) }),
    emit,
    now: core.now,
    newId: core.newId,
  }
}

/** Returns the model of a role: the one switched to, the memory's, or the harness's default. */
function chosen(
  { options }: Memory,
  role: MemoryModel,
  setting: (key: string) => unknown,
  omConfig: HarnessCore['config']['omConfig'],
): MemoryModelInput | undefined {
  if (role === 'summariser') return options.compaction?.model
  const { model, modelOption } = MEMORY_SETTINGS[role]
  const switched = setting(model)
  if (typeof switched === 'string' && switched !== '') return switched
  const om = typeof options.observationalMemory === 'object' ? options.observationalMemory : {}
  const own = role === 'observer' ? om.observation?.model : om.reflection?.model
  return own ?? om.model ?? omConfig?.[modelOption]
}

async function modelOf(core: HarnessCore, model: MemoryModelInput | undefined): Promise<LanguageModel | undefined> {
  if (model === undefined) return undefined
  return typeof model === 'string'
    ? ((await core.models.resolve(model)) ?? resolveModel(model))
    : (model as LanguageModel)
}
