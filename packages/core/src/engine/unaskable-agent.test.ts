import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { AgentDriver, Capabilities } from '@evener/protocol'
import { callOf, ForeignAgent, runs, says, type Act } from './foreign-agent.fixture.ts'
import { RuntimeBench } from './runtime-bench.fixture.ts'

/** A program that can be uninstalled, and installed again. */
function uninstallable(agent: ForeignAgent): AgentDriver & { isInstalled: boolean } {
  return {
    id: agent.id,
    isInstalled: true,
    describe(): Promise<Capabilities> {
      return this.isInstalled ? agent.describe() : Promise.reject(new Error('cli is not installed.'))
    },
    open: (binding, host) => agent.open(binding, host),
  }
}

const call = { toolCallId: 'c1', toolName: 'execute_command', args: { command: 'make' } }

/** Makes a call without a word to us, and does not come back from it. */
const begins = (begun: () => void): Act =>
  async function* () {
    yield { type: 'step-start', stepIndex: 0 }
    yield { type: 'tool-call', ...call }
    begun()
    await new Promise(() => undefined)
  }

/** The same, and asks about another call meanwhile. */
const beginsAndAsks = (agent: () => ForeignAgent): Act =>
  async function* (_turn, host) {
    yield { type: 'step-start', stepIndex: 0 }
    yield { type: 'tool-call', ...call }
    yield* callOf(agent, 'make install', 'c2', host)
  }

/** A run that was under way when its process died and its program was taken away. */
async function leftBehind(): Promise<{ bench: RuntimeBench; driver: { isInstalled: boolean } }> {
  const begun = Promise.withResolvers<void>()
  const agent = new ForeignAgent('cli', [begins(begun.resolve)])
  const driver = uninstallable(agent)
  const other = new ForeignAgent('other', [says('Hello.')])
  const bench = await RuntimeBench.open({ cli: { driver }, other: { driver: other } })
  await bench.submit('go', { agentId: 'cli' })
  await begun.promise
  await bench.runtime.change((log) => log.flush())
  driver.isInstalled = false
  return { bench, driver }
}

async function leftAsking(): Promise<{
  agent: ForeignAgent
  bench: RuntimeBench
  driver: { isInstalled: boolean }
  waitId: string
}> {
  const agent: ForeignAgent = new ForeignAgent('cli', [
    beginsAndAsks(() => agent),
    runs(() => agent, 'make install', 'c3'),
  ])
  const driver = uninstallable(agent)
  const bench = await RuntimeBench.open({ cli: { driver } })
  await bench.submit('go', { agentId: 'cli' })
  const { id: waitId } = await bench.wait()
  driver.isInstalled = false
  await bench.restart()
  return { agent, bench, driver, waitId }
}

const outcomes = async (bench: RuntimeBench): Promise<unknown[]> =>
  (await bench.bodies('tool-result')).map(({ toolCallId, outcome }) => [toolCallId, outcome])

suite('a thread whose agent cannot be asked what it can do', () => {
  test('is opened all the same: its run is given up, its calls are in doubt, and it says why', async () => {
    const { bench } = await leftBehind()
    await using _ = bench
    await bench.restart()
    assert.equal(bench.runtime.state.head.lastRun?.outcome, 'interrupted')
    assert.deepEqual(await outcomes(bench), [['c1', 'in-doubt']])
    const [note, ...others] = await bench.bodies('note')
    assert.deepEqual(others, [])
    assert.equal(note?.kind, 'warning')
    assert.match(note.text, /cli.*not installed/)
    assert.equal((await bench.bodies('turn.ended')).length, 1)
  })

  test('goes on with another agent', async () => {
    const { bench } = await leftBehind()
    await using _ = bench
    await bench.restart()
    assert.equal(await (await bench.submit('go on', { agentId: 'other' })).done, 'complete')
  })

  test('keeps its questions until the agent is there again, and says once that it is not', async () => {
    const { agent, bench, driver, waitId } = await leftAsking()
    await using _ = bench
    const { head } = bench.runtime.state
    assert.equal(head.run?.status, 'parked')
    assert.deepEqual([...head.waits.keys()], [waitId])
    await assert.rejects(bench.runtime.answer(waitId, { decision: 'approve' }), /not installed/)
    assert.deepEqual([...bench.runtime.state.head.waits.keys()], [waitId])
    assert.equal((await bench.bodies('note')).length, 1)

    driver.isInstalled = true
    await bench.runtime.answer(waitId, { decision: 'approve' })
    assert.equal(await bench.runtime.run?.done, 'complete')
    assert.deepEqual(agent.journal, ['make install'])
    assert.deepEqual((await outcomes(bench))[0], ['c1', 'in-doubt'])
  })

  test('is taken up as any other when it is opened with the agent there again', async () => {
    const { agent, bench, driver, waitId } = await leftAsking()
    await using _ = bench
    driver.isInstalled = true
    await bench.restart()
    await bench.runtime.answer(waitId, { decision: 'approve' })
    assert.equal(await bench.runtime.run?.done, 'complete')
    assert.deepEqual(agent.journal, ['make install'])
  })

  test('is cancelled: what it may have begun is in doubt, what it asked about was not begun', async () => {
    const { bench, waitId } = await leftAsking()
    await using _ = bench
    const receipt = await bench.runtime.cancel()
    assert.deepEqual(receipt.calls.toSorted(), ['c1', 'c2'])
    assert.equal(bench.runtime.state.head.lastRun?.outcome, 'aborted')
    assert.deepEqual(await outcomes(bench), [
      ['c1', 'in-doubt'],
      ['c2', 'aborted'],
    ])
    await assert.rejects(bench.runtime.answer(waitId, { decision: 'approve' }), /cancelled already/)
  })

  test('has its calls in doubt also when the agent is not known here at all', async () => {
    const { bench } = await leftBehind()
    await using _ = bench
    await bench.restart({ agents: {} })
    assert.deepEqual(await outcomes(bench), [['c1', 'in-doubt']])
  })
})
