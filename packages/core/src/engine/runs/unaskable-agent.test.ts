import assert from 'node:assert/strict'
import { suite, test, type TestContext } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import { scriptedModel } from '@inspan/testing'
import { callOf, ForeignAgent, runs, says, type Act } from '../foreign-agent.fixture.ts'
import { DESCRIBE_WITHIN_MS } from '../turns/time-limits.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'

interface Uninstallable extends AgentDriver {
  isInstalled: boolean
  /** The answer of `describe` while the program is not installed. */
  absent: () => Promise<Capabilities>
}

/** A foreign agent that can be uninstalled and installed again. */
function uninstallable(agent: ForeignAgent): Uninstallable {
  return {
    port: 1,
    id: agent.id,
    isInstalled: true,
    absent: () => Promise.reject(new Error('cli is not installed.')),
    describe(): Promise<Capabilities> {
      return this.isInstalled ? agent.describe() : this.absent()
    },
    open: (binding, host) => agent.open(binding, host),
  }
}

/** Makes `describe` hang from now on; resolves when it was called. */
function fallSilent(driver: Uninstallable): Promise<void> {
  const asked = Promise.withResolvers<void>()
  driver.isInstalled = false
  driver.absent = () => {
    asked.resolve()
    return new Promise(() => undefined)
  }
  return asked.promise
}

/** Lets the time limit for a silent agent pass. The clock moves only here. */
async function losePatience<T>(t: TestContext, driver: Uninstallable, act: () => Promise<T>): Promise<T> {
  const asked = fallSilent(driver)
  const done = act()
  done.catch(() => undefined)
  await asked
  t.mock.timers.tick(DESCRIBE_WITHIN_MS)
  return done
}

const call = { toolCallId: 'c1', toolName: 'execute_command', args: { command: 'make' } }

/** Makes a call without asking, which never ends. */
const begins = (begun: () => void): Act =>
  async function* () {
    yield { type: 'step-start', stepIndex: 0 }
    yield { type: 'tool-call', ...call }
    begun()
    await new Promise(() => undefined)
  }

/** Like `begins`, and asks about another call meanwhile. */
const beginsAndAsks = (agent: () => ForeignAgent): Act =>
  async function* (_turn, host) {
    yield { type: 'step-start', stepIndex: 0 }
    yield { type: 'tool-call', ...call }
    yield* callOf(agent, 'make install', 'c2', host)
  }

