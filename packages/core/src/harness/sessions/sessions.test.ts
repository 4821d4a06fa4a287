import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import type { PlacedEvent } from '@inspan/protocol/harness'
import { MemoryStore } from '@inspan/stores'
import { HarnessBench, nextEvent, storeOfAnotherProcess } from '../harness.fixture.ts'
import type { HarnessRequestContext } from '../agents/request-context.ts'

suite('several sessions of a harness', () => {
  test('are apart: thread, mode, model, state, grants and events', async () => {
    await using bench = new HarnessBench([{ text: 'One.' }], { modes: [{ id: 'a' }, { id: 'b' }] })
    const other = await bench.harness.createSession({ resourceId: 'other' })
    const heard: string[] = []
    other.subscribe(({ type }) => void heard.push(type))
    await bench.harness.sendMessage({ content: 'Hi' })
    await bench.harness.session.mode.switch({ modeId: 'b' })
    await bench.harness.session.state.set({ name: 'A' })
    await bench.harness.session.grantTool('paint')
    assert.deepEqual(heard, [])
    assert.equal(other.thread.getId(), null)
    assert.equal(other.mode.get(), 'a')
    assert.deepEqual(other.state.get(), {})
    assert.ok(!other.hasToolGrant('paint'))
    assert.equal(other.identity.getResourceId(), 'other')
  })

  test('run at the same time', async () => {
    await using bench = new HarnessBench({ turns: [{ text: 'Yes.', repeat: true }] })
    const sessions = await Promise.all(
      Array.from({ length: 20 }, (_, i) => bench.harness.createSession({ resourceId: `r${i}` })),
    )
    await Promise.all(sessions.map((session) => session.sendMessage({ content: 'Hi' })))
    for (const session of sessions) assert.equal((await session.thread.listActiveMessages()).length, 2)
    assert.equal(bench.model.calls, 20)
  })

  test('on one thread see each other’s changes', async () => {
    await using bench = new HarnessBench([{ text: ['a', 'b'] }], { modes: [{ id: 'a' }, { id: 'b' }] })
    const { session } = bench.harness
    const { id } = await bench.harness.createThread()
    const other = await bench.harness.createSession()
    const heard: string[] = []
    await other.thread.switch({ threadId: id })
    other.subscribe(({ type }) => void heard.push(type))
    await session.mode.switch({ modeId: 'b' })
    assert.equal(other.mode.get(), 'b')
    await session.permissions.setForTool({ toolName: 'paint', policy: 'deny' })
    assert.equal(other.permissions.getRules().tools['paint'], 'deny')
    const ended = nextEvent(other, 'agent_end')
    await bench.harness.sendMessage({ content: 'Hi' })
    await ended
    assert.ok(heard.includes('mode_changed'))
    assert.ok(heard.includes('message_update'))
  })

  test('on one thread: a tool has the state and the models of the session whose message it serves', async () => {
    const note = createTool({
      id: 'note',
      description: 'Notes.',
      execute: async (_input, { requestContext }) => {
        const { getSubagentModelId, harnessId, resourceId, updateState } = requestContext.get(
          'harness',
        ) as HarnessRequestContext
        seen.push([harnessId, resourceId, getSubagentModelId({ agentType: 'explore' })])
        await updateState((state) => ({ updates: { notes: Number(state['notes'] ?? 0) + 1 }, result: undefined }))
      },
    })
    const seen: unknown[] = []
    const call = { toolCalls: [{ name: 'note' }] }
    await using bench = new HarnessBench([call, { text: '.' }, call, { text: '.' }], {
      tools: { note },
      permissions: { tools: { note: 'allow' } },
    })
    const { session } = bench.harness
    await bench.harness.createThread()
    const { id } = await bench.harness.cloneThread({ resourceId: 'other' })
    await session.subagents.model.set({ modelId: 'x/sub' })
    const other = await bench.harness.createSession({ resourceId: 'other' })
    await other.thread.switch({ threadId: id })
    await other.sendMessage({ content: 'Note' })
    assert.deepEqual([session.state.get(), other.state.get()], [{}, { notes: 1 }])
    await bench.harness.sendMessage({ content: 'Note' })
    assert.deepEqual([session.state.get(), other.state.get()], [{ notes: 1 }, { notes: 1 }])
    assert.deepEqual(seen, [
      ['bench', 'other', 'x/sub'],
      ['bench', 'bench', 'x/sub'],
    ])
  })

  test('a session that leaves a thread does not disturb the other', async () => {
    await using bench = new HarnessBench([{ text: 'Half', hang: true }])
    const { id } = await bench.harness.createThread()
    const other = await bench.harness.createSession()
    await other.thread.switch({ threadId: id })
    const begun = bench.next('message_update')
    const sent = bench.harness.sendMessage({ content: 'Hi' })
    await begun
    await other.thread.create()
    assert.ok(bench.harness.session.run.isRunning())
    await bench.harness.abort()
    await sent
  })

  test('a thread that is deleted is gone for all', async () => {
    await using bench = new HarnessBench([])
    const { id } = await bench.harness.createThread()
    const other = await bench.harness.createSession()
    await other.thread.switch({ threadId: id })
    await bench.harness.memory.deleteThread({ threadId: id })
    assert.equal(other.thread.getId(), null)
  })

  test('a thread of another resource is as if it were not there, unless it is read as one', async () => {
    await using bench = new HarnessBench([{ text: 'Yes.' }])
    const { id: threadId } = await bench.harness.createThread()
    await bench.harness.sendMessage({ content: 'Hi' })
    const other = await bench.harness.createSession({ resourceId: 'other' })
    const { thread } = other
    for (const refused of [
      () => thread.create({ id: threadId }),
      () => thread.switch({ threadId }),
      () => thread.delete({ threadId }),
      () => thread.clone({ sourceThreadId: threadId }),
      () => thread.listMessages({ threadId }),
      () => thread.firstUserMessage({ threadId }),
    ]) {
      await assert.rejects(refused, { code: 'not-found' }, String(refused))
    }
    assert.equal(await thread.getById({ threadId }), null)
    assert.equal((await thread.firstUserMessages({ threadIds: [threadId] })).size, 0)
    assert.equal(thread.getId(), null)
    const any = { threadId, allResources: true }
    assert.equal((await thread.getById(any))?.id, threadId)
    assert.equal((await thread.listMessages(any)).length, 2)
    assert.equal((await thread.firstUserMessage(any))?.role, 'user')
    assert.equal((await thread.firstUserMessages({ threadIds: [threadId], allResources: true })).size, 1)
    await other.identity.setResourceId({ resourceId: 'bench' })
    await thread.switch({ threadId })
    assert.equal((await thread.listActiveMessages()).length, 2)
  })

  test('a clone for another resource is in reach as long as the session is bound to it', async () => {
    const storage = new MemoryStore()
    const first = new HarnessBench([{ text: 'Yes.' }], { storage })
    const before = await first.harness.createSession({ id: 'web', resourceId: 'ada' })
    await before.sendMessage({ content: 'Hi' })
    const { id: threadId } = await before.thread.clone({ resourceId: 'bob' })
    await first.harness.destroy()
    await using bench = new HarnessBench([], { storage })
    const { thread } = await bench.harness.createSession({ id: 'web', resourceId: 'ada' })
    assert.equal(thread.getId(), threadId)
    assert.equal((await thread.listActiveMessages()).length, 2)
    assert.equal((await thread.getById({ threadId }))?.resourceId, 'bob')
    await thread.delete({ threadId })
    assert.equal(thread.getId(), null)
  })

  test('one with an id has its state and its thread again when it is created anew', async () => {
    const storage = new MemoryStore()
    const first = new HarnessBench([], { storage })
    const before = await first.harness.createSession({ id: 'ada', resourceId: 'r' })
    await before.state.set({ name: 'Ada', list: [1, 2] })
    await before.thread.create()
    const second = await before.thread.create()
    await before.grantTool('paint')
    await first.harness.destroy()
    await using bench = new HarnessBench([], { storage })
    const session = await bench.harness.createSession({ id: 'ada', resourceId: 'r' })
    assert.deepEqual(session.state.get(), { name: 'Ada', list: [1, 2] })
    assert.equal(session.thread.getId(), second.id)
    assert.ok(session.hasToolGrant('paint'))
    const passing = await bench.harness.createSession({ resourceId: 'r' })
    assert.deepEqual(passing.state.get(), {})
    assert.equal((await session.thread.list()).length, 2)
    assert.equal(await bench.harness.createSession({ id: 'ada', resourceId: 'r' }), session)
  })
})

