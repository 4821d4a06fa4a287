import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InspanError } from '@inspan/protocol'
import type { Capabilities } from '@inspan/protocol/driver'
import { callOf, ForeignAgent, says, type Act } from '../foreign-agent.fixture.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'

suite('the session of a foreign agent', () => {
  test('stays open between turns, one for each agent of the thread', async () => {
    const one = new ForeignAgent('one', [says('1'), says('3')])
    const two = new ForeignAgent('two', [says('2')])
    await using bench = await RuntimeBench.open({ one: { driver: one }, two: { driver: two } })
    for (const agentId of ['one', 'two', 'one']) await (await bench.submit('go', { agentId })).done
    assert.deepEqual([one.opened, one.turns.length, one.closed], [1, 2, 0])
    assert.deepEqual([two.opened, two.closed], [1, 0])
    await bench.runtime.close()
    assert.deepEqual([one.closed, two.closed], [1, 1])
  })

  test('is closed when it was idle for too long, and opened again with its binding', async () => {
    const agent = new ForeignAgent('cli', [says('1'), says('2')])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } }, { keepWarm: 5 })
    await (
      await bench.submit('go', { agentId: 'cli' })
    ).done
    await bench.until(() => agent.closed === 1)
    await (
      await bench.submit('go', { agentId: 'cli' })
    ).done
    assert.equal(agent.opened, 2)
    assert.equal(bench.runtime.state.head.bindings.get('cli')?.nativeId, 'cli-session-1')
  })

  test('is another one after the conversation was rewound', async () => {
    const agent = new ForeignAgent('cli', [says('1'), says('2')])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    await (
      await bench.submit('go', { agentId: 'cli' })
    ).done
    const { bindings } = bench.runtime.state.head
    const binding = {
      ...bindings.get('cli'),
      agentId: 'cli',
      nativeId: 'cli-session-1',
      syncedTo: 1,
      stale: 'rewound',
    } as const
    await bench.runtime.change(async (log) => void log.add({ type: 'binding.changed', binding }))
    await (
      await bench.submit('go', { agentId: 'cli' })
    ).done
    assert.deepEqual([agent.opened, agent.closed], [2, 1])
  })

  test('can warn people, in every turn', async () => {
    const complains: Act = async function* ({ turnId }, host) {
      host.warn('It is getting late.', { turnId })
      host.log('warn', 'The recording is not complete.')
      host.log('debug', 'Nobody needs to know this.')
      yield { type: 'text-delta', text: 'Done.' }
    }
    const agent = new ForeignAgent('cli', [complains, complains])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    for (const _turn of [1, 2]) await (await bench.submit('go', { agentId: 'cli' })).done
    const notes = (await bench.bodies('note')).filter(({ kind }) => kind === 'warning')
    assert.deepEqual(
      notes.map(({ data, text }) => [text, data]),
      agent.turns.flatMap(({ turnId }) => [
        ['It is getting late.', { turnId }],
        ['The recording is not complete.', undefined],
      ]),
    )
    // Between turns the error is ignored, because there is no turn to record it for.
    agent.hosts[0]?.log('error', 'Something else is wrong.')
    await bench.runtime.close()
    agent.hosts[0]?.log('error', 'Something else is wrong.')
    assert.equal((await bench.bodies('note')).length, notes.length)
  })

  test('asks the turn that is under way, not the one it was opened for', async () => {
    const asks: Act = async function* (_turn, host) {
      await host.ask({ id: crypto.randomUUID(), kind: 'question', subject: {}, description: 'Sure?' })
      yield { type: 'text-delta', text: 'Thanks.' }
    }
    const agent = new ForeignAgent('cli', [says('1'), asks])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    await (
      await bench.submit('go', { agentId: 'cli' })
    ).done
    const { done, runId } = await bench.submit('go', { agentId: 'cli' })
    const wait = await bench.wait()
    assert.equal(wait.run, runId)
    await bench.runtime.answer(wait.id, { decision: 'answer', value: 'yes' })
    assert.equal(await done, 'complete')
  })

  test('receives the handover, and that is on record', async () => {
    const agent = new ForeignAgent('cli', [
      async function* (_turn, host) {
        const budget = host.handover
        assert.ok(budget && budget.maxTokens === 7 && budget.countTokens('Some words in English.') > 2)
        host.noteHandover({ messages: 2, tokens: 6, truncated: true })
        yield { type: 'text-delta', text: 'I see.' }
      },
    ])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } }, { handoverTokens: 7 })
    await (
      await bench.submit('go', { agentId: 'cli' })
    ).done
    const [note] = await bench.bodies('note')
    assert.equal(note?.kind, 'handover')
    assert.deepEqual(note.data, { agentId: 'cli', messages: 2, tokens: 6, truncated: true })
    assert.match(note.text, /older ones were left out/)
  })
})

