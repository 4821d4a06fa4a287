import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ForeignAgent, type Act } from '../foreign-agent.fixture.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'

const ids = Array.from({ length: 20 }, (_, index) => `c${index}`)

suite('a step with many calls, one of which waits', () => {
  for (const [order, ends] of [
    ['the order they were made in', ids],
    ['the opposite order', ids.toReversed()],
    ['any order', [...ids.filter((_, index) => index % 3 === 1), ...ids.filter((_, index) => index % 3 !== 1)]],
  ] as const) {
    test(`is at rest when the last of the others has ended, in ${order}`, async () => {
      const seen: (string | undefined)[] = []
      const act: Act = async function* (_turn, host) {
        yield { type: 'step-start', stepIndex: 0 }
        const call = { toolName: 'execute_command', args: {} }
        for (const toolCallId of ['asks', ...ids]) yield { type: 'tool-call', toolCallId, ...call }
        const subject = { agentId: 'cli', toolCallId: 'asks', ...call }
        const answered = host.ask({ id: 'w', kind: 'approval', subject, description: 'May it?' })
        await bench.wait()
        for (const toolCallId of ends) {
          seen.push(bench.runtime.state.head.run?.status)
          yield { type: 'tool-result', toolCallId, toolName: call.toolName, result: 'ran' }
        }
        seen.push(bench.runtime.state.head.run?.status)
        await answered
        yield { type: 'tool-result', toolCallId: 'asks', toolName: call.toolName, result: 'ran' }
        yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
      }
      await using bench = await RuntimeBench.open({ cli: { driver: new ForeignAgent('cli', [act]) } })
      const run = await bench.submit('go', { agentId: 'cli' })
      await bench.until(() => seen.length > ids.length)
      assert.deepEqual(seen, [...ids.map(() => 'running'), 'parked'])
      await bench.runtime.answer((await bench.wait()).id, { decision: 'approve' })
      assert.equal(await run.done, 'complete')
    })
  }
})
