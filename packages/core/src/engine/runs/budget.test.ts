import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { NO_USAGE, type AgentEvent } from '@inspan/protocol'
import type { AgentDriver, Budget } from '@inspan/protocol/driver'
import type { LogRecord } from '@inspan/protocol/log'
import { AgentBench } from '../agent-bench.fixture.ts'
import { BudgetMeter } from './budget-meter.ts'
import { ForeignAgent } from '../foreign-agent.fixture.ts'

const note = createTool({ id: 'note', description: 'Notes.', execute: async () => 'noted' })
const STEP = { toolCalls: [{ name: 'note' }], usage: { inputTokens: 30, outputTokens: 10 }, repeat: true } as const

async function turnEnd(bench: AgentBench): Promise<Extract<LogRecord['body'], { type: 'turn.ended' }> | undefined> {
  return (await bench.records()).flatMap(({ body }) => (body.type === 'turn.ended' ? [body] : []))[0]
}

async function notices(bench: AgentBench): Promise<unknown[]> {
  return (await bench.notes('budget')).map(({ data }) => [data?.['limit'], data?.['stage'], data?.['used']])
}

suite('the meter', () => {
  const spent = (tokens: number, usd = 0, ms = 0): Parameters<BudgetMeter['check']>[1] => ({
    usage: { ...NO_USAGE, totalTokens: tokens, costUsd: usd },
    ms,
  })

  test('reports once that a limit is near, and once that it is reached', () => {
    const meter = new BudgetMeter()
    const budget: Budget = { tokens: 100 }
    assert.deepEqual(meter.check(budget, spent(79)), [])
    assert.deepEqual(meter.check(budget, spent(80)), [{ limit: 'tokens', stage: 'near', used: 80, max: 100 }])
    assert.deepEqual(meter.check(budget, spent(99)), [])
    assert.deepEqual(meter.check(budget, spent(120)), [{ limit: 'tokens', stage: 'reached', used: 120, max: 100 }])
    assert.deepEqual(meter.check(budget, spent(500)), [])
  })

  test('reports both at once when a limit is passed in one step, for every limit by itself', () => {
    const found = new BudgetMeter().check({ tokens: 10, usd: 2, ms: 50, warnAt: 0.5 }, spent(20, 1, 10))
    assert.deepEqual(
      found.map(({ limit, stage }) => `${limit} ${stage}`),
      ['tokens near', 'tokens reached', 'usd near'],
    )
  })

  test('reports whole milliseconds, and no more digits of money than there are prices for', () => {
    const found = new BudgetMeter().check({ usd: 0.3, ms: 50 }, spent(0, 0.1 + 0.2, 40.94045199999982))
    assert.deepEqual(
      found.map(({ limit, stage, used }) => [limit, stage, used]),
      [
        ['usd', 'near', 0.3],
        ['usd', 'reached', 0.3],
        ['ms', 'near', 41],
      ],
    )
  })

  test('reports nothing without limits', () => {
    assert.deepEqual(new BudgetMeter().check({}, spent(1e9, 1e9, 1e9)), [])
  })
})

