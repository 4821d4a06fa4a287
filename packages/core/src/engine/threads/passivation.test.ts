import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import type { Store } from '@inspan/protocol/store'
import { MemoryStore, SqliteStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { timeOrderedId } from '../../common/time-ordered-id.ts'
import { admitCommand } from '../commands/ledger.ts'
import { ProcessOwner } from './ownership.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { createThread } from './threads.ts'

const ran: string[] = []
const write: RunnableTool = {
  name: 'write',
  inputSchema: { type: 'object' },
  execute: async (input) => {
    ran.push(JSON.stringify(input))
    return { result: 'written' }
  },
}
const writing = (id: string): { driver: ReturnType<typeof nativeDriver>; tools: RunnableTool[] } => ({
  driver: nativeDriver({
    id: 'native',
    model: scriptedModel([{ toolCalls: [{ id: 'c', name: 'write', input: { id } }] }, { text: `Done ${id}.` }]),
  }),
  tools: [write],
})
const owner = async (bench: RuntimeBench): Promise<string | null | undefined> =>
  (await bench.store.getStream('thread'))?.owner

suite('a thread with nothing to do', () => {
  test('belongs to nobody after a while, and to whoever uses it next', async () => {
    await using bench = await RuntimeBench.open({ native: writing('x') }, { passivateAfter: 1 })
    await bench.until(() => !bench.runtime.isHeld)
    assert.equal(await owner(bench), null)
    await bench.runtime.configure({ title: 'Mine' })
    assert.ok(bench.runtime.isHeld)
    assert.equal(bench.runtime.state.head.title, 'Mine')
  })

  test('carries out what other processes left for it, when it is used next', async () => {
    await using bench = await RuntimeBench.open({ native: writing('x') }, { passivateAfter: 1 })
    await bench.until(() => !bench.runtime.isHeld)
    const key = { principal: 'ann', clientId: 'page', commandId: timeOrderedId() }
    const command = { type: 'mode', mode: 'plan' } as const
    await admitCommand(bench.store, { command, key, target: 'thread', at: Date.now() })
    await bench.runtime.configure({ title: 'Mine' })
    await bench.until(() => bench.runtime.state.head.mode === 'plan')
    await bench.runtime.stateInTurn()
    assert.equal((await bench.store.getCommand(key))?.state, 'done')
  })

  test('a thread that only waits belongs to nobody; who answers it owns it, and who started it learns the end', async () => {
    ran.length = 0
    await using bench = await RuntimeBench.open({ native: writing('x') }, { passivateAfter: 1 })
    const handle = await bench.submit('go', { agentId: 'native' })
    const wait = await bench.wait()
    await bench.until(() => !bench.runtime.isHeld)
    assert.equal(await owner(bench), null)
    assert.equal(bench.runtime.run, undefined)
    assert.equal(bench.runtime.state.head.run?.status, 'parked', 'what is known of it can still be read')
    await bench.runtime.answer(wait.id, { decision: 'approve' })
    assert.equal(await handle.done, 'complete')
    assert.deepEqual(ran, ['{"id":"x"}'])
  })

  test('shows its listeners what another process did in it, in order and without a gap', async () => {
    await using bench = await RuntimeBench.open({ native: writing('x') }, { passivateAfter: 1 })
    const seqs: number[] = []
    bench.runtime.onEntry((entry) => entry.kind === 'record' && seqs.push(entry.record.seq))
    const frames: number[] = []
    bench.runtime.onFrame(({ seq }) => frames.push(seq))
    await bench.until(() => !bench.runtime.isHeld)
    const here = bench.runtime
    await bench.restart({ passivateAfter: 1 })
    await bench.runtime.configure({ title: 'Theirs' })
    await bench.until(() => !bench.runtime.isHeld)
    await here.configure({ mode: 'build' })
    assert.equal(here.state.head.title, 'Theirs')
    assert.deepEqual(seqs, [1, 2])
    assert.deepEqual(frames, [1, 2])
  })

  test('can be closed, and be opened again by the same process', async () => {
    await using bench = await RuntimeBench.open({ native: writing('x') }, { passivateAfter: 1 })
    await bench.until(() => !bench.runtime.isHeld)
    await bench.runtime.close()
    await assert.rejects(bench.runtime.configure({ mode: 'x' }), (error) => InspanError.is(error, 'closed'))
  })

  test('a thread with nothing to do that somebody else uses reports that when it is wanted back', async () => {
    const busy = nativeDriver({ id: 'busy', model: scriptedModel([{ text: 'Half', hang: true }]) })
    await using bench = await RuntimeBench.open({ busy: { driver: busy } }, { passivateAfter: 1 })
    await bench.until(() => !bench.runtime.isHeld)
    const here = bench.runtime
    await bench.restart({ passivateAfter: 60_000 })
    await bench.submit('go', { agentId: 'busy' })
    await assert.rejects(here.configure({ mode: 'x' }), (error) => InspanError.is(error, 'held'))
    await bench.runtime.close()
    await here.configure({ mode: 'x' })
    assert.equal(here.state.head.mode, 'x')
  })

  test('is given to another owner of the process that wants it, at once', async () => {
    await using bench = await RuntimeBench.open({ native: writing('x') }, { passivateAfter: 60_000 })
    const owner = await ProcessOwner.register(bench.store)
    const fence = await owner.claim('thread')
    assert.ok(!bench.runtime.isHeld)
    // An owner without a runtime cannot be asked to release the thread, so the command is refused.
    await assert.rejects(bench.runtime.configure({ mode: 'x' }), (error) => InspanError.is(error, 'held'))
    await owner.release('thread', fence)
    await bench.runtime.configure({ mode: 'x' })
    assert.ok(bench.runtime.isHeld)
    await owner.close()
  })
})

suite('1,000 loaded threads in one process', () => {
  const COUNT = 1000

  async function play(store: Store): Promise<void> {
    ran.length = 0
    const before = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const process_ = await ProcessOwner.register(store)
    const ids = Array.from({ length: COUNT }, (_, index) => `t${index}`)
    const runtimes = await Promise.all(
      ids.map(async (thread) => {
        await createThread(store, { id: thread, resourceId: 'test' })
        return ThreadRuntime.open({
          store,
          owner: process_,
          thread,
          agents: { native: writing(thread) },
          decide: () => ({ policy: 'ask', reason: 'so' }),
          passivateAfter: 1,
        })
      }),
    )
    const handles = await Promise.all(
      runtimes.map((runtime, index) =>
        runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: `Go ${index}` }] }),
      ),
    )
    await Promise.all(runtimes.map((runtime) => runtime.idle()))
    while (runtimes.some((runtime) => runtime.isHeld)) await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual((await store.listOwned({ owner: process_.id })).items, [], 'all wait, and belong to nobody')

    await Promise.all(
      runtimes.map(async (runtime) => {
        const [wait] = [...runtime.state.head.waits]
        assert.ok(wait)
        await runtime.answer(wait.id, { decision: 'approve' })
      }),
    )
    const outcomes = await Promise.all(handles.map(({ done }) => done))
    assert.deepEqual(new Set(outcomes), new Set(['complete']))
    assert.deepEqual(new Set(ran), new Set(ids.map((id) => JSON.stringify({ id }))))
    assert.equal(ran.length, COUNT, 'each tool ran once')
    for (const [index, runtime] of runtimes.entries()) {
      const { items } = await store.listMessages(runtime.state.head.lineage, { order: 'oldest' })
      const said = JSON.stringify(items)
      assert.ok(said.includes(`Go ${index}`) && said.includes(`Done t${index}.`), `thread ${index} has its own words`)
      assert.equal(items.length, 3)
    }
    await Promise.all(runtimes.map((runtime) => runtime.close()))
    await process_.close()
    const after = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    assert.ok(after <= before, 'no timer is left')
  }

  test('wait, are answered and end, each by itself, in memory', { timeout: 280_000 }, async () => {
    const store = new MemoryStore()
    await play(store)
    await store.close()
  })

  test('wait, are answered and end, each by itself, in SQLite', { timeout: 280_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-threads-'))
    const store = new SqliteStore({ url: join(folder, 'data.db') })
    try {
      await play(store)
    } finally {
      await store.close()
      await rm(folder, { recursive: true })
    }
  })
})
