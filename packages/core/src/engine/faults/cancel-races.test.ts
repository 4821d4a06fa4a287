import assert from 'node:assert/strict'
import { setImmediate as nextTask } from 'node:timers/promises'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { InspanError, NO_RULES, type AgentEvent, type Part } from '@inspan/protocol'
import type { AgentDriver } from '@inspan/protocol/driver'
import type { Append } from '@inspan/protocol/store'
import { MemoryStore } from '@inspan/stores'
import { createPolicy } from '../../policy/index.ts'
import { AgentBench, type ModelScript } from '../agent-bench.fixture.ts'
import { ForeignAgent, runs, says, type Act } from '../foreign-agent.fixture.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { ABANDON_AFTER_MS } from '../turns/time-limits.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import type { ThreadRuntime } from '../thread-runtime.ts'

const CALL: ModelScript = [{ toolCalls: [{ id: 'c1', name: 'echo', input: {} }] }, { text: 'Done.' }]
const echo = createTool({ id: 'echo', description: 'Echoes.', execute: () => 'done' })

/** A store that holds back one write until `goOn` is called. */
class SlowStore extends MemoryStore {
  readonly reached: PromiseWithResolvers<void> = Promise.withResolvers<void>()
  readonly #gate = Promise.withResolvers<void>()
  #type: string | undefined

  holdBack(type: string): void {
    this.#type = type
  }

  goOn(): void {
    this.#gate.resolve()
  }

