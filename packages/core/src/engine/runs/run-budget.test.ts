import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool, nativeDriver, type Tool } from '@inspan/agent'
import { NO_RULES } from '@inspan/protocol'
import type { Budget, RunnableTool } from '@inspan/protocol/driver'
import type { RecordBody } from '@inspan/protocol/log'
import { scriptedModel } from '@inspan/testing'
import { createPolicy } from '../../policy/index.ts'
import { AgentBench } from '../agent-bench.fixture.ts'
import { ForeignAgent, says, type Act } from '../foreign-agent.fixture.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'

type Bodies = () => Promise<readonly RecordBody[]>
const bodiesOf = (bench: AgentBench | RuntimeBench): Bodies => {
  return async () => (await bench.records()).map(({ body }) => body)
}

async function notices(bodies: Bodies): Promise<unknown[]> {
  return (await bodies()).flatMap((body) =>
    body.type === 'note' && body.kind === 'budget' ? [[body.data?.['limit'], body.data?.['stage']]] : [],
  )
}

async function limits(bodies: Bodies): Promise<unknown[]> {
  return (await bodies()).flatMap((body) => (body.type === 'turn.ended' ? [body.limit] : []))
}

/** A manual clock, and a tool that takes 40 seconds of it before it asks something. */
class Slow {
  time = 1_000_000

  now = (): number => this.time

  tool: Tool = createTool({
    id: 'slow',
    description: 'Works, then asks.',
    execute: (_input, { resumeData, suspend }) => {
      if (resumeData !== undefined) return 'fine'
      this.time += 40_000
      return suspend({})
    },
  })

  /** Plays a run that works for 40 s in one process, waits for a week, and is resumed in another. */
  async takenUp(budget: Budget): Promise<AgentBench> {
    const bench = await AgentBench.open([{ toolCalls: [{ name: 'slow' }] }, { text: 'Done.' }], {
      agent: { tools: { slow: this.tool }, budget },
      runtime: { now: this.now },
    })
    await bench.submit('Go.')
    const wait = await bench.wait()
    await bench.runtime.idle()
    this.time += 7 * 24 * 3_600_000
    await bench.restart()
    await bench.runtime.answer(wait.id, { decision: 'answer', value: {} })
    await bench.runtime.idle()
    return bench
  }
}

suite('the budget of a run', () => {
  test('time: what a process before it worked counts, what was waited for does not', async () => {
    await using over = await new Slow().takenUp({ ms: 30_000 })
    assert.deepEqual(await limits(bodiesOf(over)), ['ms'])
    assert.equal(over.model.calls, 1, 'the model is not asked again')
    assert.deepEqual(await notices(bodiesOf(over)), [
      ['ms', 'near'],
      ['ms', 'reached'],
    ])
    await using within = await new Slow().takenUp({ ms: 3_600_000 })
    assert.deepEqual(await limits(bodiesOf(within)), [undefined])
    assert.equal(within.model.calls, 2)
  })

  test('time: what another agent worked in the same run counts', async () => {
    let time = 1_000_000
    let bench: RuntimeBench | undefined
    const give: RunnableTool = {
      name: 'give',
      inputSchema: { type: 'object' },
      execute: async () => {
        time += 40_000
        await bench?.runtime.handOff({ agentId: 'builder' })
        return { result: 'given' }
      },
    }
    const builder = new ForeignAgent('builder', [
      async function* () {
        yield { type: 'text-delta', text: 'Building.' }
        await new Promise(() => undefined)
      },
    ])
    const driver = nativeDriver({ id: 'planner', model: scriptedModel([{ toolCalls: [{ name: 'give' }] }]) })
    const policy = createPolicy({ rules: { ...NO_RULES, tools: { give: 'allow' } } })
    bench = await RuntimeBench.open(
      { planner: { driver, tools: [give] }, builder: { driver: builder } },
      {
        policy,
        now: () => time,
      },
    )
    await using _ = bench
    const { done } = await bench.submit('go', { agentId: 'planner', turn: { budget: { ms: 30_000 } } })
    assert.equal(await done, 'complete')
    assert.deepEqual(await limits(bodiesOf(bench)), [undefined, 'ms'])
  })

  test('is announced once, also when another process continues', async () => {
    const ask = createTool({
      id: 'ask',
      description: 'Asks.',
      execute: (_input, { resumeData, suspend }) => (resumeData === undefined ? suspend({}) : 'fine'),
    })
    const step = { toolCalls: [{ name: 'ask' }], usage: { inputTokens: 30, outputTokens: 10 } }
    await using bench = await AgentBench.open([step, step], {
      agent: { tools: { ask }, budget: { tokens: 70, warnAt: 0.5 } },
    })
    await bench.submit('Go.')
    const wait = await bench.wait()
    await bench.runtime.idle()
    await bench.restart()
    await bench.runtime.answer(wait.id, { decision: 'answer', value: {} })
    await bench.runtime.idle()
    assert.deepEqual(await notices(bodiesOf(bench)), [
      ['tokens', 'near'],
      ['tokens', 'reached'],
    ])
  })
})

suite('the budget of a run of a foreign agent', () => {
  const works: Act = async function* () {
    for (let stepIndex = 0; ; stepIndex++) {
      yield { type: 'step-start', stepIndex }
      yield { type: 'text-delta', text: `step ${stepIndex} ` }
      yield { type: 'step-finish', stepIndex, finishReason: 'tool-calls', usage: { totalTokens: 40 } }
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const hangs: Act = async function* () {
    yield { type: 'text-delta', text: 'Thinking.' }
    await new Promise(() => undefined)
  }

  for (const [limit, budget, act] of [
    ['tokens', { tokens: 100 }, works],
    ['usd', { usd: 0.1 }, works],
    ['ms', { ms: 60 }, hangs],
  ] as const) {
    test(`${limit}: is announced before and at the limit, and the agent is stopped there`, async () => {
      const agent = new ForeignAgent('cli', [act, says('Never said.')])
      await using bench = await RuntimeBench.open(
        { cli: { driver: agent, turn: { budget, model: 'some/model' } } },
        { priceOf: (_model, usage) => (usage.totalTokens ?? 0) / 1000 },
      )
      assert.equal(await (await bench.submit('go', { agentId: 'cli' })).done, 'complete')
      assert.deepEqual(await notices(bodiesOf(bench)), [
        [limit, 'near'],
        [limit, 'reached'],
      ])
      assert.deepEqual(await limits(bodiesOf(bench)), [limit])
      const [end] = await bench.bodies('turn.ended')
      assert.equal(end?.finishReason, 'length')
    })
  }
})
