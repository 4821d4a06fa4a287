import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ForeignAgent, says, type Act } from '../foreign-agent.fixture.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'

const HOUR = 3_600_000

/** Reports a limit and breaks off. */
const reaches = (resetsAt: () => number): Act =>
  async function* (_turn, host) {
    yield { type: 'step-start', stepIndex: 0 }
    host.noteLimit({ name: 'five_hour', status: 'reached', resetsAt: resetsAt() })
    throw new Error('You have reached your limit.')
  }

suite('a program that reaches a usage limit', () => {
  test('fails its run by default, and also if the limit ends at no known time', async () => {
    const agent = new ForeignAgent('cli', [reaches(() => Date.now() + HOUR), reaches(() => 0)])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    assert.equal(await (await bench.submit('go', { agentId: 'cli' })).done, 'error')
    assert.equal(await (await bench.submit('go', { agentId: 'cli', turn: { onLimit: 'park' } })).done, 'error')
    assert.deepEqual(await bench.bodies('run.parked'), [])
  })

  test('parks its run with onLimit: park, and continues in a new turn after the reset', async () => {
    const agent = new ForeignAgent('cli', [reaches(() => Date.now() + 50), says('Done.')])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    const { done } = await bench.submit('go', { agentId: 'cli', turn: { onLimit: 'park' } })
    assert.equal(await done, 'complete')
    assert.equal((await bench.bodies('run.ended')).length, 1)
    assert.equal((await bench.bodies('run.parked')).length, 1)
    const [part] = agent.turns[1]?.input ?? []
    assert.match(part?.type === 'text' ? part.text : '', /limit interrupted you/)
  })

  test('continues in another process, at the time that is on record', async () => {
    let clock = Date.now()
    const now = (): number => clock
    const agent = new ForeignAgent('cli', [reaches(() => clock + HOUR), says('Done.')])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } }, { now })
    await bench.submit('go', { agentId: 'cli', turn: { onLimit: 'park' } })
    const { due, kind } = await bench.wait()
    assert.deepEqual([kind, due], ['limit', clock + HOUR])
    await bench.restart()
    await bench.runtime.settleDue()
    assert.equal(bench.runtime.state.head.run?.status, 'parked')
    clock += HOUR
    await bench.runtime.settleDue()
    await bench.runtime.idle()
    assert.equal(bench.runtime.state.head.lastRun?.outcome, 'complete')
    assert.equal(agent.turns.length, 2)
  })

  test('can be cancelled while it is parked', async () => {
    const agent = new ForeignAgent('cli', [reaches(() => Date.now() + HOUR)])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    const { done } = await bench.submit('go', { agentId: 'cli', turn: { onLimit: 'park' } })
    await bench.wait()
    await bench.runtime.cancel()
    assert.equal(await done, 'aborted')
    assert.equal(bench.runtime.state.head.waits.size, 0)
  })
})