  override async append(append: Append): Promise<number> {
    if (append.records.some(({ body }) => body.type === this.#type)) {
      this.#type = undefined
      this.reached.resolve()
      await this.#gate.promise
    }
    return super.append(append)
  }
}

const never = <T>(): Promise<T> => new Promise(() => undefined)
const text = (words: string): Part[] => [{ id: '0', type: 'text', text: words }]

async function parked(): Promise<AgentBench> {
  return AgentBench.open(CALL, { agent: { tools: [echo] }, runtime: { policy: createPolicy({ rules: NO_RULES }) } })
}

/** A native agent that hands off to another one. */
function passesTo(agentId: string, runtime: () => ThreadRuntime): AgentDriver {
  const agent = new ForeignAgent('first', [], { continuity: 'log' })
  const act = async function* (): AsyncGenerator<AgentEvent> {
    yield { type: 'start' }
    yield { type: 'step-start', stepIndex: 0 }
    yield { type: 'tool-call', toolCallId: 'c', toolName: 'echo', args: {} }
    await runtime().handOff({ agentId })
    yield { type: 'tool-result', toolCallId: 'c', toolName: 'echo', result: 'passed on' }
  }
  return {
    port: 1,
    id: 'first',
    describe: () => agent.describe(),
    open: async (binding, host) => ({ ...(await agent.open(binding, host)), run: act }),
  }
}

/** A run at the moment in which the first agent has handed it off, and nothing of that is written yet. */
async function handingOver() {
  const store = new SlowStore()
  const second = new ForeignAgent('second', [says('Here I am.')])
  const bench: RuntimeBench = await RuntimeBench.open(
    { first: { driver: passesTo('second', () => bench.runtime) }, second: { driver: second } },
    { store },
  )
  store.holdBack('turn.ended')
  const run = await bench.submit('Go.', { agentId: 'first' })
  await store.reached.promise
  return { bench, run, second, store }
}

suite('a cancel that meets something else', () => {
  test('the thread is closed at once: the caller of cancel learns of it, and the run is cancelled', async () => {
    await using bench = await parked()
    const run = await bench.submit('Go.')
    await bench.wait()
    await bench.runtime.idle()
    const cancelled = bench.runtime.cancel()
    await bench.runtime.close()
    assert.deepEqual((await cancelled).calls, ['c1'])
    assert.equal(await run.done, 'aborted')
    await bench.restart()
    assert.equal(bench.runtime.state.head.waits.size, 0)
  })

  test('another harness wants the thread of a run that only waits', async () => {
    await using bench = await parked()
    const run = await bench.submit('Go.')
    await bench.wait()
    await bench.runtime.idle()
    const busy = Promise.withResolvers<void>()
    const change = bench.runtime.change(() => busy.promise)
    const owner = await ProcessOwner.register(bench.store)
    const wanted = owner.claim('thread').catch((error: unknown) => error)
    await nextTask()
    const cancelled = bench.runtime.cancel()
    busy.resolve()
    await change
    await cancelled
    assert.equal(await run.done, 'aborted')
    assert.ok(InspanError.is(await wanted, 'held'))
    await owner.close()
  })

  test('the run is being handed over: the other agent does not begin', async () => {
    const { bench: opened, run, second, store } = await handingOver()
    await using bench = opened
    const cancelled = bench.runtime.cancel()
    await nextTask()
    store.goOn()
    await cancelled
    assert.equal(await run.done, 'aborted')
    assert.deepEqual(second.turns, [])
    assert.equal((await bench.bodies('run.ended')).length, 1)
  })

  test('the run is being handed over, which takes longer than anybody waits for an agent: it ends all the same', async (t) => {
    const { bench: opened, run, store } = await handingOver()
    await using bench = opened
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const cancelled = bench.runtime.cancel()
    for (let task = 0; task < 5; task++) await nextTask()
    t.mock.timers.tick(ABANDON_AFTER_MS)
    t.mock.timers.reset()
    store.goOn()
    await cancelled
    assert.equal(await run.done, 'aborted')
    const next = await bench.submit('Go on.', { agentId: 'second' })
    assert.equal(await next.done, 'complete')
  })

  test('a program neither ends nor can be closed: five seconds is all it gets', async (t) => {
    const begun = Promise.withResolvers<void>()
    const driver: AgentDriver = {
      port: 1,
      id: 'cli',
      describe: () => new ForeignAgent('cli', []).describe(),
      open: async () => ({
        async *run() {
          yield { type: 'start' }
          begun.resolve()
          await never()
        },
        cancel: () => never(),
        close: () => never(),
      }),
    }
    await using bench = await RuntimeBench.open({ cli: { driver } })
    const run = await bench.submit('Go.', { agentId: 'cli' })
    await begun.promise
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const cancelled = bench.runtime.cancel()
    t.mock.timers.tick(ABANDON_AFTER_MS)
    assert.equal((await cancelled).how, 'gone')
    assert.equal(await run.done, 'aborted')
    t.mock.timers.reset()
  })

  test('a prompt to a program that does not report what it can do', async () => {
    const driver: AgentDriver = { port: 1, id: 'cli', describe: () => never(), open: () => never() }
    await using bench = await RuntimeBench.open({ cli: { driver } })
    const run = await bench.submit('Go.', { agentId: 'cli' })
    const steered = assert.rejects(bench.submit('And this.', { agentId: 'cli' }), (error) =>
      InspanError.is(error, 'closed'),
    )
    await nextTask()
    await bench.runtime.cancel()
    assert.equal(await run.done, 'aborted')
    await steered
  })

  test('a run begins just after there was none to cancel: it has one end', async () => {
    await using bench = await AgentBench.open([{ text: 'Hello.' }])
    const cancelled = bench.runtime.cancel()
    const run = await bench.submit('Go.')
    assert.deepEqual(await cancelled, { how: 'gone', calls: [], orphansKilled: 0, queued: [] })
    assert.equal(await run.done, 'complete')
    await bench.runtime.idle()
    assert.equal((await bench.eventsOf('finish')).length, 1)
  })

  test('a run continues that asks again what it had asked: nobody answers, and it is over at once', async (t) => {
    const asking = createTool({
      id: 'echo',
      description: 'Asks.',
      execute: (_input, { suspend }) => suspend({ question: 'Sure?' }),
    })
    const two = [{ toolCalls: ['c1', 'c2'].map((id) => ({ id, name: 'echo', input: {} })) }]
    await using bench = await AgentBench.open(two, { agent: { tools: [asking] } })
    await bench.submit('Go.')
    await bench.runtime.idle()
    await bench.restart()
    const [first] = [...bench.runtime.state.head.waits]
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const answered = bench.runtime.answer(first?.id ?? '', { decision: 'decline' })
    const cancelled = bench.runtime.cancel()
    await answered
    assert.equal((await cancelled).how, 'clean')
    assert.equal(bench.runtime.state.head.waits.size, 0)
    t.mock.timers.reset()
  })

  for (const tasks of [1, 2, 5]) {
    test(`a question is being written for ${tasks} tasks more: nobody listens to it yet, and it does not stay`, async () => {
      const store = new SlowStore()
      const agent = new ForeignAgent('cli', [runs(() => agent, 'ls')])
      await using bench = await RuntimeBench.open({ cli: { driver: agent } }, { store })
      store.holdBack('wait.opened')
      const run = await bench.submit('Go.', { agentId: 'cli' })
      await store.reached.promise
      const cancelled = bench.runtime.cancel()
      // An unhandled rejection would end the process by now. The run may end before the question is written.
      for (let task = 0; task < tasks; task++) await nextTask()
      store.goOn()
      await cancelled
      assert.equal(await run.done, 'aborted')
      assert.equal(bench.runtime.state.head.waits.size, 0)
      await bench.restart()
      assert.equal(bench.runtime.state.head.waits.size, 0)
    })
  }

  test('a message that was steered and not delivered yet stays in the queue', async () => {
    const result = Promise.withResolvers<string>()
    const begun = Promise.withResolvers<void>()
    const slow = createTool({
      id: 'echo',
      description: 'Takes its time.',
      execute: () => {
        begun.resolve()
        return result.promise
      },
    })
    await using bench = await AgentBench.open(CALL, { agent: { tools: [slow] } })
    const run = await bench.submit('Go.')
    await begun.promise
    await bench.runtime.steer({ agentId: 'native', parts: text('Wait.') })
    const ended = Promise.withResolvers<void>()
    bench.runtime.onEntry((entry) => {
      if (entry.kind === 'record' && entry.record.body.type === 'tool-result') ended.resolve()
    })
    const busy = Promise.withResolvers<void>()
    const change = bench.runtime.change(() => busy.promise)
    result.resolve('done')
    await ended.promise
    // By now the loop calls `listen`, which has to wait for the command in progress.
    for (let task = 0; task < 10; task++) await nextTask()
    const cancelled = bench.runtime.cancel()
    busy.resolve()
    await change
    const receipt = await cancelled
    assert.equal(await run.done, 'aborted')
    assert.deepEqual(receipt.queued, [...bench.runtime.state.head.queue.keys()])
    assert.equal(receipt.queued.length, 1)
    assert.equal((await bench.messages()).filter(({ role }) => role === 'user').length, 1)
  })
})

suite('a question that is being written', () => {
  test('withdraws a question that is cancelled while it is being written', async () => {
    const store = new SlowStore()
    const act: Act = async function* (_turn, host) {
      const asked = host.ask({ id: 'w', kind: 'question', subject: { agentId: 'cli' }, description: 'Sure?' })
      const refused = assert.rejects(asked, (error) => InspanError.is(error, 'closed'))
      await store.reached.promise
      const withdrawn = host.withdraw('w')
      await nextTask()
      store.goOn()
      await withdrawn
      await refused
      yield* says('Never mind.')(_turn, host)
    }
    await using bench = await RuntimeBench.open({ cli: { driver: new ForeignAgent('cli', [act]) } }, { store })
    store.holdBack('wait.opened')
    const run = await bench.submit('Go.', { agentId: 'cli' })
    assert.equal(await run.done, 'complete')
    assert.equal((await bench.bodies('wait.superseded')).length, 1)
    assert.equal(bench.runtime.state.head.waits.size, 0)
  })
})

suite('a turn that ends', () => {
  test('while its program asks something: the question does not make the run wait behind its end', async () => {
    const store = new SlowStore()
    const act: Act = async function* (turn, host) {
      host.ask({ id: 'w', kind: 'question', subject: { agentId: 'cli' }, description: 'Sure?' }).catch(() => undefined)
      await store.reached.promise
      yield* says('Never mind.')(turn, host)
    }
    await using bench = await RuntimeBench.open({ cli: { driver: new ForeignAgent('cli', [act]) } }, { store })
    store.holdBack('wait.opened')
    const run = await bench.submit('Go.', { agentId: 'cli' })
    await store.reached.promise
    for (let task = 0; task < 20; task++) await nextTask()
    store.goOn()
    assert.equal(await run.done, 'complete')
    assert.equal(bench.runtime.state.head.waits.size, 0)
    assert.deepEqual(await bench.bodies('run.parked'), [])
  })
})

suite('a thread that is closed', () => {
  test('while a run is being started: its program begins nothing', async () => {
    const store = new SlowStore()
    const agent = new ForeignAgent('cli', [says('Here I am.')])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } }, { store })
    store.holdBack('run.started')
    const submitted = bench.submit('Go.', { agentId: 'cli' })
    await store.reached.promise
    const closed = bench.runtime.close()
    store.goOn()
    await submitted
    await closed
    await bench.until(() => agent.closed === agent.opened)
    assert.deepEqual(agent.turns, [])
    assert.deepEqual(
      (await bench.bodies('run.ended')).map(({ outcome }) => outcome),
      ['interrupted'],
    )
  })

  test('while another agent takes over: the run is interrupted, and nobody has cancelled it', async () => {
    const store = new SlowStore()
    const second = new ForeignAgent('second', [says('Here I am.')])
    await using bench = await RuntimeBench.open(
      { first: { driver: passesTo('second', () => bench.runtime) }, second: { driver: second } },
      { store },
    )
    store.holdBack('turn.ended')
    await bench.submit('Go.', { agentId: 'first' })
    await store.reached.promise
    const closed = bench.runtime.close()
    await nextTask()
    store.goOn()
    await closed
    assert.deepEqual(await bench.bodies('run.cancelled'), [])
    assert.deepEqual(
      (await bench.bodies('run.ended')).map(({ outcome }) => outcome),
      ['interrupted'],
    )
  })

  test('while a run ends: what is queued stays queued', async () => {
    const store = new SlowStore()
    const agent = new ForeignAgent('cli', [says('First.'), says('Second.')])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } }, { store })
    store.holdBack('run.ended')
    await bench.submit('Go.', { agentId: 'cli' })
    await bench.runtime.followUp({ agentId: 'cli', parts: text('And then?') })
    await store.reached.promise
    const closed = bench.runtime.close()
    store.goOn()
    await closed
    assert.equal(agent.turns.length, 1)
    assert.equal(bench.runtime.state.head.queue.size, 1)
    await bench.restart()
    await bench.runtime.idle()
    assert.equal(agent.turns.length, 2)
  })
})