/** Opens a thread with an active run whose foreign agent is uninstalled, for a restart. */
async function leftBehind(): Promise<{ bench: RuntimeBench; driver: Uninstallable }> {
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
  driver: Uninstallable
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
  test('is opened all the same: its run is ended, its calls are in doubt, and it explains why', async () => {
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

  test('continues with another agent', async () => {
    const { bench } = await leftBehind()
    await using _ = bench
    await bench.restart()
    assert.equal(await (await bench.submit('go on', { agentId: 'other' })).done, 'complete')
  })

  test('keeps its questions until the agent is there again, and reports once that it is not', async () => {
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

  test('because it never answers is opened all the same, and its run is ended', { timeout: 30_000 }, async (t) => {
    const { bench, driver } = await leftBehind()
    await using _ = bench
    t.mock.timers.enable({ apis: ['setTimeout'] })
    await losePatience(t, driver, () => bench.restart())
    assert.equal(bench.runtime.state.head.lastRun?.outcome, 'interrupted')
    assert.deepEqual(await outcomes(bench), [['c1', 'in-doubt']])
    assert.match((await bench.bodies('note'))[0]?.text ?? '', /cli.*did not answer/)
  })

  test('because it never answers keeps its questions until it does', { timeout: 30_000 }, async (t) => {
    const { agent, bench, driver, waitId } = await leftAsking()
    await using _ = bench
    t.mock.timers.enable({ apis: ['setTimeout'] })
    await losePatience(t, driver, () => bench.restart())
    const approve = (): Promise<void> => bench.runtime.answer(waitId, { decision: 'approve' })
    await assert.rejects(losePatience(t, driver, approve), /did not answer/)
    assert.deepEqual([...bench.runtime.state.head.waits.keys()], [waitId])
    driver.isInstalled = true
    await approve()
    assert.equal(await bench.runtime.run?.done, 'complete')
    assert.deepEqual(agent.journal, ['make install'])
  })

  test('has what nobody answered in time declined once the agent is there again', { timeout: 30_000 }, async (t) => {
    const { agent, bench, driver, waitId } = await leftAsking()
    await using _ = bench
    const tried = Promise.withResolvers<void>()
    t.mock.timers.enable({ apis: ['setTimeout'] })
    await bench.restart({ approvalTimeout: 1 })
    driver.absent = () => {
      tried.resolve()
      return Promise.reject(new Error('cli is not installed.'))
    }
    t.mock.timers.tick(1)
    await tried.promise
    await bench.runtime.change(async () => undefined)
    assert.deepEqual([...bench.runtime.state.head.waits.keys()], [waitId])
    driver.isInstalled = true
    t.mock.timers.tick(60_000)
    await bench.until(() => bench.runtime.state.head.waits.size === 0)
    assert.equal((await bench.store.getWait('thread', waitId))?.answeredBy, 'timeout')
    await bench.runtime.idle()
    assert.deepEqual(agent.journal, [])
  })

  test('has it declined also when the agent was not known at all for a while', { timeout: 30_000 }, async (t) => {
    const { bench, driver, waitId } = await leftAsking()
    await using _ = bench
    driver.isInstalled = true
    const missed = Promise.withResolvers<void>()
    let isKnown = true
    const agents = (): { driver: AgentDriver } | undefined => {
      if (isKnown) return { driver }
      missed.resolve()
      return undefined
    }
    t.mock.timers.enable({ apis: ['setTimeout'] })
    await bench.restart({ approvalTimeout: 1, agents })
    isKnown = false
    t.mock.timers.tick(1)
    await missed.promise
    await bench.runtime.change(async () => undefined)
    assert.deepEqual([...bench.runtime.state.head.waits.keys()], [waitId])
    isKnown = true
    t.mock.timers.tick(60_000)
    await bench.until(() => bench.runtime.state.head.waits.size === 0)
    assert.equal((await bench.store.getWait('thread', waitId))?.answeredBy, 'timeout')
    await bench.runtime.idle()
  })

  test('gets what was steered together with the answers', async () => {
    const { agent, bench, driver, waitId } = await leftAsking()
    await using _ = bench
    const { runId } = await bench.runtime.steer({
      agentId: 'cli',
      parts: [{ id: '0', type: 'text', text: 'Be quick.' }],
    })
    driver.isInstalled = true
    await bench.runtime.answer(waitId, { decision: 'approve' })
    assert.equal(bench.runtime.run?.runId, runId)
    assert.equal(await bench.runtime.run?.done, 'complete')
    assert.match(JSON.stringify(agent.turns[1]?.input), /approved.*Be quick\./)
    assert.equal(agent.turns.length, 2, 'it is not said again')
    assert.equal(bench.runtime.state.head.queue.size, 0)
    const said = (await bench.bodies('message.added')).filter(({ meta }) => meta?.synthetic !== true)
    assert.deepEqual(
      said.map(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : part.type))),
      [['go'], ['Be quick.']],
    )
  })
})

suite('an answer that is on record', () => {
  test('is no failure because the agent cannot be asked a second time', async () => {
    const model = scriptedModel([{ toolCalls: [{ id: 'c1', name: 'act', input: {} }] }, { text: 'Done.' }])
    const native = nativeDriver({ id: 'native', model })
    let asked = 0
    const once: AgentDriver = {
      port: 1,
      id: 'native',
      describe: () => (asked++ === 0 ? native.describe() : Promise.reject(new Error('asked too often'))),
      open: (binding, host) => native.open(binding, host),
    }
    const tools = [{ name: 'act', inputSchema: { type: 'object' }, execute: async () => ({ result: 'ok' }) }]
    await using bench = await RuntimeBench.open({ native: { driver: native, tools } })
    await bench.submit('go', { agentId: 'native' })
    const { id } = await bench.wait()
    await bench.runtime.idle()
    await bench.restart()
    await bench.restart({ agents: (agentId) => (agentId === 'native' ? { driver: once, tools } : undefined) })
    asked = 0
    await bench.runtime.answer(id, { decision: 'approve' })
    assert.equal((await bench.bodies('wait.answered')).length, 1)
    // The turn fails, as with any agent that cannot take it.
    await bench.runtime.idle()
    assert.equal(bench.runtime.state.head.lastRun?.outcome, 'error')
    assert.match((await bench.bodies('error'))[0]?.error.message ?? '', /asked too often/)
  })
})
