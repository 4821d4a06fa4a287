import { Agent, type AgentOptions } from '@inspan/agent'
import { Memory, type MemoryOptions } from '@inspan/memory'
import type { HarnessEvent, HarnessEventType } from '@inspan/protocol/harness'
import type { Store } from '@inspan/protocol/store'
import { MemoryStore } from '@inspan/stores'
import { scriptedModel, type ModelRequest, type Script, type ScriptedModel } from '@inspan/testing'
import { Harness } from './harness.ts'
import type { HarnessConfig } from './harness-config.ts'

export const WINDOW = 8000

/** About 400 tokens. */
export const LONG: string = 'The quick brown fox jumps over the lazy dog. '.repeat(36)

export const NOTES = `<observations>\n- The user likes foxes.\n</observations>\n<current-task>Count foxes.</current-task>\n<suggested-response>Go on counting.</suggested-response>`

export interface MemoryBench extends AsyncDisposable {
  readonly harness: Harness
  readonly memory: Memory
  readonly model: ScriptedModel
  readonly events: HarnessEvent[]
  readonly threadId: string
  readonly storage: Store
  /** Sends messages of about 400 tokens, and waits for the memory after each. */
  say(turns: number): Promise<void>
  /** The `om_*` events without those of the status, which come before every step. */
  om(): HarnessEvent[]
  all<Type extends HarnessEventType>(type: Type): Extract<HarnessEvent, { type: Type }>[]
}

export interface MemoryBenchOptions {
  readonly script?: Script<ModelRequest>
  readonly isWindowKnown?: boolean
  readonly storage?: Store
  readonly agent?: Partial<AgentOptions>
  readonly config?: Partial<HarnessConfig>
}

/** A harness with a memory and a model whose window is small. */
export async function openMemoryBench(options: MemoryOptions, more: MemoryBenchOptions = {}): Promise<MemoryBench> {
  const { agent = {}, config = {}, isWindowKnown = true, script = [{ text: 'Noted.', repeat: true }] } = more
  const model = scriptedModel(script, { contextWindow: WINDOW })
  const storage = more.storage ?? new MemoryStore()
  const memory = new Memory(options)
  const harness = new Harness({
    id: 'test',
    storage,
    memory,
    agent: new Agent({ id: 'agent', model, ...agent }),
    modes: [{ id: 'chat' }],
    customModelCatalogProvider: () => (isWindowKnown ? [{ id: 'scripted/scripted-model', contextWindow: WINDOW }] : []),
    disableBuiltinTools: ['ask_user', 'submit_plan', 'task_write', 'task_update', 'task_complete', 'task_check'],
    ...config,
  })
  const events: HarnessEvent[] = []
  harness.subscribe((event) => void events.push(event))
  await harness.init()
  const { id: threadId } = await harness.selectOrCreateThread()
  return {
    harness,
    memory,
    model,
    events,
    threadId,
    storage,
    say: async (turns) => {
      for (let turn = 0; turn < turns; turn++) {
        await harness.sendMessage({ content: `${turn}: ${LONG}` })
        await memory.settled(harness.session.thread.requireId())
      }
    },
    om: () => events.filter(({ type }) => type.startsWith('om_') && type !== 'om_status'),
    all: <Type extends HarnessEventType>(type: Type) =>
      events.filter((event): event is Extract<HarnessEvent, { type: Type }> => event.type === type),
    [Symbol.asyncDispose]: async () => {
      await harness.destroy()
      if (more.storage === undefined) await storage.close()
    },
  }
}

/** Options of an observational memory with a small threshold. */
export function observing(observer: ScriptedModel, more: object = {}, ofObservation: object = {}): MemoryOptions {
  const observation = { messageTokens: 2000, model: observer, ...ofObservation }
  return { observationalMemory: { observation, ...more } }
}