suite('what is said while a foreign agent works', () => {
  /** Works until it is steered. */
  const works: Act = async function* () {
    yield { type: 'text-delta', text: 'Working.' }
    await new Promise<never>(() => undefined)
  }
  async function steered(steer: Capabilities['steer'], ...acts: readonly Act[]): Promise<[RuntimeBench, ForeignAgent]> {
    const agent = new ForeignAgent('cli', acts, { steer })
    return [await RuntimeBench.open({ cli: { driver: agent } }), agent]
  }
  const notes = async (bench: RuntimeBench): Promise<unknown[]> =>
    (await bench.bodies('note')).map(({ data }) => data?.['steer'])

  for (const [steer, how] of [
    ['inject', 'injected'],
    ['queue', 'queued'],
  ] as const) {
    test(`is ${how} where it takes it so, and becomes a message of the run`, async () => {
      const release = Promise.withResolvers<void>()
      const [bench, agent] = await steered(steer, async function* () {
        yield { type: 'text-delta', text: 'Working.' }
        await release.promise
        yield { type: 'text-delta', text: 'Done.' }
      })
      await using _ = bench
      const { done, runId } = await bench.submit('go', { agentId: 'cli' })
      const again = await bench.submit('Faster.', { agentId: 'cli', messageId: 'faster' })
      assert.equal(again.runId, runId)
      await bench.until(() => bench.runtime.state.head.queue.size === 0)
      assert.deepEqual(
        agent.steered.map(({ id }) => id),
        ['faster'],
      )
      release.resolve()
      assert.equal(await done, 'complete')
      assert.deepEqual(await notes(bench), [how])
      const added = await bench.bodies('message.added')
      assert.deepEqual(
        added.map(({ messageId }) => messageId === 'faster'),
        [false, true],
      )
    })
  }

  test('starts another turn of the same run where the agent needs one', async () => {
    const [bench, agent] = await steered('restart', works, says('Faster now.'))
    await using _ = bench
    const { done, runId } = await bench.submit('go', { agentId: 'cli' })
    await bench.until(() => agent.turns.length === 1)
    await bench.submit('Faster.', { agentId: 'cli' })
    assert.equal(await done, 'complete')
    assert.equal(agent.turns.length, 2)
    assert.equal(agent.turns[1]?.runId, runId)
    assert.match(JSON.stringify(agent.turns[1].input), /Faster\./)
    assert.deepEqual(await notes(bench), ['restart'])
  })

  test('is delivered once it continues, when it only waited for an answer', async () => {
    const heard = Promise.withResolvers<void>()
    const agent: ForeignAgent = new ForeignAgent('cli', [
      async function* (_turn, host) {
        yield* callOf(() => agent, 'make', 'c1', host)
        await heard.promise
      },
    ])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    const { done, runId } = await bench.submit('go', { agentId: 'cli' })
    const { id } = await bench.wait()
    await bench.until(() => bench.runtime.state.head.run?.status === 'parked')
    const parts = [{ id: '0', type: 'text', text: 'Faster.' }] as const
    const steering = await bench.runtime.steer({ agentId: 'cli', parts, messageId: 'faster' })
    assert.equal(steering.runId, runId)
    assert.equal(agent.steered.length, 0, 'it answers nothing')
    await bench.runtime.answer(id, { decision: 'approve' })
    await bench.until(() => bench.runtime.state.head.queue.size === 0)
    heard.resolve()
    assert.equal(await done, 'complete')
    assert.deepEqual(
      agent.steered.map((message) => message.id),
      ['faster'],
    )
    assert.deepEqual(agent.journal, ['make'])
    assert.equal(agent.turns.length, 1)
  })

  for (const steer of ['inject', 'restart'] as const) {
    test(`is delivered whole, however long it is (${steer})`, async () => {
      const release = Promise.withResolvers<void>()
      const [bench, agent] = await steered(
        steer,
        async function* () {
          yield { type: 'text-delta', text: 'Working.' }
          await release.promise
        },
        says('Heard.'),
      )
      await using _ = bench
      const text = 'word '.repeat(10_000)
      const { done } = await bench.submit('go', { agentId: 'cli' })
      await bench.until(() => agent.turns.length === 1)
      await bench.submit(text, { agentId: 'cli', messageId: 'long' })
      await bench.until(() => bench.runtime.state.head.queue.size === 0)
      release.resolve()
      assert.equal(await done, 'complete')
      const heard = steer === 'inject' ? agent.steered[0]?.parts : agent.turns[1]?.input
      assert.deepEqual(
        heard?.map((part) => (part.type === 'text' ? part.text : part.type)),
        [text],
      )
      const said = (await bench.bodies('message.added')).find(({ messageId }) => messageId === 'long')
      assert.equal(said?.meta?.synthetic, undefined, 'they are the words of who said them')
      assert.ok(said !== undefined)
    })
  }

  test('is refused where the agent cannot receive it, and can be sent as a follow-up', async () => {
    const release = Promise.withResolvers<void>()
    const [bench, agent] = await steered(
      'none',
      async function* () {
        yield { type: 'text-delta', text: 'Working.' }
        await release.promise
      },
      says('Now I hear.'),
    )
    await using _ = bench
    const { done } = await bench.submit('go', { agentId: 'cli' })
    await assert.rejects(bench.submit('Faster.', { agentId: 'cli' }), (error) => InspanError.is(error, 'unsupported'))
    assert.equal(bench.runtime.state.head.queue.size, 0)
    await bench.runtime.followUp({ agentId: 'cli', parts: [{ id: '0', type: 'text', text: 'Faster.' }] })
    release.resolve()
    await done
    await bench.runtime.idle()
    assert.equal(agent.turns.length, 2)
  })

  test('a message that does not arrive before the turn is over is sent in a run of its own', async () => {
    const agent = new ForeignAgent('cli', [says('Done.'), says('Again.')])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    // Submitted at the same moment: the turn may be over before the program can be told.
    const first = bench.submit('go', { agentId: 'cli' })
    const second = bench.submit('And?', { agentId: 'cli' })
    await Promise.all([first, second])
    await bench.runtime.idle()
    const said = JSON.stringify([agent.steered, agent.turns])
    assert.match(said, /And\?/)
    assert.equal(bench.runtime.state.head.queue.size, 0)
  })
})
