import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { scriptedModel } from '@inspan/testing'
import { HarnessBench } from '../harness.fixture.ts'

const done = { text: 'Done.' }

suite('what a harness passes to its thread', () => {
  test('a signal, which wakes the agent and is an event in its place', async () => {
    await using bench = new HarnessBench([done])
    const { harness } = bench
    const ended = bench.next('agent_end')
    const { id, type, accepted } = harness.sendSignal({ type: 'reactive', tagName: 'weather', contents: 'It rains.' })
    assert.equal((await accepted).action, 'wake')
    await ended
    assert.equal(type, 'reactive')
    const [event] = bench.all('reactive_signal')
    assert.deepEqual(
      { ...event, messageId: '' },
      {
        type: 'reactive_signal',
        id,
        tagName: 'weather',
        message: 'It rains.',
        messageId: '',
        partIndex: 0,
      },
    )
    const types = bench.types()
    assert.ok(types.indexOf('message_start') < types.indexOf('reactive_signal'))
    assert.ok(types.indexOf('reactive_signal') < types.indexOf('message_end'))
    const [message] = await harness.session.thread.listActiveMessages()
    assert.equal(message?.content[0]?.type, 'reactive_signal')
  })

  test('a state once, and not again while it is the same', async () => {
    await using bench = new HarnessBench([])
    const { signals } = bench.harness.session
    const state = { id: 'page', cacheKey: 'a', contents: 'On page A.' }
    await signals.sendStateSignal(state)
    await signals.sendStateSignal(state)
    assert.equal(bench.all('state_signal').length, 1)
    assert.equal(bench.model.requests.length, 0)
  })

  test('a reminder, when there is a thread to remind', async () => {
    await using bench = new HarnessBench([])
    const { harness } = bench
    const reminder = { message: 'Mind the gap.', reminderType: 'gap' }
    assert.equal(await harness.saveSystemReminderMessage(reminder), null)
    await harness.createThread()
    const message = await harness.saveSystemReminderMessage(reminder)
    assert.deepEqual(message?.content, [{ type: 'system_reminder', ...reminder }])
    assert.equal(bench.all('system_reminder')[0]?.message, 'Mind the gap.')
  })

  test('a notification, which waits in the inbox and is named before the next run', async () => {
    await using bench = new HarnessBench([done])
    const { harness } = bench
    await harness.sendNotificationSignal({ source: 'ci', kind: 'status', summary: 'CI failed.', priority: 'low' })
    assert.deepEqual(
      bench.all('notification').map(({ source, status, message }) => [source, status, message]),
      [['ci', 'pending', 'CI failed.']],
    )
    assert.equal(harness.session.signals.listNotifications().length, 1)
    await harness.sendMessage({ content: 'Hello.' })
    assert.equal(bench.all('notification_summary')[0]?.pending, 1)
    const [request] = bench.model.requests
    assert.match(JSON.stringify(request), /1 unread notification from ci/)
    assert.match(JSON.stringify(request), /"name":"notification-inbox"/)
  })
})

test('who configures the harness decides what becomes of notifications', async () => {
  await using bench = new HarnessBench([{ text: 'Yes.', repeat: true }], {
    notifications: { sources: { ci: 'persist' } },
  })
  const sent = await bench.harness.sendNotificationSignal({
    source: 'ci',
    kind: 'status',
    summary: 'CI failed.',
    priority: 'urgent',
  })
  assert.equal(sent.action, 'persist')
  assert.equal(bench.model.requests.length, 0)
  await bench.harness.sendMessage({ content: 'Hello.' })
  await bench.harness.sendMessage({ content: 'Hello again.' })
  assert.deepEqual(
    bench.all('notification_summary').map(({ notificationIds }) => notificationIds),
    [[sent.id]],
    'named before the next run, once',
  )
})

suite('the objective of the current agent', () => {
  test('is judged after every run, and the agent works on', async () => {
    const judge = scriptedModel([
      { text: '{"verdict":"continue","reason":"Not yet."}' },
      { text: '{"verdict":"done","reason":"Now."}' },
    ])
    await using bench = new HarnessBench([{ text: 'One.' }, { text: 'Two.' }], { resolveModel: () => judge })
    const agent = bench.harness.getCurrentAgent()
    await agent.setObjective('Count to two.', { judgeModelId: 'any/judge' })
    const reached = bench.next('goal_evaluation', ({ payload }) => payload.passed)
    await bench.harness.sendMessage({ content: 'Begin.' })
    const { payload } = await reached
    assert.deepEqual([payload.status, payload.iteration], ['done', 2])
    assert.deepEqual(
      bench.all('goal_evaluation').map(({ payload: { pending, passed } }) => [pending ?? false, passed]),
      [
        [true, false],
        [false, false],
        [true, false],
        [false, true],
      ],
    )
    assert.equal((await agent.getObjective())?.status, 'done')
    await agent.clearObjective()
    assert.equal(await agent.getObjective(), null)
    assert.equal(agent.id, 'agent')
  })

  test('a message resolves when its own run is over, or when nothing more follows, as it asks', async () => {
    const judge = scriptedModel([
      { text: '{"verdict":"continue","reason":"Not yet."}' },
      { text: '{"verdict":"done","reason":"Now."}' },
    ])
    const gate = Promise.withResolvers<void>()
    const script = [
      { text: 'One.' },
      async () => {
        await gate.promise
        return { text: 'Two.' }
      },
    ]
    await using bench = new HarnessBench(script, { resolveModel: () => judge })
    const agent = bench.harness.getCurrentAgent()
    await agent.setObjective('Count to two.', { judgeModelId: 'any/judge' })
    const begun = bench.next('goal_evaluation', ({ payload }) => payload.iteration === 1 && payload.pending !== true)
    await bench.harness.sendMessage({ content: 'Begin.' })
    assert.equal((await agent.getObjective())?.status, 'active')
    await begun
    const settled = bench.harness.sendMessage({ content: 'Mind the end.', untilIdle: true })
    gate.resolve()
    await settled
    assert.equal((await agent.getObjective())?.status, 'done')
  })

  test('a message until nothing more follows is through with what was queued, and not with what waits', async () => {
    const ask = { toolCalls: [{ name: 'ask_user', input: { question: 'Why?' } }] }
    await using bench = new HarnessBench([{ text: 'One.' }, ask])
    const begun = bench.next('agent_start')
    const sent = bench.harness.sendMessage({ content: 'Go.', untilIdle: true })
    await begun
    await bench.harness.followUp({ content: 'And then?' })
    await sent
    assert.deepEqual(
      bench.all('agent_end').map(({ reason }) => reason),
      ['complete', 'suspended'],
    )
  })
})
