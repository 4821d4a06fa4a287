import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { MemoryStore } from '@inspan/stores'
import { HarnessBench } from '../harness.fixture.ts'

const consumerTools = ['left', 'right'].map((name) => ({
  name,
  description: `Looks ${name}.`,
  inputSchema: { type: 'object' },
}))
const LOOK = {
  toolCalls: [
    { id: 'c1', name: 'left', input: { far: true } },
    { id: 'c2', name: 'right', input: {} },
  ],
}

suite('tools that the application carries out', () => {
  test('wait for their results, several at once, in any order, and after a restart', async () => {
    const config = { storage: new MemoryStore(), consumerTools, initialState: { yolo: true } }
    const bench = new HarnessBench([LOOK], config)
    await bench.harness.sendMessage({ content: 'Go.' })
    const threadId = bench.harness.session.thread.getId() ?? ''
    assert.deepEqual(
      bench.harness.session.suspensions.list().map(({ toolCallId, toolName }) => [toolCallId, toolName]),
      [
        ['c1', 'left'],
        ['c2', 'right'],
      ],
    )
    await bench.harness.respondToToolSuspension({ toolCallId: 'c2', resumeData: 'a wall' })
    assert.equal(bench.model.requests.length, 1, 'the model is not asked before all results are there')
    await bench.harness.destroy()

    await using later = new HarnessBench([{ text: 'Seen.' }], config)
    await later.harness.switchThread({ threadId })
    await later.harness.respondToToolSuspension({ toolCallId: 'c1', resumeData: { seen: 'a door' } })
    assert.deepEqual(
      later.all('tool_end').map(({ result, toolCallId }) => [toolCallId, result]),
      [['c1', { seen: 'a door' }]],
    )
    const [request] = later.model.requests
    assert.match(JSON.stringify(request), /a door/)
    assert.match(JSON.stringify(request), /a wall/)
  })

  test('are refused when two have one name', () => {
    const twice = [...consumerTools, ...consumerTools]
    assert.throws(() => new HarnessBench([], { consumerTools: twice }), /two consumer tools called "left"/)
  })
})