suite('what goes wrong outside', () => {
  test('a session whose thread is in use elsewhere is not half open, and can be tried again', async () => {
    const storage = new MemoryStore()
    const first = new HarnessBench([], { storage })
    const { id } = await (await first.harness.createSession({ id: 'ada', resourceId: 'r' })).thread.create()
    await first.harness.destroy()
    const busy = new HarnessBench([{ text: 'Half', hang: true }], { storage, resourceId: 'r' })
    await busy.harness.switchThread({ threadId: id })
    const begun = busy.next('message_update')
    const sent = busy.harness.sendMessage({ content: 'Hi' })
    await begun
    await using bench = new HarnessBench([], { storage: storeOfAnotherProcess(storage) })
    await assert.rejects(bench.harness.createSession({ id: 'ada', resourceId: 'r' }), (error) =>
      InspanError.is(error, 'held'),
    )
    await busy.harness.destroy()
    await sent
    assert.equal((await bench.harness.createSession({ id: 'ada', resourceId: 'r' })).thread.getId(), id)
  })

  test('a publisher that throws or rejects harms nobody', async () => {
    const warned: string[] = []
    // Errors of the tests before, which nobody reads, are told of in the next turn of the event loop.
    const onWarning = ({ message, name }: Error): void => {
      if (name !== 'InspanUnhandledError') warned.push(message)
    }
    process.on('warning', onWarning)
    let calls = 0
    const pubsub = {
      publish: (): Promise<void> => {
        calls++
        if (calls === 1) throw new Error('publisher threw')
        return calls === 2 ? Promise.reject(new Error('publisher rejected')) : Promise.resolve()
      },
    }
    await using bench = new HarnessBench([{ text: 'Yes.' }], { pubsub })
    await bench.harness.sendMessage({ content: 'Hi' })
    await new Promise(setImmediate)
    process.off('warning', onWarning)
    assert.equal(bench.all('agent_end')[0]?.reason, 'complete')
    assert.deepEqual(warned, ['publisher threw', 'publisher rejected'])
  })

  test('a lock is let go although leaving the thread fails', async () => {
    const released: string[] = []
    const storage = new MemoryStore()
    const bench = new HarnessBench([], {
      storage,
      threadLock: { acquire: () => undefined, release: (threadId) => void released.push(threadId) },
    })
    const { id } = await bench.harness.createThread()
    await storage.close()
    await assert.rejects(bench.harness.destroy())
    assert.deepEqual(released, [id])
  })
})

