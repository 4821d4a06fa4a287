import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { MemoryStore } from '@inspan/stores'
import { HarnessBench } from '../harness.fixture.ts'

const ASK = { toolCalls: [{ id: 'q1', name: 'ask_user', input: { question: 'Which?' } }] }

suite('what is said while a tool waits for its answer', () => {
  for (const way of ['steer', 'sendMessage'] as const) {
    test(`${way} is heard in the same run, after the answer and before the next step`, async () => {
      await using bench = new HarnessBench([ASK, { text: 'Thanks.' }])
      await bench.harness.sendMessage({ content: 'Go' })
      const { session } = bench.harness
      const runId = session.run.getRunId()
      await bench.harness[way]({ content: 'Mind the gap' })
      assert.deepEqual(
        bench.all('info').flatMap(({ steered }) => steered ?? []),
        ['injected'],
      )
      assert.equal(session.suspensions.resolveToolCallId(), 'q1', 'it answers nothing')
      assert.equal(session.run.getRunId(), runId)
      assert.equal(session.followUps.count(), 0)
      assert.equal(bench.model.calls, 1)
      await bench.harness.respondToToolSuspension({ resumeData: 'The left one' })
      assert.match(bench.model.requestBodies[1] ?? '', /The left one.*Mind the gap/s)
      assert.equal(bench.model.calls, 2, 'it is no run of its own')
      assert.equal(bench.all('agent_end').at(-1)?.reason, 'complete')
    })
  }

  test('a follow-up waits until the run is over', async () => {
    await using bench = new HarnessBench([ASK, { text: 'Thanks.' }, { text: 'That, too.' }])
    await bench.harness.sendMessage({ content: 'Go' })
    await bench.harness.followUp({ content: 'Then this' })
    assert.equal(bench.harness.session.followUps.count(), 1)
    assert.equal(bench.all('follow_up_queued')[0]?.runId, bench.harness.session.run.getRunId())
    const followed = bench.next('message_end', ({ message }) => JSON.stringify(message).includes('That, too'))
    await bench.harness.respondToToolSuspension({ resumeData: 'The left one' })
    await followed
    assert.doesNotMatch(bench.model.requestBodies[1] ?? '', /Then this/)
    assert.match(bench.model.requestBodies[2] ?? '', /Then this/)
  })

  test('is delivered when the answer comes in another process', async () => {
    const storage = new MemoryStore()
    const first = new HarnessBench([ASK], { storage })
    await first.harness.sendMessage({ content: 'Go' })
    await first.harness.steer({ content: 'Mind the gap' })
    await first.harness.destroy()
    await using second = new HarnessBench([{ text: 'Thanks.' }], { storage })
    await second.harness.selectOrCreateThread()
    await second.harness.steer({ content: 'And the door' })
    await second.harness.respondToToolSuspension({ resumeData: 'The left one' })
    assert.match(second.model.requestBodies[0] ?? '', /The left one.*Mind the gap.*And the door/s)
    assert.equal(second.model.calls, 1)
  })
})