suite('a run within its budget of', () => {
  test('tokens: is warned of at 80 % and ended at the limit, and the record explains why', async () => {
    await using bench = await AgentBench.open([STEP], { agent: { tools: [note], budget: { tokens: 150 } } })
    assert.equal(await bench.play(), 'complete')
    assert.equal(bench.model.calls, 4)
    assert.deepEqual(await notices(bench), [
      ['tokens', 'near', 120],
      ['tokens', 'reached', 160],
    ])
    const end = await turnEnd(bench)
    assert.equal(end?.finishReason, 'length')
    assert.equal(end.limit, 'tokens')
    assert.equal((await bench.eventsOf('finish')).length, 1)
    // The calls of the last step are closed, not carried out.
    assert.equal((await bench.eventsOf('tool-call')).length, (await bench.eventsOf('tool-result')).length)
    assert.equal((await bench.records()).filter(({ body }) => body.type === 'call.started').length, 3)
  })

  test('money: counted with the prices that are plugged in, kept on every step', async () => {
    const asked: string[] = []
    await using bench = await AgentBench.open([STEP], {
      agent: { tools: [note], budget: { usd: 0.05 } },
      runtime: {
        priceOf: async (model, usage) => {
          asked.push(model)
          return (usage.totalTokens ?? 0) / 1000
        },
      },
    })
    assert.equal(await bench.play(), 'complete')
    assert.equal(bench.model.calls, 2)
    assert.deepEqual(new Set(asked), new Set(['scripted/scripted-model']))
    assert.equal((await turnEnd(bench))?.limit, 'usd')
    assert.equal(bench.runtime.state.head.usage.own.costUsd, 0.08)
  })

  for (const [what, priceOf] of [
    ['by nobody', undefined],
    ['not for this model', () => undefined],
    ['with a list that cannot be read', () => Promise.reject(new Error('no list'))],
  ] as const) {
    test(`money: warns once that the limit cannot be enforced without a price (${what})`, async () => {
      await using bench = await AgentBench.open([{ ...STEP, repeat: 2 }, { text: 'Done.' }], {
        agent: { tools: [note], budget: { usd: 0.05 } },
        runtime: priceOf === undefined ? {} : { priceOf },
      })
      assert.equal(await bench.play(), 'complete')
      const [warning, ...others] = await bench.notes('warning')
      assert.match(warning?.text ?? '', /limit of 0\.05 usd cannot be kept.*`priceOf`, or a limit in tokens/)
      assert.deepEqual(others, [])
    })
  }

  test('money: a model that costs nothing is within every limit', async () => {
    await using bench = await AgentBench.open([{ ...STEP, repeat: 2 }, { text: 'Done.' }], {
      agent: { tools: [note], budget: { usd: 0.05 } },
      runtime: { priceOf: () => 0 },
    })
    assert.equal(await bench.play(), 'complete')
    assert.deepEqual(await bench.notes('warning'), [])
  })

  test('time: also while the model sends nothing', async () => {
    await using bench = await AgentBench.open([{ text: 'Hm', hang: true }], { agent: { budget: { ms: 60 } } })
    assert.equal(await bench.play(), 'complete')
    const end = await turnEnd(bench)
    assert.equal(end?.limit, 'ms')
    assert.equal(end.finishReason, 'length')
    assert.deepEqual(
      (await notices(bench)).map((notice) => (notice as unknown[]).slice(0, 2)),
      [
        ['ms', 'near'],
        ['ms', 'reached'],
      ],
    )
  })

  test('time: also when its timer comes a little before its time, as they do', { timeout: 20_000 }, async (t) => {
    await using bench = await AgentBench.open([{ text: 'Hm', hang: true }], { agent: { budget: { ms: 60 } } })
    let clock = 0
    t.mock.timers.enable({ apis: ['setTimeout'] })
    // The limit passes between two readings of the clock.
    t.mock.method(performance, 'now', () => (clock += 0.2))
    const heard = Promise.withResolvers<void>()
    bench.runtime.onEntry(({ kind }) => void (kind === 'delta' && heard.resolve()))
    const run = await bench.submit('Go.')
    await heard.promise
    for (const moment of [47.8, 59.8]) {
      clock = moment - 0.1
      t.mock.timers.tick(60)
      t.mock.timers.tick(1)
    }
    t.mock.timers.reset()
    assert.equal(await run.done, 'complete')
    assert.equal((await turnEnd(bench))?.limit, 'ms')
  })

  test('time: not while it waits for people', async (t) => {
    const ask = createTool({
      id: 'ask',
      description: 'Asks.',
      execute: (_input, { resumeData, suspend }) => (resumeData === undefined ? suspend({}) : 'fine'),
    })
    await using bench = await AgentBench.open([{ toolCalls: [{ name: 'ask' }] }, { text: 'Done.' }], {
      agent: { tools: [ask], budget: { ms: 600_000 } },
    })
    let waited = 0
    const now = performance.now.bind(performance)
    t.mock.method(performance, 'now', () => now() + waited)
    const run = await bench.submit('Go.')
    const wait = await bench.wait()
    await bench.runtime.idle()
    waited = 3_600_000
    await bench.runtime.answer(wait.id, { decision: 'answer', value: 'yes' })
    assert.equal(await run.done, 'complete')
    assert.equal((await turnEnd(bench))?.limit, undefined)
    assert.deepEqual(await notices(bench), [])
  })

  test('its submission, which counts for this run alone', async () => {
    await using bench = await AgentBench.open([STEP], { agent: { tools: [note], maxSteps: 4 } })
    await bench.play('Go.', { turn: { budget: { tokens: 40 } } })
    assert.equal(bench.model.calls, 1)
    await bench.play('Go.')
    assert.equal(bench.model.calls, 5)
  })

  test('a process before it: what was used there counts', async () => {
    const waits = createTool({
      id: 'note',
      description: 'Asks.',
      execute: (_input, { resumeData, suspend }) => (resumeData === undefined ? suspend({}) : 'fine'),
    })
    await using bench = await AgentBench.open([STEP], { agent: { tools: [waits], budget: { tokens: 70 } } })
    await bench.submit('Go.')
    const wait = await bench.wait()
    await bench.runtime.idle()
    await bench.restart()
    await bench.runtime.answer(wait.id, { decision: 'answer', value: 'yes' })
    await bench.runtime.idle()
    assert.equal(bench.model.calls, 2)
    assert.equal((await turnEnd(bench))?.limit, 'tokens')
  })
})