suite('the end of a harness', () => {
  test('leaves no owner, keeps what waits, and can be begun again', async () => {
    const storage = new MemoryStore()
    const bench = new HarnessBench([{ toolCalls: [{ id: 'c1', name: 'paint' }] }], {
      storage,
      tools: { paint: { name: 'paint', inputSchema: { type: 'object' }, execute: async () => ({ result: 'ok' }) } },
    })
    const asked = bench.next('tool_approval_required')
    const sent = bench.harness.sendMessage({ content: 'Go' })
    await asked
    const threadId = bench.harness.session.thread.requireId()
    await bench.harness.destroy()
    await sent
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'suspended')
    assert.deepEqual((await storage.listOwners({})).items, [])
    assert.equal((await storage.getStream(threadId))?.owner, null)
    assert.equal((await storage.listWaits({ state: 'pending' })).items.length, 1)
    await bench.harness.destroy()
    await bench.harness.selectOrCreateThread()
    assert.equal(bench.harness.session.displayState.get().pendingApproval?.toolCallId, 'c1')
    await bench.harness.destroy()
  })

  test('without a storage of its own: what was said is still there when it is begun again', async () => {
    const bench = new HarnessBench([{ text: 'One.' }, { text: 'Two.' }])
    await bench.harness.sendMessage({ content: 'Hi' })
    const threadId = bench.harness.session.thread.requireId()
    await bench.harness.destroy()
    assert.equal(bench.harness.session.thread.getId(), null)
    assert.equal((await bench.harness.selectOrCreateThread()).id, threadId)
    await bench.harness.sendMessage({ content: 'And again' })
    assert.equal((await bench.harness.session.thread.listActiveMessages()).length, 4)
    await bench.harness.destroy()
  })

  test('ends a run that is at work and settles who waits for it', async () => {
    const storage = new MemoryStore()
    const bench = new HarnessBench([{ text: 'Half', hang: true }], { storage })
    const begun = bench.next('message_update')
    const sent = bench.harness.sendMessage({ content: 'Go' })
    await begun
    await bench.harness.destroy()
    await sent
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'aborted')
    assert.deepEqual((await storage.listOwners({})).items, [])
  })
})