suite('an agent that cannot take over', () => {
  const broken: AgentDriver = {
    port: 1,
    id: 'second',
    describe: () => Promise.reject(new Error('It is not installed.')),
    open: () => never(),
  }

  test('ends the run with an error, and the thread is free for the next', async () => {
    const free = new ForeignAgent('free', [says('Hello.')])
    await using bench = await RuntimeBench.open({
      first: { driver: passesTo('second', () => bench.runtime) },
      second: { driver: broken },
      free: { driver: free },
    })
    assert.equal(await (await bench.submit('Go.', { agentId: 'first' })).done, 'error')
    assert.match(JSON.stringify(await bench.bodies('error')), /It is not installed/)
    assert.equal(bench.runtime.state.head.lastRun?.error?.message, 'It is not installed.')
    assert.equal(await (await bench.submit('Go.', { agentId: 'free' })).done, 'complete')
  })
})

suite('a program that was left behind', () => {
  test('is closed, and does not get the next turn', async (t) => {
    const deaf: Act = async function* () {
      yield { type: 'step-start', stepIndex: 0 }
      begun.resolve()
      await never()
    }
    const begun = Promise.withResolvers<void>()
    const agent = new ForeignAgent('cli', [says('First.'), deaf, says('Third.')])
    const driver: AgentDriver = {
      port: 1,
      id: 'cli',
      describe: () => agent.describe(),
      open: async (binding, host) => ({
        ...(await agent.open(binding, host)),
        cancel: () => Promise.reject(new Error('It does not listen.')),
      }),
    }
    await using bench = await RuntimeBench.open({ cli: { driver } })
    await (
      await bench.submit('Go.', { agentId: 'cli' })
    ).done
    const run = await bench.submit('Go on.', { agentId: 'cli' })
    await begun.promise
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const cancelled = bench.runtime.cancel()
    await nextTask()
    t.mock.timers.tick(60_000)
    t.mock.timers.reset()
    assert.equal((await cancelled).how, 'gone')
    assert.equal(await run.done, 'aborted')
    assert.equal(agent.closed, 1)
    assert.equal(await (await bench.submit('Go on.', { agentId: 'cli' })).done, 'complete')
    assert.equal(agent.opened, 2)
  })
})
