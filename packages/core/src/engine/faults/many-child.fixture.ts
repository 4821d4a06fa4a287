/**
 * The process that `many.test.ts` measures: a million deltas through one thread, then ten thousand threads, one after the
 * other. Says what the heap held on the way, and ends by itself when nothing is left that keeps it alive.
 * Run as: node --expose-gc many-child.fixture.ts <database> <deltas> <threads>.
 */
import { nativeDriver } from '@inspan/agent'
import type { AgentEvent } from '@inspan/protocol'
import type { AgentDriver, AgentSession, Capabilities } from '@inspan/protocol/driver'
import { SqliteStore } from '@inspan/stores'
import { ProcessOwner } from '../threads/ownership.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { createThread } from '../threads/threads.ts'

const [url = '', deltas = '', threads = ''] = process.argv.slice(2)
const PER_TURN = 50_000
const parts = [{ id: '0', type: 'text', text: 'Go.' }] as const

const store = new SqliteStore({ url })
const owner = await ProcessOwner.register(store)

async function heapMb(): Promise<number> {
  // Twice, with time for finalizers in between.
  for (const _time of [1, 2]) {
    globalThis.gc?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return process.memoryUsage().heapUsed / 2 ** 20
}

/** An agent that keeps nothing: a scripted model would keep its requests. */
class SpeakerDriver implements AgentDriver {
  readonly port = 1
  readonly id = 'speaker'
  readonly #words: number

  constructor(words: number) {
    this.#words = words
  }

  describe(): Promise<Capabilities> {
    return nativeDriver({ id: 'speaker', model: 'none/none' }).describe()
  }

  async open(): Promise<AgentSession> {
    const words = this.#words
    return {
      async *run(): AsyncGenerator<AgentEvent> {
        yield { type: 'start' }
        yield { type: 'step-start', stepIndex: 0 }
        for (let index = 0; index < words; index++) yield { type: 'text-delta', text: `word${index % 10} ` }
        yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
        yield { type: 'finish', finishReason: 'stop' }
      },
      cancel: async () => ({ how: 'clean', calls: [], orphansKilled: 0, queued: [] }),
      close: async () => undefined,
    }
  }
}

async function longThread(): Promise<{ seen: number; before: number; after: number }> {
  await createThread(store, { id: 'long', resourceId: 'test' })
  const agents = { speaker: { driver: new SpeakerDriver(PER_TURN) } }
  const runtime = await ThreadRuntime.open({ store, owner, thread: 'long', agents })
  let seen = 0
  runtime.onEntry((entry) => {
    if (entry.kind === 'delta') seen++
  })
  const turn = async (): Promise<void> => void (await (await runtime.submit({ agentId: 'speaker', parts })).done)
  for (const _warm of [1, 2]) await turn()
  const before = await heapMb()
  while (seen < Number(deltas)) await turn()
  const after = await heapMb()
  await runtime.close()
  return { seen, before, after }
}

async function manyThreads(): Promise<{ before: number; after: number }> {
  const agents = { speaker: { driver: new SpeakerDriver(1) } }
  let before = 0
  for (let index = 0; index < Number(threads); index++) {
    const { id } = await createThread(store, { resourceId: 'test' })
    const runtime = await ThreadRuntime.open({ store, owner, thread: id, agents })
    runtime.onEntry(() => undefined)
    await (
      await runtime.submit({ agentId: 'speaker', parts })
    ).done
    await runtime.close()
    if (index === Math.floor(Number(threads) / 10)) before = await heapMb()
  }
  return { before, after: await heapMb() }
}

const long = await longThread()
const many = await manyThreads()
await owner.close()
await store.close()
const timers = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout' || kind === 'Immediate')
console.log(JSON.stringify({ long, many, timers }))
