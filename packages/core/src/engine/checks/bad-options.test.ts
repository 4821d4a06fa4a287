import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { inspect } from 'node:util'
import { Agent } from '@inspan/agent'
import { InspanError, type Part } from '@inspan/protocol'
import type { TurnDefaults } from '@inspan/protocol/driver'
import { MemoryStore, SqliteStore } from '@inspan/stores'
import type { RuntimeAgent } from '../turns/active-run.ts'
import { ForeignAgent, says } from '../foreign-agent.fixture.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import type { ControlFact, Submission, ThreadRuntimeOptions } from '../thread-options.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { createThread, forkThread, rewindThread } from '../threads/threads.ts'

function isRefused(field: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(InspanError.is(error, 'invalid-input'), String(error))
    assert.ok(error.message.includes(field), error.message)
    return true
  }
}

test('an agent without a driver is refused by its name and with what to do, before a run begins', async () => {
  const agent = new Agent({ id: 'raw', model: 'any/model' })
  await using bench = await RuntimeBench.open({ raw: agent as unknown as RuntimeAgent })
  await assert.rejects(
    bench.submit('Go.', { agentId: 'raw' }),
    isRefused('`driver` of agent "raw" has to be a driver, as `runtimeAgent(agent)` gives one'),
  )
  assert.equal(bench.runtime.state.head.run, null)
})

suite('invalid options of a thread are refused by name', () => {
  for (const [field, options] of [
    ['`thread`', { thread: '' }],
    ['`thread`', { thread: undefined }],
    ['`store`', { store: undefined }],
    ['`agents`', { agents: null }],
    ['`maxAttempts`', { maxAttempts: -1 }],
    ['`maxAttempts`', { maxAttempts: 1.5 }],
    ['`onInterrupted`', { onInterrupted: 'perhaps' }],
    ['`approvalTimeout`', { approvalTimeout: NaN }],
    ['`approvalTimeout`', { approvalTimeout: '5m' }],
    ['`parkAfter`', { parkAfter: -1 }],
    ['`keepWarm`', { keepWarm: null }],
    ['`passivateAfter`', { passivateAfter: NaN }],
    ['`handoverTokens`', { handoverTokens: 1.5 }],
    ['`handoverTokens`', { handoverTokens: -5 }],
    ['`priceOf`', { priceOf: 3 }],
    ['`decide`', { decide: 'ask' }],
    ['`aproveTimeout` is not an option of a thread. Did you mean "approvalTimeout"?', { aproveTimeout: 5 }],
  ] as const) {
    test(`${field}: ${JSON.stringify(options)}`, async () => {
      const store = new MemoryStore()
      await using owner = await ownerOf(store)
      await createThread(store, { id: 'thread', resourceId: 'test' })
      const given = { store, owner: owner.owner, thread: 'thread', agents: {}, ...options }
      await assert.rejects(ThreadRuntime.open(given as unknown as ThreadRuntimeOptions), isRefused(field))
      const runtime = await ThreadRuntime.open({ store, owner: owner.owner, thread: 'thread', agents: {} })
      await runtime.close()
    })
  }

  test('missing options are refused', async () => {
    await assert.rejects(ThreadRuntime.open(null as never), isRefused('a thread has to be an object'))
  })
})

async function ownerOf(store: MemoryStore): Promise<{ owner: ProcessOwner } & AsyncDisposable> {
  const owner = await ProcessOwner.register(store)
  return { owner, [Symbol.asyncDispose]: () => owner.close() }
}

suite('what an agent returns about its turns is checked, also when a function returns it', () => {
  for (const [field, turn] of [
    ['`tokens` of the budget', { budget: { tokens: NaN } }],
    ['`usd` of the budget', { budget: { usd: '5' } }],
    ['`maxSteps`', { maxSteps: 0 }],
    ['`maxSteps`', { maxSteps: 2.5 }],
    ['`repairs` of the output', { output: { schema: {}, repairs: NaN } }],
    ['`model`', { model: 5 }],
    ['Did you mean "maxSteps"?', { maxStep: 5 }],
    ['Did you mean "tokens"?', { budget: { token: 5 } }],
  ] as const) {
    for (const how of ['given', 'asked for'] as const) {
      test(`${field}, ${how}: the run fails with an error that names it`, async () => {
        const driver = new ForeignAgent('cli', [says('hi')])
        const given = turn as unknown as TurnDefaults
        await using bench = await RuntimeBench.open({ cli: { driver, turn: how === 'given' ? given : () => given } })
        assert.equal(await (await bench.submit('Go.', { agentId: 'cli' })).done, 'error')
        const [ended] = await bench.bodies('run.ended')
        assert.equal(ended?.error?.code, 'invalid-input')
        assert.ok(ended.error.message.includes(field), ended.error.message)
        assert.deepEqual(driver.turns, [])
      })
    }
  }
})

