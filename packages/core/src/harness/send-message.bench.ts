/**
 * Measures `sendMessage` with a listener that reads the display state whenever it changes, relative to the bare engine,
 * which is the least a harness can cost, and relative to `streamText` with the same scripted model.
 */
import { Agent, nativeDriver } from '@inspan/agent'
import { MemoryStore } from '@inspan/stores'
import { compare, report, scriptedModel } from '@inspan/testing'
import { streamText } from 'ai'
import { createThread, ProcessOwner, ThreadRuntime } from '../engine/index.ts'
import { Harness } from './harness.ts'
import type { Session } from './session.ts'
import type { ThreadPort } from './signals/thread-port.ts'
import { builtinTools } from './tools/builtin-tools.ts'

type Model = ReturnType<typeof scriptedModel>

/** A model that says the same at every call. */
function speaker(deltas: number): Model {
  return scriptedModel([{ text: Array.from({ length: deltas }, (_, i) => `word${i % 10} `), repeat: true }])
}

async function bare(model: Model, deltas: number): Promise<number> {
  const result = streamText({ model, prompt: 'Go.' })
  for await (const part of result.fullStream) if (part.type === 'error') throw part.error
  return deltas
}

/** Opens this many threads before anything is measured; each call sends one message to the next of them. */
async function engine(rounds: number, model: Model, deltas: number): Promise<Speech> {
  const store = new MemoryStore()
  const owner = await ProcessOwner.register(store)
  const driver = nativeDriver({ id: 'native', model })
  const open: ThreadRuntime[] = []
  for (let n = 0; n < rounds; n++) {
    const { id } = await createThread(store, { resourceId: 'bench' })
    // With the same tools: describing them to a model is not a cost of the harness.
    const tools = builtinTools({ port: OUT_OF_USE, modes: { planTarget: () => '', switchMode: async () => undefined } })
    open.push(await ThreadRuntime.open({ store, owner, thread: id, agents: { native: { driver, tools } } }))
  }
  const left = [...open]
  return {
    say: async () => {
      const runtime = next(left)
      let seen = 0
      runtime.onEntry((entry) => {
        if (entry.kind === 'delta') seen++
      })
      await (
        await runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Go.' }] })
      ).done
      if (seen < deltas) throw new Error('deltas were lost')
      return deltas
    },
    close: async () => {
      for (const runtime of open) await runtime.close()
      await owner.close()
      await store.close()
    },
  }
}

async function harness(rounds: number, model: Model, deltas: number): Promise<Speech> {
  const made = new Harness({ id: 'bench', agent: new Agent({ id: 'agent', model }), modes: [{ id: 'chat' }] })
  const left: Session[] = []
  for (let n = 0; n < rounds; n++) {
    const session = await made.createSession({ resourceId: `r${n}` })
    await session.thread.create()
    left.push(session)
  }
  return {
    say: async () => {
      const session = next(left)
      let updates = 0
      let reads = 0
      session.subscribe((event) => {
        if (event.type === 'message_update') updates++
        if (event.type === 'display_state_changed') reads += session.displayState.get().activeTools.size + 1
      })
      await session.sendMessage({ content: 'Go.' })
      if (updates < deltas || reads === 0) throw new Error('events were lost')
      return deltas
    },
    close: () => made.destroy(),
  }
}

/** Nobody calls the tools here. */
const OUT_OF_USE = {} as ThreadPort

interface Speech {
  readonly say: () => Promise<number>
  readonly close: () => Promise<void>
}

function next<T>(left: T[]): T {
  const one = left.pop()
  if (one === undefined) throw new Error('There are too few of them.')
  return one
}

for (const deltas of [100, 1_000, 10_000]) {
  // The best round counts. Short rounds need many, until one is undisturbed on both sides.
  const rounds = deltas === 10_000 ? 40 : deltas === 1_000 ? 120 : 300
  const model = speaker(deltas)
  for (const [name, limit] of [
    ['the bare engine', 1.5],
    // The fixed cost of a turn weighs more in a short one.
    ['streamText', deltas === 100 ? 0.75 : 0.4],
  ] as const) {
    const ours = await harness(rounds + 1, model, deltas)
    const floor =
      name === 'streamText'
        ? { say: () => bare(model, deltas), close: async () => undefined }
        : await engine(rounds + 1, model, deltas)
    report(
      await compare({
        name: `sendMessage of ${deltas} deltas relative to ${name}`,
        limit,
        unit: 'µs CPU',
        clock: 'cpu',
        floor: floor.say,
        ours: ours.say,
        rounds,
      }),
    )
    await ours.close()
    await floor.close()
  }
}