suite('a listener to the harness', () => {
  test('receives the events of every session, each with its session and thread', async () => {
    await using bench = new HarnessBench({ turns: [{ text: 'Yes.', repeat: true }] })
    const { harness } = bench
    const early = await harness.createSession({ resourceId: 'early' })
    const ends: PlacedEvent[] = []
    const stop = harness.subscribe((event) => void (event.type === 'agent_end' && ends.push(event)))
    const late = await harness.createSession({ resourceId: 'late', id: 'web' })
    const sessions = [harness.session, early, late]
    for (const session of sessions) await session.sendMessage({ content: 'Hi' })
    assert.deepEqual(
      ends.map(({ sessionId, threadId }) => [sessionId, threadId]),
      sessions.map((session) => [session.identity.getId(), session.thread.getId()]),
    )
    assert.equal(late.identity.getId(), 'web')
    assert.equal(new Set(ends.map(({ sessionId }) => sessionId)).size, 3)
    stop()
    await early.sendMessage({ content: 'Again' })
    assert.equal(ends.length, 3)
  })

  test('receives an event about the whole harness once, and a session receives it too', async () => {
    await using bench = new HarnessBench([])
    const { harness } = bench
    const other = await harness.createSession({ resourceId: 'other' })
    const heard: [PlacedEvent[], PlacedEvent[]] = [[], []]
    harness.subscribe((event) => void (event.type === 'error' && heard[0].push(event)))
    other.subscribe((event) => void (event.type === 'error' && heard[1].push(event)))
    await assert.rejects(harness.createSession({ id: 3 as never }))
    assert.deepEqual(
      heard.map((events) => events.map(({ sessionId }) => sessionId)),
      [[harness.session.identity.getId()], [other.identity.getId()]],
    )
  })

  test("receives what a reopened session held back, after the session's own listener could subscribe", async () => {
    const storage = new MemoryStore()
    const first = new HarnessBench([{ text: 'One.' }], { storage })
    const before = await first.harness.createSession({ resourceId: 'ada', id: 'web' })
    await before.sendMessage({ content: 'Hi' })
    await first.harness.destroy()
    await using second = new HarnessBench([], { storage })
    const heard: [string[], string[]] = [[], []]
    second.harness.subscribe(({ type }) => void heard[0].push(type))
    const session = await second.harness.createSession({ resourceId: 'ada', id: 'web' })
    session.subscribe(({ type }) => void heard[1].push(type))
    await nextEvent(session, 'display_state_changed')
    assert.ok(heard[1].includes('thread_changed'))
    assert.deepEqual(heard[0], heard[1])
  })
})
