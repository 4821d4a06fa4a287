/** What a parked thread keeps in memory: found by what the garbage collector removes, not by the size of the heap. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setImmediate as nextTask } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { nativeDriver } from '@inspan/agent'
import { NO_RULES } from '@inspan/protocol'
import type { AgentDriver, RunnableTool } from '@inspan/protocol/driver'
import { MemoryStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { createPolicy } from '../../policy/index.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { createThread } from '../threads/threads.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Objects that must be collected, by name. Held weakly, so that watching does not keep them. */
class Watched {
  readonly #refs: { readonly name: string; readonly ref: WeakRef<object> }[] = []

  add<T extends object>(name: string, object: T): T {
    this.#refs.push({ name, ref: new WeakRef(object) })
    return object
  }

  get left(): string[] {
    return this.#refs.filter(({ ref }) => ref.deref() !== undefined).map(({ name }) => name)
  }

  /** Returns what is left after garbage collection. Objects dereferenced in this task live until the next one. */
  async leftAfterCollection(): Promise<string[]> {
    for (let round = 0; round < 100 && this.left.length > 0; round++) {
      await nextTask()
      collectGarbage()
    }
    return this.left
  }
}

const write: RunnableTool = { name: 'write', inputSchema: { type: 'object' }, execute: async () => ({ result: 'ok' }) }

/** A driver whose sessions and their hosts are watched. */
function watchedDriver(watched: Watched): AgentDriver {
  const model = scriptedModel([{ toolCalls: [{ name: 'write', input: { text: 'x'.repeat(1000) } }], repeat: true }])
  const driver = nativeDriver({ id: 'native', model })
  return {
    ...driver,
    open: async (binding, host) => watched.add('session', await driver.open(binding, watched.add('host', host))),
  }
}

/** Opens a thread whose only call waits for an approval. */
async function parkedThread(
  store: MemoryStore,
  owner: ProcessOwner,
  watched: Watched,
  passivateAfter = 60_000,
): Promise<ThreadRuntime> {
  const { id } = await createThread(store, { resourceId: 'test' })
  const runtime = await ThreadRuntime.open({
    store,
    owner,
    thread: id,
    agents: { native: { driver: watchedDriver(watched), tools: [write] } },
    policy: createPolicy({ rules: NO_RULES }),
    passivateAfter,
  })
  await runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Go.' }] })
  await runtime.idle()
  assert.equal(runtime.state.head.run?.status, 'parked')
  return runtime
}

suite('a thread that waits for an answer', () => {
  test('leaves nothing in memory after it is closed', async () => {
    const store = new MemoryStore()
    const owner = await ProcessOwner.register(store)
    const watched = new Watched()
    const park = async (): Promise<void> => {
      const runtime = watched.add('runtime', await parkedThread(store, owner, watched))
      await runtime.close()
    }
    for (let n = 0; n < 20; n++) await park()
    assert.deepEqual(await watched.leftAfterCollection(), [])
    assert.equal((await store.listWaits({ state: 'pending' })).items.length, 20, 'and all of them keep waiting')
    await owner.close()
  })

  test('keeps its last state after it is released, and nothing of the turn', async () => {
    const store = new MemoryStore()
    const owner = await ProcessOwner.register(store)
    const watched = new Watched()
    const runtime = await parkedThread(store, owner, watched, 1)
    while (runtime.isHeld) await nextTask()
    assert.deepEqual(await watched.leftAfterCollection(), [])
    assert.equal(runtime.state.head.waits.size, 1)
    await runtime.close()
    await owner.close()
  })
})
