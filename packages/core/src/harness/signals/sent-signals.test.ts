import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import { HarnessBench } from '../harness.fixture.ts'

suite('a signal that was sent', () => {
  test('is the message of its id', async () => {
    await using bench = new HarnessBench([{ text: 'I see.' }])
    const { id, type, accepted } = bench.harness.sendSignal({ type: 'reactive', contents: 'It rains.' })
    const ended = bench.next('agent_end')
    assert.deepEqual([type, (await accepted).action], ['reactive', 'wake'])
    await ended
    const messages = await bench.harness.session.thread.listActiveMessages()
    assert.equal(messages[0]?.id, id)
  })

  test('gives the tools of its run what goes along with it', async () => {
    const seen: unknown[] = []
    const look = createTool({
      id: 'look',
      description: 'Looks.',
      execute: (_input, { requestContext }) => void seen.push(requestContext?.get('tenant')),
    })
    await using bench = new HarnessBench([{ toolCalls: [{ name: 'look' }] }, { text: 'Done.' }], {
      tools: { look },
      initialState: { yolo: true },
    })
    const ended = bench.next('agent_end')
    await bench.harness.sendSignal({ content: 'Look.', requestContext: { tenant: 'blue' } }).accepted
    await ended
    assert.deepEqual(seen, ['blue'])
  })

  test('while a tool waits is delivered after its answer, with its id and what goes along with it', async () => {
    const seen: unknown[] = []
    const look = createTool({
      id: 'look',
      description: 'Looks.',
      execute: (_input, { requestContext }) => void seen.push(requestContext?.get('tenant')),
    })
    const ask = { toolCalls: [{ name: 'ask_user', input: { question: 'Which?' } }] }
    const script = [ask, { toolCalls: [{ name: 'look' }] }, { text: 'Done.' }]
    await using bench = new HarnessBench(script, { tools: { look }, initialState: { yolo: true } })
    const { harness } = bench
    await harness.sendMessage({ content: 'Go.' })
    const { id, accepted } = harness.sendSignal({ content: 'Look.', requestContext: { tenant: 'blue' } })
    const runId = harness.session.run.getRunId()
    assert.deepEqual(await accepted, { accepted: true, action: 'deliver', runId })
    assert.equal(bench.model.calls, 1, 'it answers nothing')
    await harness.respondToToolSuspension({ resumeData: 'The left one.' })
    const messages = await harness.session.thread.listActiveMessages()
    assert.deepEqual(messages.find((message) => message.id === id)?.content, [{ type: 'text', text: 'Look.' }])
    assert.deepEqual(seen, ['blue'])
  })

  test('a signal that fails is reported by an event, whether or not its promise is awaited', async () => {
    const release = new Error('The lock is stuck.')
    await using bench = new HarnessBench([], {
      threadLock: {
        acquire: () => {
          throw release
        },
        release: () => undefined,
      },
    })
    const told = bench.next('error')
    const { accepted } = bench.harness.sendSignal({ type: 'reactive', contents: 'It rains.' })
    assert.match((await told).error.message, /The lock is stuck/)
    await assert.rejects(accepted)
  })

  test('makes no thread when it cannot be meant', async () => {
    await using bench = new HarnessBench([])
    const { harness } = bench
    await assert.rejects(harness.sendSignal(undefined as never).accepted, (error) =>
      InspanError.is(error, 'invalid-input'),
    )
    await assert.rejects(harness.sendNotificationSignal({} as never))
    await assert.rejects(harness.session.signals.sendStateSignal({} as never))
    await assert.rejects(harness.session.objectives.setObjective(''))
    assert.equal((await harness.session.thread.list()).length, 0)
  })
})
