import assert from 'node:assert/strict'
import { setImmediate as nextTask } from 'node:timers/promises'
import { suite, test } from 'node:test'
import { InspanError } from '@inspan/protocol'
import type { Append, Fence } from '@inspan/protocol/store'
import { MemoryStore } from '@inspan/stores'
import { ForeignAgent, runs, says, type Act } from '../foreign-agent.fixture.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import { ThreadRuntime } from '../thread-runtime.ts'

const isFull = (error: unknown): boolean => InspanError.is(error, 'disk-full')

/** A store whose disk is full on demand. */
class FullStore extends MemoryStore {
  /** The type of record whose writes fail. */
  full: string | undefined
  isReleaseRefused = false

  override async append(append: Append): Promise<number> {
    if (append.records.some(({ body }) => body.type === this.full)) {
      throw new InspanError('disk-full', 'There is no place left for it.')
    }
    return super.append(append)
  }

  override async release(stream: string, fence: Fence): Promise<void> {
    if (this.isReleaseRefused) throw new InspanError('disk-full', 'There is no place left for it.')
    return super.release(stream, fence)
  }
}

/** Works until it is stopped. */
function busy(): { readonly act: Act; readonly begun: Promise<void> } {
  const begun = Promise.withResolvers<void>()
  const act: Act = async function* () {
    yield { type: 'step-start', stepIndex: 0 }
    begun.resolve()
    await new Promise(() => undefined)
  }
  return { act, begun: begun.promise }
}

async function opens(store: FullStore, driver: ForeignAgent, owner?: ProcessOwner): Promise<ThreadRuntime> {
  const by = owner ?? (await ProcessOwner.register(store))
  const runtime = await ThreadRuntime.open({ store, owner: by, thread: 'thread', agents: { cli: { driver } } })
  return runtime
}

suite('a thread that is closed', () => {
  test('lets go also of who waits for it to be idle', async () => {
    const work = busy()
    await using bench = await RuntimeBench.open({ cli: { driver: new ForeignAgent('cli', [work.act]) } })
    await bench.submit('Go.', { agentId: 'cli' })
    await work.begun
    const idle = bench.runtime.idle()
    // By now `idle` waits for the run.
    for (let task = 0; task < 5; task++) await nextTask()
    await bench.runtime.close()
    await idle
  })

  test('is free for others also when the end of its run finds no place, which is reported', async () => {
    const store = new FullStore()
    const work = busy()
    const agent = new ForeignAgent('cli', [work.act, says('Hello.')])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } }, { store })
    await bench.submit('Go.', { agentId: 'cli' })
    await work.begun
    store.full = 'run.ended'
    await assert.rejects(bench.runtime.close(), isFull)
    assert.equal(agent.closed, agent.opened)
    store.full = undefined
    const other = await opens(store, agent)
    assert.equal(other.state.head.run, null)
    await other.close()
  })

  test('is free for others also when the last that was shown finds no place', async () => {
    const store = new FullStore()
    const agent: ForeignAgent = new ForeignAgent('cli', [runs(() => agent, 'ls')])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } }, { store })
    // The record is written by `close` or, if that comes later than the next tick of the log, by the tick.
    const failures: unknown[] = []
    bench.runtime.onLost(({ error }) => failures.push(error))
    store.full = 'run.parked'
    await bench.submit('Go.', { agentId: 'cli' })
    await bench.wait()
    await bench.runtime.idle()
    await bench.runtime.close().catch((error: unknown) => failures.push(error))
    assert.ok(failures.length > 0 && failures.every(isFull), String(failures))
    store.full = undefined
    const other = await opens(store, agent)
    assert.equal(other.state.head.waits.size, 1)
    await other.close()
  })

  test('can be opened again by who had it, also when it could not be given back', async () => {
    const store = new FullStore()
    const agent = new ForeignAgent('cli', [])
    await using bench = await RuntimeBench.open({}, { store })
    await bench.runtime.close()
    const owner = await ProcessOwner.register(store)
    const first = await opens(store, agent, owner)
    store.isReleaseRefused = true
    await assert.rejects(first.close(), isFull)
    store.isReleaseRefused = false
    const second = await opens(store, agent, owner)
    await second.close()
    await owner.close()
  })
})

suite('a thread that was taken', () => {
  test('a thread that cannot be opened is free for others, as before', async () => {
    const store = new FullStore()
    const agent: ForeignAgent = new ForeignAgent('cli', [runs(() => agent, 'ls'), says('Hello.')])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } }, { store })
    await bench.submit('Go.', { agentId: 'cli' })
    await bench.wait()
    store.full = 'turn.ended'
    await assert.rejects(bench.restart(), isFull)
    store.full = undefined
    const other = await opens(store, agent)
    assert.equal(other.state.head.waits.size, 1)
    await other.close()
  })

  test('a thread that was released and cannot be opened is tried again with the next command', async () => {
    const store = new FullStore()
    const agent: ForeignAgent = new ForeignAgent('cli', [says('Hello.')])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } }, { store, passivateAfter: 0 })
    await bench.until(() => !bench.runtime.isHeld)
    const other = await opens(store, new ForeignAgent('cli', [busy().act]))
    await other.submit({ agentId: 'cli', parts: [{ id: '0', type: 'text', text: 'Go.' }] })
    // The other process dies.
    const status = await store.getStream('thread')
    const dead = { owner: status?.owner ?? '', epoch: status?.epoch ?? 0 }
    await store.release('thread', dead)
    store.full = 'run.ended'
    await assert.rejects(bench.runtime.configure({ yolo: true }), isFull)
    assert.equal(bench.runtime.isHeld, false)
    store.full = undefined
    await bench.runtime.configure({ yolo: true })
    assert.equal(bench.runtime.state.head.run, null)
    await other.close().catch(() => undefined)
  })

  test('a thread that cannot be released when there is nothing to do can still be used', async () => {
    const store = new FullStore()
    await using bench = await RuntimeBench.open({}, { store, passivateAfter: 0 })
    store.isReleaseRefused = true
    await bench.until(() => !bench.runtime.isHeld)
    await bench.runtime.configure({ yolo: true })
    store.isReleaseRefused = false
    assert.equal(bench.runtime.state.head.yolo, true)
  })
})