suite('a limit that is reached with an answer that calls nothing', () => {
  const usage = { inputTokens: 50, outputTokens: 60 }
  const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] } as const
  const budget = { tokens: 100 }

  test('is reported, and leaves the answer whole, with its data, seen by all hooks', async () => {
    const hooked: string[] = []
    await using bench = await AgentBench.open([{ text: '{"ok":true}', usage }], {
      agent: {
        budget,
        output: { schema },
        hooks: {
          afterStep: ({ step }) => void hooked.push(step.finishReason),
          afterTurn: ({ finishReason }) => void hooked.push(finishReason),
        },
      },
    })
    assert.equal(await bench.play(), 'complete')
    assert.deepEqual(bench.runtime.state.head.lastRun?.output, { ok: true })
    assert.deepEqual(hooked, ['stop', 'stop'])
    assert.deepEqual(await notices(bench), [
      ['tokens', 'near', 110],
      ['tokens', 'reached', 110],
    ])
    const end = await turnEnd(bench)
    assert.equal(end?.finishReason, 'stop')
    assert.equal(end.limit, undefined)
  })

  test('ends the turn before it takes another step to repair it', async () => {
    const script = [
      { text: 'Yes.', usage },
      { text: '{"ok":true}', usage },
    ]
    await using bench = await AgentBench.open(script, { agent: { budget, output: { schema } } })
    await bench.play()
    assert.equal(bench.model.calls, 1)
    assert.equal((await turnEnd(bench))?.limit, 'tokens')
  })

  test('ends the turn before it receives what was steered: that begins the next run', async () => {
    const asked = Promise.withResolvers<void>()
    const steered = Promise.withResolvers<void>()
    const first = async (): Promise<{ text: string; usage: typeof usage }> => {
      asked.resolve()
      await steered.promise
      return { text: 'One.', usage }
    }
    await using bench = await AgentBench.open([first, { text: 'Heard.' }], { agent: { budget } })
    const run = await bench.submit('Go.')
    await asked.promise
    await bench.submit('One more thing.')
    steered.resolve()
    assert.equal(await run.done, 'complete')
    await bench.runtime.idle()
    const told = (await bench.records()).flatMap(({ body }) =>
      body.type === 'run.started' || body.type === 'run.ended' || body.type === 'message.added' ? [body.type] : [],
    )
    const each = ['run.started', 'message.added', 'run.ended']
    assert.deepEqual(told, [...each, ...each])
    assert.equal((await turnEnd(bench))?.limit, 'tokens')
    assert.match(bench.prompts()[1]?.at(-1) ?? '', /One more thing/)
  })
})

test('a foreign agent is stopped at its limit as well', async () => {
  const goesOn = async function* (): AsyncGenerator<AgentEvent> {
    for (let stepIndex = 0; stepIndex < 3; stepIndex++) {
      yield { type: 'step-start', stepIndex }
      yield { type: 'text-delta', text: `step ${stepIndex} ` }
      yield { type: 'step-finish', stepIndex, finishReason: 'tool-calls', usage: { totalTokens: 40 } }
    }
    // Without a stop the agent would go on for ever.
    await new Promise(() => {})
  }
  const foreign = new ForeignAgent('foreign', [goesOn], { governs: 'none' })
  await using bench = await AgentBench.open([], {
    runtime: { agents: { foreign: { driver: foreign, turn: { budget: { tokens: 100 } } } } },
  })
  assert.equal(await bench.play('Go.', { agentId: 'foreign' }), 'complete')
  assert.deepEqual(await notices(bench), [
    ['tokens', 'near', 80],
    ['tokens', 'reached', 120],
  ])
  assert.equal((await turnEnd(bench))?.finishReason, 'length')
})

for (const [limit, max, used] of [
  ['tokens', 100, 120],
  ['usd', 1, 1.5],
] as const)
  test(`a foreign agent that reports its usage only at its end is reported as over the limit, and has ended by itself (${limit})`, async () => {
    const agent = new ForeignAgent('foreign', [])
    const driver: AgentDriver = {
      port: 1,
      id: 'foreign',
      describe: () => agent.describe(),
      open: async (binding, host) => ({
        ...(await agent.open(binding, host)),
        async *run(): AsyncGenerator<AgentEvent> {
          yield { type: 'start' }
          yield { type: 'text-delta', text: 'All of it.' }
          yield { type: 'finish', finishReason: 'stop', usage: { inputTokens: 100, outputTokens: 20 } }
        },
      }),
    }
    await using bench = await AgentBench.open([], {
      runtime: {
        priceOf: () => 1.5,
        agents: { foreign: { driver, turn: { model: 'acme/large', budget: { [limit]: max } } } },
      },
    })
    assert.equal(await bench.play('Go.', { agentId: 'foreign' }), 'complete')
    assert.deepEqual(await notices(bench), [
      [limit, 'near', used],
      [limit, 'reached', used],
    ])
    assert.equal((await turnEnd(bench))?.finishReason, 'stop')
  })
