import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import { InspanError, NO_RULES } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import { scriptedModel } from '@inspan/testing'
import { createPolicy } from '../../policy/index.ts'
import { MemoryStore } from '../../stores/memory-store.ts'
import { boundaryAt } from '../threads/boundaries.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { DESCRIBE_WITHIN_MS } from '../turns/patiently.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { createThread, forkThread } from '../threads/threads.ts'

/** Threads of one store whose agent calls a tool without any rule or grant. */
class Office implements AsyncDisposable {
  readonly store = new MemoryStore()
  readonly journal: string[] = []
  readonly #left: ThreadRuntime[] = []
  readonly #owners: ProcessOwner[] = []

  async process(): Promise<ProcessOwner> {
    const owner = await ProcessOwner.register(this.store)
    this.#owners.push(owner)
    return owner
  }

  async open(owner: ProcessOwner, thread: string): Promise<ThreadRuntime> {
    const deploy: RunnableTool = {
      name: 'deploy',
      inputSchema: { type: 'object' },
      execute: async () => {
        this.journal.push(thread)
        return { result: 'out' }
      },
    }
    const script = [{ toolCalls: [{ name: 'deploy' }] }, { text: 'Done.' }]
    const driver = nativeDriver({ id: 'native', model: scriptedModel([...script, ...script, ...script]) })
    const policy = createPolicy({ rules: NO_RULES })
    const agents = { native: { driver, tools: [deploy] } }
    const runtime = await ThreadRuntime.open({ store: this.store, owner, thread, agents, policy })
    this.#left.push(runtime)
    return runtime
  }

  /** Whether a call of the tool asks for approval. */
  async asks(runtime: ThreadRuntime): Promise<boolean> {
    await runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Deploy.' }] })
    await runtime.idle()
    return runtime.state.head.waits.size > 0
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const runtime of this.#left) await runtime.close()
    for (const owner of this.#owners) await owner.close()
    await this.store.close()
  }
}

suite('an "always" that was said in one thread', () => {
  test('holds there, also in another process, and neither in a fork nor in a thread of anybody else', async () => {
    await using office = new Office()
    const here = await office.process()
    await createThread(office.store, { id: 'mine', resourceId: 'ann' })
    await createThread(office.store, { id: 'mine-too', resourceId: 'ann' })
    await createThread(office.store, { id: 'of-another', resourceId: 'bob' })
    const mine = await office.open(here, 'mine')
    assert.equal(await office.asks(mine), true)
    const [wait] = [...mine.state.head.waits]
    await mine.answer(wait?.id ?? '', { decision: 'approve', remember: 'tool' })
    await mine.idle()
    assert.equal(await office.asks(mine), false)

    for (const other of ['mine-too', 'of-another']) {
      assert.equal(await office.asks(await office.open(here, other)), true, other)
    }
    const at = await boundaryAt(office.store, mine.state.head.lineage, mine.state.head.seq)
    await forkThread(office.store, here, mine.state, { id: 'fork', resourceId: 'ann', at })
    assert.equal(await office.asks(await office.open(here, 'fork')), true, 'fork')

    await mine.close()
    assert.equal(await office.asks(await office.open(await office.process(), 'mine')), false, 'it was stored so')
    assert.deepEqual(office.journal, ['mine', 'mine', 'mine'])
  })
})

suite('an "always" that is said when nothing of the run is at work', () => {
  test('is refused, and the question stays, when the agent does not say in time what tools it has', async (t) => {
    const asked = Promise.withResolvers<void>()
    let isSilent = false
    const deploy: RunnableTool = {
      name: 'deploy',
      inputSchema: { type: 'object' },
      execute: async () => ({ result: 'out' }),
    }
    const tools = (): Promise<readonly RunnableTool[]> => {
      if (!isSilent) return Promise.resolve([deploy])
      asked.resolve()
      return new Promise(() => undefined)
    }
    const model = scriptedModel([{ toolCalls: [{ name: 'deploy' }] }, { text: 'Done.' }])
    await using bench = await RuntimeBench.open({ native: { driver: nativeDriver({ id: 'native', model }), tools } })
    await bench.submit('Deploy.', { agentId: 'native' })
    const { id } = await bench.wait()
    await bench.runtime.idle()
    await bench.restart()
    isSilent = true
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const refused = assert.rejects(bench.runtime.answer(id, { decision: 'approve', remember: 'tool' }), (error) => {
      assert.ok(InspanError.is(error, 'io'))
      assert.match(error.message, /"native" did not say in time which tools it has/)
      return true
    })
    await asked.promise
    t.mock.timers.tick(DESCRIBE_WITHIN_MS)
    await refused
    t.mock.timers.reset()
    assert.ok(bench.runtime.state.head.waits.has(id))
    isSilent = false
    await bench.runtime.answer(id, { decision: 'approve', remember: 'tool' })
    await bench.runtime.idle()
    assert.equal(bench.runtime.state.head.lastRun?.outcome, 'complete')
    assert.deepEqual(bench.runtime.state.head.grants.tools, ['deploy'])
  })
})
