import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { HarnessMessage } from '@inspan/protocol/harness'
import { HarnessBench } from '../harness.fixture.ts'

const ANY = [{ text: 'Yes.', repeat: true as const }]

function saidBy(messages: readonly HarnessMessage[], role: HarnessMessage['role']): string[] {
  return messages
    .filter((message) => message.role === role)
    .flatMap(({ content }) => content.map((part) => (part.type === 'text' ? part.text : part.type)))
}

suite('calls made in a row without awaiting them', () => {
  test('two first messages make one thread, and both are in it', async () => {
    await using bench = new HarnessBench(ANY)
    const { harness } = bench
    await Promise.all([harness.sendMessage({ content: 'One' }), harness.sendMessage({ content: 'Two' })])
    assert.equal(bench.all('thread_created').length, 1)
    assert.equal((await harness.session.thread.list()).length, 1)
    const messages = await harness.session.thread.listActiveMessages()
    assert.deepEqual(saidBy(messages, 'user'), ['One', 'Two'])
  })

  test('a message and a signal make one thread', async () => {
    await using bench = new HarnessBench(ANY)
    const { harness } = bench
    const signal = harness.sendSignal({ type: 'user', contents: 'Signal' })
    await Promise.all([signal.accepted, harness.sendMessage({ content: 'Message', untilIdle: true })])
    assert.equal((await harness.session.thread.list()).length, 1)
  })

  test('selectOrCreateThread called twice returns the same thread', async () => {
    await using bench = new HarnessBench([])
    const { harness } = bench
    const [one, two] = await Promise.all([harness.selectOrCreateThread(), harness.selectOrCreateThread()])
    assert.equal(one.id, two.id)
    assert.equal((await harness.session.thread.list()).length, 1)
  })

  test('setResourceId: there is no current thread from the call on, and the next message creates one', async () => {
    await using bench = new HarnessBench(ANY)
    const { harness } = bench
    const { thread } = harness.session
    const old = await harness.createThread()
    const left = harness.setResourceId({ resourceId: 'project-xyz' })
    assert.equal(thread.getId(), null)
    assert.ok(!thread.isSet())
    await harness.sendMessage({ content: 'Hi' })
    await left
    assert.notEqual(thread.getId(), old.id)
    assert.deepEqual(saidBy(await thread.listActiveMessages(), 'user'), ['Hi'])
    assert.deepEqual(
      (await thread.list()).map(({ id, resourceId }) => [id, resourceId]),
      [[thread.getId(), 'project-xyz']],
    )
    assert.equal((await thread.listMessages({ threadId: old.id, allResources: true })).length, 0)
  })

  test('setResourceId during a run: the run is aborted, and its sender gets an agent_end', async () => {
    await using bench = new HarnessBench([{ text: 'Half', hang: true }, { text: 'Yes.' }])
    const { harness } = bench
    const begun = bench.next('message_update')
    const sent = harness.sendMessage({ content: 'Hi' })
    await begun
    const left = harness.setResourceId({ resourceId: 'project-xyz' })
    assert.equal(harness.session.thread.getId(), null)
    await harness.sendMessage({ content: 'Again' })
    await Promise.all([sent, left])
    assert.deepEqual(
      bench.all('agent_end').map(({ reason }) => reason),
      ['aborted', 'complete'],
    )
  })

  test('a thread belongs to the resource that was current when createThread was called', async () => {
    await using bench = new HarnessBench([])
    const { harness } = bench
    const created = harness.createThread()
    const left = harness.setResourceId({ resourceId: 'project-xyz' })
    assert.equal((await created).resourceId, 'bench')
    await left
    assert.equal(harness.session.thread.getId(), null)
  })

  test('a message after switchThread goes to that thread', async () => {
    await using bench = new HarnessBench(ANY)
    const { harness } = bench
    const one = await harness.createThread()
    await harness.createThread()
    const switched = harness.switchThread({ threadId: one.id })
    await harness.sendMessage({ content: 'Hi' })
    await switched
    assert.deepEqual(saidBy(await harness.session.thread.listMessages({ threadId: one.id }), 'user'), ['Hi'])
  })

  test('a message after createThread goes to the new thread', async () => {
    await using bench = new HarnessBench(ANY)
    const { harness } = bench
    await harness.createThread()
    const created = harness.createThread()
    await harness.sendMessage({ content: 'Hi' })
    const { id } = await created
    assert.deepEqual(saidBy(await harness.session.thread.listMessages({ threadId: id }), 'user'), ['Hi'])
    assert.equal((await harness.session.thread.list()).length, 2)
  })

  test('a thread that cannot be opened does not affect later calls', async () => {
    await using bench = new HarnessBench(ANY)
    const { harness } = bench
    const { id } = await harness.createThread()
    const refused = assert.rejects(harness.switchThread({ threadId: 'nowhere' }), { code: 'not-found' })
    await harness.sendMessage({ content: 'Hi' })
    await refused
    assert.equal(harness.session.thread.getId(), id)
  })

  test('destroy right after a first message: the run ends, and nothing starts afterwards', async () => {
    await using bench = new HarnessBench([{ text: 'Half', hang: true }])
    const sent = bench.harness.sendMessage({ content: 'Hi' })
    await bench.harness.destroy()
    await sent
    assert.equal(bench.harness.getRuntime(), undefined)
  })

  test('switching to a thread and deleting it leaves no current thread', async () => {
    await using bench = new HarnessBench([{ text: 'Yes.' }])
    const { harness } = bench
    const first = await harness.createThread()
    const second = await harness.createThread()
    const switched = harness.switchThread({ threadId: first.id })
    const deleted = harness.memory.deleteThread({ threadId: first.id })
    await Promise.all([switched, deleted])
    assert.deepEqual(
      (await harness.session.thread.list()).map(({ id }) => id),
      [second.id],
    )
    assert.equal(harness.session.thread.getId(), null)
  })

  for (const [what, say] of [
    ['a message', (harness) => harness.sendMessage({ content: 'Hi' })],
    ['a follow-up', (harness) => harness.followUp({ content: 'Hi' })],
    ['a signal', (harness) => harness.sendSignal({ type: 'user', contents: 'Hi' }).accepted],
  ] as const satisfies readonly (readonly [string, (harness: HarnessBench['harness']) => Promise<unknown>])[]) {
    test(`the current thread is deleted: ${what} sent afterwards creates a new one`, async () => {
      await using bench = new HarnessBench(ANY)
      const { harness } = bench
      const { thread } = harness.session
      await harness.sendMessage({ content: 'Before' })
      const old = thread.requireId()
      const deleted = harness.memory.deleteThread({ threadId: old })
      await Promise.all([deleted, say(harness)])
      assert.notEqual(thread.requireId(), old)
      assert.deepEqual(saidBy(await thread.listActiveMessages(), 'user'), ['Hi'])
      assert.deepEqual(
        (await thread.list()).map(({ id }) => id),
        [thread.getId()],
      )
    })
  }

  test('the current thread is deleted during a run: its sender gets an agent_end, and the next message creates a new one', async () => {
    await using bench = new HarnessBench([{ text: 'Half', hang: true }, { text: 'Yes.' }])
    const { harness } = bench
    const begun = bench.next('message_update')
    const sent = harness.sendMessage({ content: 'Before' })
    await begun
    const deleted = harness.memory.deleteThread({ threadId: harness.session.thread.requireId() })
    await Promise.all([harness.sendMessage({ content: 'Hi' }), deleted, sent])
    assert.deepEqual(saidBy(await harness.session.thread.listActiveMessages(), 'user'), ['Hi'])
    assert.deepEqual(
      bench.all('agent_end').map(({ reason }) => reason),
      ['aborted', 'complete'],
    )
  })
})

suite('what a new thread reports', () => {
  test('a new thread emits only thread_created and keeps mode and model', async () => {
    await using bench = new HarnessBench([], {
      modes: [{ id: 'plan' }, { id: 'build', defaultModelId: 'some/model' }],
    })
    const { harness } = bench
    await harness.session.mode.switch({ modeId: 'build' })
    assert.deepEqual(bench.types(), ['mode_changed', 'model_changed'])
    await harness.createThread()
    await harness.createThread()
    assert.deepEqual(bench.types().slice(2), ['thread_created', 'thread_created'])
    assert.deepEqual([harness.session.mode.get(), harness.session.model.get()], ['build', 'some/model'])
    await harness.session.mode.switch({ modeId: 'plan' })
    assert.deepEqual(bench.types().slice(4), ['mode_changed'])
  })

  test('the first message creates the thread before the run begins', async () => {
    await using bench = new HarnessBench([{ text: 'Yes.' }], { modes: [{ id: 'plan' }, { id: 'build' }] })
    await bench.harness.session.mode.set({ modeId: 'build' })
    await bench.harness.sendMessage({ content: 'Hi' })
    assert.deepEqual(bench.types().slice(0, 3), ['mode_changed', 'thread_created', 'agent_start'])
  })
})
