import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { NO_RULES } from '@inspan/protocol'
import { createPolicy } from '../../policy/index.ts'
import { AgentBench, type ModelScript } from '../agent-bench.fixture.ts'

const paint = createTool({ id: 'paint', description: 'Paints.', execute: () => 'painted' })
const order = { id: 'c1', name: 'paint', input: { colour: 'blue' } }

/** The first call is cut off in the middle of its input; the next one is complete and asks. */
const SCRIPT: ModelScript = [
  { toolCalls: [{ ...order, inputDeltas: 4 }], cutAfter: 2, cut: 'end' },
  { toolCalls: [{ ...order, id: 'c2' }] },
  { text: 'Done.' },
]

const opened = (): Promise<AgentBench> =>
  AgentBench.open(SCRIPT, { agent: { tools: [paint] }, runtime: { policy: createPolicy({ rules: NO_RULES }) } })

suite('a call whose input was cut off is no call, and nothing works on it:', () => {
  test('a run that asks later only waits', async () => {
    await using bench = await opened()
    const run = await bench.submit('Paint.')
    const { id } = await bench.wait()
    await bench.runtime.idle()
    assert.equal(bench.runtime.state.head.run?.status, 'parked')
    await bench.runtime.answer(id, { decision: 'approve' })
    assert.equal(await run.done, 'complete')
  })

  test('found after a crash, such a run keeps waiting, and that is no attempt', async () => {
    await using bench = await opened()
    await bench.submit('Paint.')
    const { id } = await bench.wait()
    await bench.restart()
    assert.equal(bench.runtime.state.head.run?.status, 'parked')
    assert.equal(bench.runtime.state.head.run?.attempt, 1)
    await bench.runtime.answer(id, { decision: 'approve' })
    await bench.runtime.idle()
    assert.equal(bench.runtime.state.head.lastRun?.outcome, 'complete')
  })

  test('it is not among the calls that a cancel closes', async () => {
    await using bench = await opened()
    const run = await bench.submit('Paint.')
    await bench.wait()
    const { calls } = await bench.runtime.cancel()
    assert.deepEqual(calls, ['c2'])
    assert.equal(await run.done, 'aborted')
  })

  test('cut off by the cancel itself, it is not among them either, and has no result', async () => {
    const script: ModelScript = [{ toolCalls: [{ ...order, inputDeltas: 4 }], hang: true }]
    await using bench = await AgentBench.open(script, { agent: { tools: [paint] } })
    const begun = Promise.withResolvers<void>()
    bench.runtime.onEntry(({ state }) => {
      if (state.messages.toArray().some(({ parts }) => parts.at(0)?.type === 'tool-call')) begun.resolve()
    })
    const run = await bench.submit('Paint.')
    await begun.promise
    const { calls } = await bench.runtime.cancel()
    assert.deepEqual(calls, [])
    assert.equal(await run.done, 'aborted')
    assert.deepEqual(await bench.eventsOf('tool-result'), [])
  })

  test('if the process closed, it has no result, and the next request does not show one', async () => {
    const script: ModelScript = [
      { text: 'Blue.', toolCalls: [{ ...order, inputDeltas: 4 }], hang: true },
      { text: 'Done.' },
    ]
    await using bench = await AgentBench.open(script, { agent: { tools: [paint] } })
    const begun = Promise.withResolvers<void>()
    bench.runtime.onEntry(({ state }) => {
      if (state.messages.toArray().some(({ parts }) => parts.at(1)?.type === 'tool-call')) begun.resolve()
    })
    await bench.submit('Paint.')
    await begun.promise
    await bench.runtime.close()
    await bench.restart()
    assert.equal(await bench.play('And now?'), 'complete')
    assert.doesNotMatch(bench.prompts().at(-1)?.join('') ?? '', /c1/)
    const orders = await bench.eventsOf('tool-call')
    assert.deepEqual(
      orders.map(({ meta, toolCallId }) => [toolCallId, meta?.interrupted]),
      [['c1', true]],
    )
    assert.deepEqual(await bench.eventsOf('tool-result'), [])
  })
})

suite('a call that the provider carries out itself accepts only a result of the provider:', () => {
  for (const how of ['cancel', 'close'] as const) {
    test(`when it is cut off (${how}), the next request describes it in words`, async () => {
      const search = { id: 's1', name: 'web_search', input: { query: 'blue' }, providerExecuted: true }
      const script: ModelScript = [
        { text: 'Looking.', toolCalls: [search, { ...order, inputDeltas: 4 }], hang: true },
        { text: 'Done.' },
      ]
      await using bench = await AgentBench.open(script, { agent: { tools: [paint] } })
      const begun = Promise.withResolvers<void>()
      bench.runtime.onEntry(({ state }) => {
        if (state.messages.toArray().some(({ parts }) => parts.at(2)?.type === 'tool-call')) begun.resolve()
      })
      await bench.submit('Paint.')
      await begun.promise
      await bench.runtime[how]()
      if (how === 'close') await bench.restart()
      assert.equal(await bench.play('And now?'), 'complete')
      const asked = bench.prompts().at(-1)?.join('') ?? ''
      assert.doesNotMatch(asked, /"s1"|"c1"/)
      assert.match(asked, /Looking\..*interrupted while it used web_search.*And now\?/)
    })
  }
})
