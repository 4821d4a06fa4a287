import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import { MemoryStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import type { ModelScript } from '../agent-bench.fixture.ts'
import type { Door } from '../thread-options.ts'
import { ThreadRegistry } from './thread-registry.ts'
import { createThread } from './threads.ts'

const GO = [{ id: '0', type: 'text', text: 'Go.' }] as const

function doorNamed(door: string, script: ModelScript, more: Partial<Door> = {}): Door {
  return { door, agents: { me: { driver: nativeDriver({ id: 'me', model: scriptedModel(script) }) } }, ...more }
}

async function newThread(): Promise<{ store: MemoryStore; registry: ThreadRegistry }> {
  const store = new MemoryStore()
  await createThread(store, { id: 'thread', resourceId: 'test' })
  return { store, registry: ThreadRegistry.of(store) }
}

suite('the doors of a thread', () => {
  test('share one runtime and one owner, which lives until the last of them has left', async () => {
    const { registry, store } = await newThread()
    const [a, b] = [doorNamed('a', []), doorNamed('b', [{ text: 'Of b.' }])]
    const runtime = await registry.enter('thread', a)
    assert.equal(await registry.enter('thread', b), runtime)
    const owner = await registry.owner(a)
    await registry.leave('thread', a)
    const run = await runtime.submit({ door: 'b', agentId: 'me', parts: GO })
    assert.equal(await run.done, 'complete', 'a door that closes does not fence another')
    assert.equal(await registry.owner(b), owner)
    await registry.leave('thread', b)
    assert.equal(registry.find('thread'), undefined)
    assert.equal(ThreadRegistry.of(store), registry)
  })

  test('each start runs with its own agents, and the run names whose it is', async () => {
    const { registry } = await newThread()
    const doors = [doorNamed('a', [{ text: 'Of a.' }]), doorNamed('b', [{ text: 'Of b.' }])]
    const doorsSeen: unknown[] = []
    const said: string[] = []
    for (const door of doors) await registry.enter('thread', door)
    const runtime = registry.find('thread') ?? assert.fail()
    runtime.onEntry((entry) => {
      if (entry.kind === 'delta') return void (entry.event.type === 'text-delta' && said.push(entry.event.text))
      if (entry.record.body.type === 'run.started') doorsSeen.push(entry.record.body.door)
    })
    for (const door of ['b', 'a']) await (await runtime.submit({ door, agentId: 'me', parts: GO })).done
    assert.deepEqual(doorsSeen, ['b', 'a'])
    assert.deepEqual(said, ['Of b.', 'Of a.'])
    await assert.rejects(runtime.submit({ door: 'c', agentId: 'me', parts: GO }), (error) =>
      InspanError.is(error, 'not-found'),
    )
    for (const door of doors) await registry.leave('thread', door)
  })

  test('a message is queued for the door that sent it', async () => {
    const { registry } = await newThread()
    const doors = [doorNamed('a', [{ text: 'Half', hang: true }]), doorNamed('b', [{ text: 'Of b.' }])]
    for (const door of doors) await registry.enter('thread', door)
    const runtime = registry.find('thread') ?? assert.fail()
    const run = await runtime.submit({ door: 'a', agentId: 'me', parts: GO })
    await runtime.followUp({ door: 'b', agentId: 'me', parts: GO })
    const ended = Promise.withResolvers<string>()
    runtime.onEntry((entry) => {
      if (entry.kind === 'record' && entry.record.body.type === 'run.ended' && entry.record.body.runId !== run.runId)
        ended.resolve(entry.record.body.outcome)
    })
    await registry.leave('thread', doors[0] as Door)
    assert.equal(await run.done, 'interrupted', 'the run of the door that left')
    assert.equal(await ended.promise, 'complete')
    await registry.leave('thread', doors[1] as Door)
  })
})

suite('a run whose door is absent', () => {
  const ask: ModelScript = [{ toolCalls: [{ id: 'c', name: 'write', input: {} }] }]

  async function left(script: ModelScript) {
    const { registry, store } = await newThread()
    const effects: string[] = []
    const write: RunnableTool = {
      name: 'write',
      inputSchema: {},
      execute: async () => {
        effects.push('written')
        return { result: 'written' }
      },
    }
    const model = scriptedModel(script)
    const own = (): Door => ({
      door: 'a',
      agents: { me: { driver: nativeDriver({ id: 'me', model }), tools: [write] } },
      decide: () => ({ policy: 'ask', reason: 'careful' }),
    })
    const first = own()
    const runtime = await registry.enter('thread', first)
    const { runId } = await runtime.submit({ door: 'a', agentId: 'me', parts: GO })
    await runtime.idle()
    await registry.leave('thread', first)
    const other = doorNamed('b', [{ text: 'Not mine.' }])
    const watched = await registry.enter('thread', other)
    return { registry, store, effects, own, other, watched, runId }
  }

  test('can be watched and answered, and continues when its door is back, with its agent', async () => {
    const { effects, other, own, registry, runId, watched } = await left([...ask, { text: 'Done.' }])
    assert.equal(watched.state.head.run?.runId, runId)
    const [wait] = [...watched.state.head.waits]
    await watched.answer(wait?.id ?? '', { decision: 'approve' })
    await watched.idle()
    assert.equal(watched.state.head.run?.runId, runId, 'nobody else continues it or gives it up')
    assert.deepEqual(effects, [])
    const back = own()
    const done = watched.outcome(runId)
    await registry.enter('thread', back)
    assert.equal(await done, 'complete')
    assert.deepEqual(effects, ['written'])
    await registry.leave('thread', other)
    await registry.leave('thread', back)
  })

  test('can be cancelled', async () => {
    const { other, registry, runId, watched } = await left(ask)
    await watched.cancel()
    assert.equal(await watched.outcome(runId), 'aborted')
    assert.equal(watched.state.head.waits.size, 0)
    const run = await watched.submit({ door: 'b', agentId: 'me', parts: GO })
    assert.equal(await run.done, 'complete')
    await registry.leave('thread', other)
  })
})

test('a watcher receives what happens without opening the thread, and stops when it wants', async () => {
  const { registry } = await newThread()
  const heard: string[] = []
  const stop = registry.watch('thread', {
    onEntry: (entry) => void (entry.kind === 'record' && heard.push(entry.record.body.type)),
  })
  assert.equal(registry.find('thread'), undefined)
  const door = doorNamed('a', [{ text: 'One.' }, { text: 'Two.' }])
  const runtime = await registry.enter('thread', door)
  await (
    await runtime.submit({ door: 'a', agentId: 'me', parts: GO })
  ).done
  assert.deepEqual([heard[0], heard.at(-1)], ['run.started', 'run.ended'])
  stop()
  const { length } = heard
  await (
    await runtime.submit({ door: 'a', agentId: 'me', parts: GO })
  ).done
  assert.equal(heard.length, length)
  await registry.leave('thread', door)
})
