import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import type { LogRecord } from '@inspan/protocol/log'
import { MemoryStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import type { ModelScript } from '../agent-bench.fixture.ts'
import { recordsAfter } from '../log/load-state.ts'
import type { Door } from '../thread-options.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { ProcessOwner } from './ownership.ts'
import { readThread } from './read-thread.ts'
import { ThreadRegistry } from './thread-registry.ts'
import { createThread } from './threads.ts'

const GO = [{ id: '0', type: 'text', text: 'Go.' }] as const

function doorWith(script: ModelScript): Door {
  return { door: 'a', agents: { me: { driver: nativeDriver({ id: 'me', model: scriptedModel(script) }) } } }
}

function recordsOf(store: MemoryStore): Promise<LogRecord[]> {
  return Array.fromAsync(recordsAfter(store, 'thread', 0))
}

/** A thread whose process died in the middle of a run. */
async function interrupted(): Promise<{ store: MemoryStore; runId: string }> {
  const store = new MemoryStore()
  await createThread(store, { id: 'thread', resourceId: 'test' })
  const dead = await ProcessOwner.register(store)
  const options = { store, owner: dead, thread: 'thread', ...doorWith([{ text: 'Half', hang: true }]) }
  const runtime = await ThreadRuntime.open(options)
  const { runId } = await runtime.submit({ agentId: 'me', parts: GO })
  const next = await ProcessOwner.register(store)
  const { epoch = 0 } = (await store.getStream('thread')) ?? {}
  await store.takeOver('thread', next.id, epoch)
  await next.release('thread', { owner: next.id, epoch: epoch + 1 })
  await runtime.close().catch(() => undefined)
  await dead.close()
  await next.close()
  return { store, runId }
}

suite('a thread that is read', () => {
  test('shows an interrupted run as it was left: nothing is taken, written or resumed', async () => {
    const { runId, store } = await interrupted()
    const before = { records: await recordsOf(store), stream: await store.getStream('thread') }
    const registry = ThreadRegistry.of(store)
    for (const state of [await readThread(store, 'thread'), await registry.read('thread')]) {
      assert.equal(state.head.run?.runId, runId)
      assert.equal(state.head.run?.status, 'running')
    }
    assert.equal(registry.find('thread'), undefined)
    assert.deepEqual({ records: await recordsOf(store), stream: await store.getStream('thread') }, before)
    // Whoever opens it goes on with the run.
    const door = doorWith([{ text: 'Whole.' }])
    const runtime = await registry.enter('thread', door)
    assert.equal(await runtime.outcome(runId), 'complete')
    assert.equal((await registry.read('thread')).head.run, null)
    await registry.leave('thread', door)
  })

  test('shows what is not on disk yet, if it is open here', async () => {
    const store = new MemoryStore()
    await createThread(store, { id: 'thread', resourceId: 'test' })
    const registry = ThreadRegistry.of(store)
    const door = doorWith([])
    const runtime = await registry.enter('thread', door)
    await runtime.configure({ title: 'New' })
    assert.equal(await registry.read('thread'), runtime.state)
    await registry.leave('thread', door)
  })

  test('a thread must exist to be read', async () => {
    await assert.rejects(readThread(new MemoryStore(), 'thread'), (error) => InspanError.is(error, 'not-found'))
  })
})

test('threads are created with root, parent, parent call and hidden flag, and listed by them', async () => {
  const store = new MemoryStore()
  const place = { root: 'top', parent: 'middle', parentCall: 'call', hidden: true }
  const info = await createThread(store, { id: 'child', resourceId: 'test', ...place })
  assert.deepEqual(await store.getThread('child'), info)
  const { hidden, parent, parentCall, root } = info
  assert.deepEqual({ hidden, parent, parentCall, root }, place)
  assert.deepEqual((await store.listThreads({})).items, [])
  assert.deepEqual((await store.listThreads({ includeHidden: true })).items, [info])
})
