import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { HarnessEvent } from '@inspan/protocol/harness'
import { MemoryStore } from '@inspan/stores'
import { HarnessBench, nextEvent, payloadOf } from '../harness.fixture.ts'

suite('a session with an id', () => {
  test('belongs to its resource: another one with the same id has a session of its own', async () => {
    await using bench = new HarnessBench([{ text: 'Hello, Ada.' }])
    const { harness } = bench
    const ada = await harness.createSession({ resourceId: 'ada', id: 'web' })
    await ada.state.set({ secret: 'of Ada' })
    await ada.sendMessage({ content: 'I am Ada' })
    const bob = await harness.createSession({ resourceId: 'bob', id: 'web' })
    assert.notEqual(bob, ada)
    assert.equal(bob.identity.getResourceId(), 'bob')
    assert.deepEqual([bob.state.get(), bob.thread.getId()], [{}, null])
    assert.equal(await harness.createSession({ resourceId: 'ada', id: 'web' }), ada)
    assert.equal(await harness.createSession({ resourceId: 'bob', id: 'web' }), bob)
  })

  test('belongs to its resource in the next process too', async () => {
    const storage = new MemoryStore()
    const first = new HarnessBench([{ text: 'Hello, Ada.' }], { storage })
    const before = await first.harness.createSession({ resourceId: 'ada', id: 'web' })
    await before.state.set({ secret: 'of Ada' })
    await before.grantTool('paint')
    await before.sendMessage({ content: 'I am Ada' })
    const threadId = before.thread.getId()
    await first.harness.destroy()
    await using second = new HarnessBench([], { storage })
    const bob = await second.harness.createSession({ resourceId: 'bob', id: 'web' })
    assert.deepEqual([bob.state.get(), bob.thread.getId(), bob.hasToolGrant('paint')], [{}, null, false])
    assert.deepEqual(await bob.thread.listActiveMessages(), [])
    const ada = await second.harness.createSession({ resourceId: 'ada', id: 'web' })
    assert.deepEqual([ada.state.get(), ada.thread.getId()], [{ secret: 'of Ada' }, threadId])
  })

  test('is not mistaken for another, however harness, resource and id are spelt', async () => {
    const storage = new MemoryStore()
    await using one = new HarnessBench([], { storage, id: 'a' })
    await using two = new HarnessBench([], { storage, id: 'a:b' })
    const names = [
      [one, 'b:c', 'd'],
      [one, 'b', 'c:d'],
      [two, 'c', 'd'],
      [one, 'b","c', 'd'],
    ] as const
    for (const [index, [bench, resourceId, id]] of names.entries()) {
      const session = await bench.harness.createSession({ resourceId, id })
      assert.deepEqual(session.state.get(), {})
      await session.state.set({ index })
    }
  })

  test('remembers what was chosen without a thread, and new threads start with it', async () => {
    const storage = new MemoryStore()
    const modes = [{ id: 'plan' }, { id: 'build' }]
    const first = new HarnessBench([], { storage, modes, initialState: { yolo: true } })
    const before = await first.harness.createSession({ resourceId: 'ada', id: 'web' })
    const cautious = await first.harness.createSession({ resourceId: 'bob', id: 'web' })
    await before.mode.switch({ modeId: 'build' })
    await before.model.switch({ modelId: 'some/model' })
    await before.thread.setSetting({ key: 'thread', value: 'a setting like others' })
    await cautious.permissions.setYolo({ enabled: false })
    await first.harness.destroy()
    await using second = new HarnessBench([], { storage, modes, initialState: { yolo: true } })
    const session = await second.harness.createSession({ resourceId: 'ada', id: 'web' })
    const chosen = (): unknown[] => [
      session.mode.get(),
      session.model.get(),
      session.permissions.isYolo(),
      session.thread.getSetting({ key: 'thread' }),
    ]
    assert.equal(session.thread.getId(), null)
    assert.deepEqual(chosen(), ['build', 'some/model', true, 'a setting like others'])
    await session.thread.create()
    assert.deepEqual(chosen(), ['build', 'some/model', true, 'a setting like others'])
    const bob = await second.harness.createSession({ resourceId: 'bob', id: 'web' })
    assert.deepEqual([bob.permissions.isYolo(), bob.mode.get()], [false, 'plan'])
  })

  test('knows again that nothing is to be asked, and the model for threads to come; its denies stay', async () => {
    const storage = new MemoryStore()
    const first = new HarnessBench([], { storage })
    const before = await first.harness.createSession({ resourceId: 'ada', id: 'web' })
    await before.thread.create()
    await before.permissions.setYolo({ enabled: true })
    await before.permissions.setForTool({ toolName: 'rm', policy: 'deny' })
    await before.model.switch({ modelId: 'some/model', scope: 'global' })
    await before.thread.clear()
    await first.harness.destroy()
    await using second = new HarnessBench([], { storage })
    const session = await second.harness.createSession({ resourceId: 'ada', id: 'web' })
    await session.thread.create()
    assert.ok(session.permissions.isYolo())
    assert.equal(session.permissions.getRules().tools['rm'], 'deny')
    assert.equal(session.model.get(), 'some/model')
  })

  test('sends the state of its thread to whoever subscribes at once, and shows it', async () => {
    const storage = new MemoryStore()
    const modes = [{ id: 'plan' }, { id: 'build' }]
    const call = { id: 'c1', name: 'ask_user', input: { question: 'Which?' } }
    const first = new HarnessBench([{ toolCalls: [call] }], { storage, modes })
    const before = await first.harness.createSession({ resourceId: 'ada', id: 'web' })
    await before.mode.switch({ modeId: 'build' })
    await before.sendMessage({ content: 'Go' })
    const threadId = before.thread.requireId()
    await first.harness.destroy()
    await using second = new HarnessBench([{ text: 'Fine.' }], { storage, modes })
    const session = await second.harness.createSession({ resourceId: 'ada', id: 'web' })
    assert.ok(session.displayState.get().pendingSuspensions.has('c1'))
    const heard: [HarnessEvent[], HarnessEvent[], HarnessEvent[]] = [[], [], []]
    const stop = session.subscribe((event) => {
      heard[0].push(payloadOf(event))
      // A later listener hears only later events.
      if (heard[0].length === 1) session.subscribe((later) => void heard[2].push(later))
    })
    session.subscribe((event) => void heard[1].push(payloadOf(event)))
    assert.deepEqual(heard, [[], [], []], 'nobody is called before the call is over')
    await nextEvent(session, 'display_state_changed')
    const suspended = { type: 'tool_suspended', ...session.displayState.get().pendingSuspensions.get('c1') }
    assert.deepEqual(heard[0].slice(0, -1), [{ type: 'thread_changed', threadId, previousThreadId: null }, suspended])
    assert.equal(heard[0].at(-1)?.type, 'display_state_changed')
    assert.deepEqual(heard[1], heard[0])
    assert.deepEqual(
      heard[2].map(({ type }) => type),
      ['tool_suspended', 'display_state_changed'],
    )
    stop()
    await session.respondToToolSuspension({ resumeData: 'that one' })
    assert.deepEqual(
      heard[1].slice(heard[0].length).filter(({ type }) => type.startsWith('agent_')),
      [{ type: 'agent_start' }, { type: 'agent_end', reason: 'complete' }],
    )
  })

  test('has given a subscriber all events of earlier calls when the next call is done', async () => {
    const storage = new MemoryStore()
    const first = new HarnessBench([{ text: 'Hello.' }], { storage })
    await (await first.harness.createSession({ id: 'web' })).sendMessage({ content: 'Hi' })
    await first.harness.destroy()
    await using second = new HarnessBench([{ text: 'Fine.' }], { storage })
    const session = await second.harness.createSession({ id: 'web' })
    const heard: string[] = []
    session.subscribe(({ type }) => void heard.push(type))
    // Nothing here waits for anything outside: a whole run may be over before the event loop turns.
    await Promise.resolve()
    assert.deepEqual(heard, ['thread_changed'])
    await session.sendMessage({ content: 'How are you?' })
    assert.ok(heard.includes('agent_end'))
    assert.equal(heard.filter((type) => type === 'thread_changed').length, 1)
  })

  test('is in the default mode when there is no longer the one it was in', async () => {
    const storage = new MemoryStore()
    const first = new HarnessBench([], { storage, modes: [{ id: 'plan' }, { id: 'build' }] })
    const before = await first.harness.createSession({ resourceId: 'ada', id: 'web' })
    await before.mode.switch({ modeId: 'build' })
    await first.harness.destroy()
    await using second = new HarnessBench([], { storage, modes: [{ id: 'plan' }] })
    const session = await second.harness.createSession({ resourceId: 'ada', id: 'web' })
    assert.equal(session.mode.get(), 'plan')
  })
})