test('a time that is longer than a timer can hold is not over at once', async (t) => {
  const warned: unknown[] = []
  const onWarning = (warning: unknown): void => void warned.push(warning)
  process.on('warning', onWarning)
  t.after(() => process.off('warning', onWarning))
  const agent = new ForeignAgent('cli', [says('One.'), says('Two.')])
  const ever = { keepWarm: Infinity, passivateAfter: 2 ** 40, parkAfter: Infinity, approvalTimeout: 2 ** 40 }
  await using bench = await RuntimeBench.open({ cli: { driver: agent } }, ever)
  assert.equal(await (await bench.submit('Go.', { agentId: 'cli' })).done, 'complete')
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.equal(await (await bench.submit('Go.', { agentId: 'cli' })).done, 'complete')
  assert.equal(agent.opened, 1, 'its program was kept')
  assert.ok(bench.runtime.isHeld)
  assert.deepEqual(warned, [])
})

suite('a misspelt field of a submission is refused, with the name that was meant', () => {
  for (const [meant, given] of [
    ['requestContext', { requestContxt: {} }],
    ['maxSteps', { turn: { maxStep: 5 } }],
    ['tokens', { turn: { budget: { token: 5 } } }],
    ['repairs', { turn: { output: { schema: {}, repair: 2 } } }],
  ] as const) {
    test(meant, async () => {
      await using bench = await RuntimeBench.open({ cli: { driver: new ForeignAgent('cli', [says('hi')]) } })
      const submission = { agentId: 'cli', parts: [{ id: '0', type: 'text', text: 'Go.' }], ...given } as Submission
      await assert.rejects(bench.runtime.submit(submission), isRefused(`Did you mean "${meant}"?`))
      await assert.rejects(bench.runtime.followUp(submission), isRefused(`Did you mean "${meant}"?`))
      assert.equal(bench.runtime.state.head.run, null)
    })
  }
})

suite('a picture that is only an address is refused: a model would be sent the address for the picture', () => {
  for (const data of ['https://example.com/a.png', 'data:image/png;base64,iVBORw0KGgo=', 'file:///a.png']) {
    test(data, async () => {
      await using bench = await RuntimeBench.open({ cli: { driver: new ForeignAgent('cli', [says('hi')]) } })
      const parts: Part[] = [{ id: '0', type: 'image', mimeType: 'image/png', data }]
      await assert.rejects(bench.runtime.submit({ agentId: 'cli', parts }), isRefused('`data` of part 0'))
    })
  }
})

const HOSTILE = [null, undefined, 5, 'text', [], {}, { __proto__: null }, Symbol('s'), () => undefined] as const

