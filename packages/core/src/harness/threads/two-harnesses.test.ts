import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import { toWireEvent } from '@inspan/protocol/harness'
import { MemoryStore, SqliteStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { ForeignAgent, says } from '../../engine/foreign-agent.fixture.ts'
import { HarnessBench } from '../harness.fixture.ts'

const paint = createTool({ id: 'paint', description: 'Paints.', execute: () => 'painted' })

suite('two harnesses of one process on one store', () => {
  test('use a thread in turns, each with its own agents, and learn what the other did', async () => {
    const storage = new MemoryStore()
    await using old = new HarnessBench([{ text: 'Of the old one.' }, { text: 'Old again.' }], { storage })
    await old.harness.sendMessage({ content: 'One' })
    // As after a reload of the code: the old harness is still there, and nobody has destroyed it.
    await using fresh = new HarnessBench([{ text: 'Of the new one.' }], { storage })
    const { id } = await fresh.harness.selectOrCreateThread()
    assert.equal(id, old.harness.session.thread.getId())
    old.events.length = 0
    await fresh.harness.sendMessage({ content: 'Two' })
    await old.harness.sendMessage({ content: 'Three' })
    assert.deepEqual(
      old.all('message_end').map(({ message }) => message.content),
      ['Two', 'Of the new one.', 'Three', 'Old again.'].map((text) => [{ type: 'text', text }]),
    )
    assert.equal((await old.harness.session.thread.listActiveMessages()).length, 6)
    assert.equal((await fresh.harness.session.thread.listActiveMessages()).length, 6)
  })

  test('receive also what another process did before one of them opened the thread', async () => {
    await using last = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), 'inspan-harnesses-'))
    last.defer(() => rm(folder, { recursive: true, force: true }))
    const url = join(folder, 'data.db')
    const [storage, far] = [new SqliteStore({ url }), new SqliteStore({ url })]
    last.defer(() => storage.close())
    last.defer(() => far.close())
    await using first = new HarnessBench([{ text: 'Of the first.' }], { storage })
    const { id } = await first.harness.createThread()
    await first.harness.sendMessage({ content: 'One' })
    const third = new HarnessBench([{ text: 'Of the far one.' }], { storage: far })
    await third.harness.switchThread({ threadId: id })
    await third.harness.sendMessage({ content: 'Two' })
    await third.harness.destroy()
    await using second = new HarnessBench([{ text: 'Of the second.' }], { storage })
    await second.harness.switchThread({ threadId: id })
    const heard = first.next('agent_end')
    await second.harness.sendMessage({ content: 'Three' })
    await heard
    assert.deepEqual(
      first.all('message_end').map(({ message }) => message.content),
      ['One', 'Of the first.', 'Two', 'Of the far one.', 'Three', 'Of the second.'].map((text) => [
        { type: 'text', text },
      ]),
    )
  })

  test('receive at once what the other does, without taking the thread from it', async () => {
    const storage = new MemoryStore()
    const agent = new ForeignAgent('foreign', [says('Hello.'), says('Again.')])
    await using first = new HarnessBench([], { storage, modes: [{ id: 'm', agent }] })
    const { id } = await first.harness.createThread()
    await using second = new HarnessBench([], { storage, modes: [{ id: 'm', agent: new ForeignAgent('foreign', []) }] })
    await second.harness.switchThread({ threadId: id })
    for (const text of ['Hello.', 'Again.']) {
      const heard = second.next('agent_end')
      await first.harness.sendMessage({ content: 'Hi' })
      assert.equal((await heard).reason, 'complete')
      assert.deepEqual(second.all('message_end').at(-1)?.message.content, [{ type: 'text', text }])
      assert.deepEqual(second.harness.session.displayState.get().currentMessage?.content, [{ type: 'text', text }])
    }
    assert.deepEqual([agent.opened, agent.closed], [1, 0], 'its program was left alone')
    await first.harness.renameThread({ title: 'Ours' })
    const renamed = await second.harness.session.thread.getById({ threadId: id })
    assert.equal(renamed?.title, 'Ours')
  })

  test('receive every word live, once and in the same order, however many there are', async () => {
    const storage = new MemoryStore()
    const gate = Promise.withResolvers<void>()
    const call = { id: 'c1', name: 'look', inputDeltas: ['{"at":', '"it"}'] }
    const look = createTool({
      id: 'look',
      description: 'Looks.',
      execute: async (_input, { progress }) => {
        progress('half')
        await gate.promise
        return 'seen'
      },
    })
    const script = [{ reasoning: 'Hm.', text: ['One ', 'look'], toolCalls: [call] }, { text: ['I ', 'saw.'] }]
    const config = { storage, tools: { look }, permissions: { tools: { look: 'allow' as const } } }
    await using first = new HarnessBench(script, config)
    const { id } = await first.harness.createThread()
    await using second = new HarnessBench([{ text: ['And ', 'you?'] }], config)
    await second.harness.switchThread({ threadId: id })
    await using third = new HarnessBench([], config)
    await third.harness.switchThread({ threadId: id })
    for (const { events } of [first, second, third]) events.length = 0
    const sent = first.harness.sendMessage({ content: 'Look.' })
    await second.next('tool_update')
    assert.deepEqual(second.harness.session.displayState.get(), first.harness.session.displayState.get())
    gate.resolve()
    await sent
    const plain = (bench: HarnessBench) => bench.events.filter(({ type }) => type !== 'display_state_changed')
    assert.deepEqual(plain(second).map(toWireEvent), plain(first).map(toWireEvent))
    assert.equal(second.all('text').length, 4)
    await second.harness.sendMessage({ content: 'Said.' })
    assert.deepEqual(plain(second).map(toWireEvent), plain(first).map(toWireEvent))
    assert.deepEqual(plain(third).map(toWireEvent), plain(first).map(toWireEvent))
    assert.deepEqual(second.harness.session.displayState.get(), first.harness.session.displayState.get())
  })

  test('both get a question of one, and whoever answers, both learn how it ends', async () => {
    const storage = new MemoryStore()
    const ask = { toolCalls: [{ id: 'q1', name: 'ask_user', input: { question: 'Which?' } }] }
    await using first = new HarnessBench([ask, { text: 'Left, then.' }], { storage })
    const { id } = await first.harness.createThread()
    await using second = new HarnessBench([{ text: 'Not mine.' }], { storage })
    await second.harness.switchThread({ threadId: id })
    const asked = second.next('tool_suspended')
    await first.harness.sendMessage({ content: 'Go.' })
    const { toolCallId } = await asked
    const ended = first.next('agent_end')
    await second.harness.respondToToolSuspension({ toolCallId, resumeData: 'Left.' })
    assert.equal((await ended).reason, 'complete')
    assert.equal(first.harness.session.suspensions.hasPending(), false)
    assert.deepEqual(first.all('message_end').at(-1)?.message.content, [{ type: 'text', text: 'Left, then.' }])
    assert.equal(second.model.calls, 0, 'the run continues with the agent of the harness that started it')
  })

  test('a run in one harness can be watched and stopped by the other, which may come and go', async () => {
    const storage = new MemoryStore()
    await using busy = new HarnessBench([{ text: 'Half', hang: true }], { storage })
    const { id } = await busy.harness.createThread()
    const begun = busy.next('message_update')
    const sent = busy.harness.sendMessage({ content: 'Hi' })
    await begun

    const passing = new HarnessBench([], { storage })
    await passing.harness.switchThread({ threadId: id })
    assert.ok(passing.harness.session.run.isRunning())
    await passing.harness.destroy()
    assert.ok(busy.harness.session.run.isRunning(), 'a harness that leaves interrupts only runs of its own')

    await using other = new HarnessBench([{ text: 'Mine.' }], { storage })
    await other.harness.switchThread({ threadId: id })
    await other.harness.abort()
    await sent
    assert.equal(busy.all('agent_end').at(-1)?.reason, 'aborted')
    await other.harness.sendMessage({ content: 'Now' })
    assert.equal(other.all('agent_end').at(-1)?.reason, 'complete')
    assert.deepEqual(busy.all('message_end').at(-1)?.message.content, [{ type: 'text', text: 'Mine.' }])
  })

  test('a harness that is destroyed interrupts its own run, and the other learns of it and continues', async () => {
    const storage = new MemoryStore()
    const leaving = new HarnessBench([{ text: 'Half', hang: true }], { storage })
    const { id } = await leaving.harness.createThread()
    await using staying = new HarnessBench([{ text: 'Mine.' }], { storage })
    await staying.harness.switchThread({ threadId: id })
    const begun = staying.next('message_update')
    leaving.harness.sendMessage({ content: 'Hi' }).catch(() => undefined)
    await begun
    await leaving.harness.destroy()
    assert.equal(staying.all('agent_end').at(-1)?.reason, 'aborted')
    await staying.harness.sendMessage({ content: 'Now' })
    assert.deepEqual(staying.all('message_end').at(-1)?.message.content, [{ type: 'text', text: 'Mine.' }])
  })

  test('a question in one harness can be answered in the other, once', async () => {
    const storage = new MemoryStore()
    const script = [{ toolCalls: [{ id: 'c1', name: 'paint' }] }, { text: 'Painted.' }]
    await using first = new HarnessBench(script, { storage, tools: { paint } })
    const asked = first.next('tool_approval_required')
    const sent = first.harness.sendMessage({ content: 'Paint.' })
    await asked
    await using second = new HarnessBench([], { storage, tools: { paint } })
    await second.harness.selectOrCreateThread()
    const ended = second.next('agent_end')
    await second.harness.session.respondToToolApproval({ decision: 'approve', toolCallId: 'c1' })
    await assert.rejects(
      first.harness.session.respondToToolApproval({ decision: 'approve', toolCallId: 'c1' }),
      (error) => InspanError.is(error, 'conflict') || InspanError.is(error, 'not-found'),
    )
    assert.equal((await ended).reason, 'complete')
    await sent
    assert.equal(first.all('agent_end').at(-1)?.reason, 'complete')
  })

  test('the program of one is left alone until the agent of the other takes over', async () => {
    const storage = new MemoryStore()
    const agent = new ForeignAgent('foreign', [says('Hello.')])
    await using first = new HarnessBench([], { storage, modes: [{ id: 'm', agent }] })
    await first.harness.sendMessage({ content: 'Hi' })
    const other = new ForeignAgent('foreign', [says('Mine.')])
    await using second = new HarnessBench([], { storage, modes: [{ id: 'm', agent: other }] })
    await second.harness.selectOrCreateThread()
    assert.equal(agent.closed, 0)
    await second.harness.sendMessage({ content: 'Hi' })
    assert.deepEqual(second.all('message_end').at(-1)?.message.content, [{ type: 'text', text: 'Mine.' }])
    assert.deepEqual([agent.closed, other.opened], [1, 1])
  })

  test('a deny of either holds in both, and so does what either redacts', async () => {
    const storage = new MemoryStore()
    const script = [{ toolCalls: [{ id: 'c1', name: 'paint' }] }, { text: 'The key is k-123.' }]
    const allowed = { tools: { paint: 'allow' as const } }
    await using free = new HarnessBench(script, { storage, tools: { paint }, permissions: allowed })
    const { id } = await free.harness.createThread()
    await using strict = new HarnessBench([], {
      storage,
      tools: { paint },
      permissions: { tools: { paint: 'deny' } },
      redact: (text) => text.replaceAll('k-123', '[key]'),
    })
    await strict.harness.switchThread({ threadId: id })
    await free.harness.sendMessage({ content: 'Paint.' })
    assert.equal(free.all('tool_end').at(0)?.isError, true)
    const [said] = (await free.harness.session.thread.listActiveMessages()).slice(-1)
    assert.deepEqual(said?.content, [{ type: 'text', text: 'The key is [key].' }])
  })

  test('a goal that one harness has judged is not judged again by the other', async () => {
    const storage = new MemoryStore()
    const judge = scriptedModel([{ text: '{"verdict":"waiting","reason":"for you"}', repeat: true }])
    const config = { storage, resolveModel: (modelId: string) => (modelId === 'judge/one' ? judge : undefined) }
    await using first = new HarnessBench([{ text: 'A.' }, { text: 'C.' }], config as never)
    await first.harness.getCurrentAgent().setObjective('Everything.', { judgeModelId: 'judge/one' })
    await first.harness.sendMessage({ content: '1', untilIdle: true })
    await using second = new HarnessBench([{ text: 'B.' }], config as never)
    await second.harness.selectOrCreateThread()
    await second.harness.sendMessage({ content: '2', untilIdle: true })
    assert.equal(judge.calls, 2)
    await first.harness.renameThread({ title: 'Looked again' })
    await first.harness.sendMessage({ content: '3', untilIdle: true })
    assert.equal(judge.calls, 3)
  })

  test('an abort in one stops the judge that thinks in the other', async () => {
    const storage = new MemoryStore()
    const judge = scriptedModel([{ text: 'Hm', hang: true }])
    const config = { storage, resolveModel: (modelId: string) => (modelId === 'judge/one' ? judge : undefined) }
    await using first = new HarnessBench([{ text: 'A.' }], config as never)
    await first.harness.getCurrentAgent().setObjective('Everything.', { judgeModelId: 'judge/one' })
    await using second = new HarnessBench([], config as never)
    await second.harness.selectOrCreateThread()
    const thinking = first.next('goal_evaluation', ({ payload }) => payload.pending === true)
    const sent = first.harness.sendMessage({ content: '1', untilIdle: true })
    await thinking
    await second.harness.abort()
    assert.equal(first.all('goal_evaluation').at(-1)?.payload.reason, 'The judge was stopped.')
    await sent
    assert.equal(first.all('agent_start').length, 1)
  })

  test('a session with an id is open in one of them at a time', async () => {
    const storage = new MemoryStore()
    const first = new HarnessBench([], { storage })
    const session = await first.harness.createSession({ id: 'ada' })
    await session.state.set({ name: 'Ada' })
    await using second = new HarnessBench([], { storage })
    await assert.rejects(second.harness.createSession({ id: 'ada' }), (error) => {
      assert.ok(InspanError.is(error, 'held'))
      assert.match(error.message, /is open in this process already/)
      return true
    })
    await first.harness.destroy()
    assert.deepEqual((await second.harness.createSession({ id: 'ada' })).state.get(), { name: 'Ada' })
  })
})