suite('whatever a thread is given, it reports what is wrong, and continues', () => {
  const doors: { readonly [name: string]: (runtime: ThreadRuntime, given: never) => Promise<unknown> } = {
    submit: (runtime, given) => runtime.submit(given),
    'submit of parts': (runtime, given) => runtime.submit({ agentId: 'cli', parts: given }),
    'submit of a part': (runtime, given) => runtime.submit({ agentId: 'cli', parts: [given] }),
    'submit to an agent': (runtime, given) =>
      runtime.submit({ agentId: given, parts: [{ id: '0', type: 'text', text: 'Hi' }] }),
    steer: (runtime, given) => runtime.steer(given),
    followUp: (runtime, given) => runtime.followUp(given),
    record: (runtime, given) => runtime.record([given]),
    'record of a list': (runtime, given) => runtime.record(given === ([] as never) ? (5 as never) : given),
    addScore: (runtime, given) => runtime.addScore('run', given),
    'addScore of a run': (runtime, given) => runtime.addScore(given, { name: 's', value: 1, source: 'me' }),
    addFeedback: (runtime, given) => runtime.addFeedback('run', given),
    opinions: (runtime, given) => runtime.opinions(given),
    answer: (runtime, given) => runtime.answer(given, { decision: 'approve' }),
    handOff: (runtime, given) => runtime.handOff(given),
  }
  for (const [name, call] of Object.entries(doors)) {
    test(name, async () => {
      const agent = new ForeignAgent('cli', [says('Fine.')])
      await using bench = await RuntimeBench.open(
        { cli: { driver: agent } },
        { store: new SqliteStore({ url: ':memory:' }) },
      )
      for (const given of HOSTILE) {
        // An empty list is a valid list.
        if (name.endsWith('list') && Array.isArray(given)) continue
        if (name === 'submit of parts' && Array.isArray(given)) continue
        await assert.rejects(
          async () => call(bench.runtime, given as never),
          (error) => InspanError.is(error) && !error.message.includes('TypeError'),
          `${name} of ${inspect(given)}`,
        )
      }
      assert.equal(await (await bench.submit('Go.', { agentId: 'cli' })).done, 'complete')
      assert.equal((await bench.bodies('run.started')).length, 1)
    })
  }
})

suite('an invalid fact is refused by its field, and the log continues', () => {
  for (const [field, fact] of [
    ['`type`', { type: 'run.ended', runId: 'r', outcome: 'complete' }],
    ['`type`', { type: '__proto__' }],
    ['`tasks`', { type: 'tasks.changed' }],
    ['a task', { type: 'tasks.changed', tasks: [{}] }],
    ['`item`', { type: 'queue.added' }],
    ['`lane`', { type: 'queue.added', item: { id: 'i', lane: 'fast', parts: [] } }],
    ['`itemId`', { type: 'queue.removed', reason: 'sent' }],
    ['`parts`', { type: 'message.added', messageId: 'm', role: 'user' }],
    ['`role`', { type: 'message.added', messageId: 'm', role: 'god', parts: [] }],
    ['part 0', { type: 'message.added', messageId: 'm', role: 'user', parts: [{ id: '0', type: 'text' }] }],
    ['cannot be used as an id', { type: 'message.added', messageId: '__proto__', role: 'user', parts: [] }],
    ['`kind`', { type: 'note', kind: 'gossip', text: 'x' }],
    ['`text`', { type: 'note', kind: 'info' }],
  ] as const) {
    test(`${field}: ${JSON.stringify(fact)}`, async () => {
      await using bench = await RuntimeBench.open({})
      await assert.rejects(bench.runtime.record([fact as unknown as ControlFact]), isRefused(field))
      await bench.runtime.record([{ type: 'note', kind: 'info', text: 'still here' }])
      assert.equal((await bench.bodies('note')).length, 1)
    })
  }
})

suite('threads', () => {
  test('are not created without an owner, and not forked or rewound at an invalid place', async () => {
    await using bench = await RuntimeBench.open({})
    const { store, runtime } = bench
    for (const given of [null, {}, { resourceId: '' }, { resourceId: 5 }, { resourceId: 'r', id: 5 }]) {
      await assert.rejects(createThread(store, given as never), isRefused('a new thread'))
    }
    const owner = await ProcessOwner.register(store)
    for (const at of [-1, 1.5, NaN, '1', undefined]) {
      const fork = { resourceId: 'r', at } as never
      await assert.rejects(forkThread(store, owner, runtime.state, fork), isRefused('`at`'))
      await assert.rejects(
        runtime.change((log) => rewindThread(store, log, at as never)),
        isRefused('`to`'),
      )
    }
    await owner.close()
  })
})

test('a very long text is taken as it is', async () => {
  const agent = new ForeignAgent('cli', [says('Long.')])
  await using bench = await RuntimeBench.open({ cli: { driver: agent } })
  const text = 'x'.repeat(20_000_000)
  const submission: Submission = { agentId: 'cli', parts: [{ id: '0', type: 'text', text }] }
  assert.equal(await (await bench.runtime.submit(submission)).done, 'complete')
  const [input] = agent.turns[0]?.input ?? []
  assert.ok(input?.type === 'text' && input.text === text)
})
