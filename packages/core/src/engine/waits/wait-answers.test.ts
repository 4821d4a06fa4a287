import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import {
  InspanError,
  NO_RULES,
  type Answer,
  type ErrorCode,
  type JsonObject,
  type JsonValue,
  type Wait,
} from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import { MemoryStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { createPolicy } from '../../policy/index.ts'
import { ForeignAgent, runs, says, type Act } from '../foreign-agent.fixture.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { createThread } from '../threads/threads.ts'

const isCode = (code: ErrorCode) => (error: unknown) => InspanError.is(error, code)

/** Returns our id of a wait, whatever the program calls it. */
function idOf(bench: RuntimeBench, description: string): string | undefined {
  return [...bench.runtime.state.head.waits].find((wait) => wait.description === description)?.id
}

suite('an answer', () => {
  test('an answer to a question of another thread is a clear error, there and here', async () => {
    const store = new MemoryStore()
    const owner = await ProcessOwner.register(store)
    const journal: string[] = []
    const open = async (thread: string): Promise<ThreadRuntime> => {
      await createThread(store, { id: thread, resourceId: 'test' })
      const write: RunnableTool = {
        name: 'write',
        inputSchema: { type: 'object' },
        execute: async () => {
          journal.push(thread)
          return { result: 'written' }
        },
      }
      const model = scriptedModel([{ toolCalls: [{ id: 'c', name: 'write' }] }, { text: 'Done.' }])
      const agents = { native: { driver: nativeDriver({ id: 'native', model }), tools: [write] } }
      const runtime = await ThreadRuntime.open({
        store,
        owner,
        thread,
        agents,
        policy: createPolicy({ rules: NO_RULES }),
      })
      await runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Go.' }] })
      await runtime.idle()
      return runtime
    }
    const [mine, theirs] = await Promise.all([open('mine'), open('theirs')])
    const [wait] = [...theirs.state.head.waits]
    assert.ok(wait)
    await assert.rejects(mine.answer(wait.id, { decision: 'approve' }), isCode('not-found'))
    assert.deepEqual([...theirs.state.head.waits.keys()], [wait.id], 'it still waits')
    assert.equal(mine.state.head.waits.size, 1)
    assert.deepEqual(journal, [])
    await theirs.answer(wait.id, { decision: 'approve' })
    await theirs.idle()
    // The wait is answered in the other thread and was never opened in this one.
    await assert.rejects(theirs.answer(wait.id, { decision: 'approve' }), isCode('conflict'))
    await assert.rejects(mine.answer(wait.id, { decision: 'approve' }), isCode('not-found'))
    assert.deepEqual(journal, ['theirs'])
    await Promise.all([mine.close(), theirs.close()])
    await owner.close()
    await store.close()
  })

  test('is on record with who gave it, and whoever answers again gets an error', async () => {
    const model = scriptedModel([{ toolCalls: [{ id: 'c', name: 'write' }] }, { text: 'Done.' }])
    const write: RunnableTool = { name: 'write', inputSchema: {}, execute: async () => ({ result: 'written' }) }
    await using bench = await RuntimeBench.open({
      native: { driver: nativeDriver({ id: 'native', model }), tools: [write] },
    })
    const run = await bench.submit('Go.', { agentId: 'native' })
    const { id } = await bench.wait()
    await bench.runtime.answer(id, { decision: 'approve' }, 'ann')
    await assert.rejects(bench.runtime.answer(id, { decision: 'decline' }, 'bob'), (error) => {
      assert.ok(InspanError.is(error, 'conflict'))
      assert.match(error.message, /answered by ann already/)
      return true
    })
    assert.equal(await run.done, 'complete')
    const given = (await bench.records()).filter(({ body }) => body.type === 'wait.answered')
    assert.deepEqual(
      given.map(({ by }) => by),
      ['ann'],
    )
    assert.equal((await bench.store.getWait('thread', id))?.answeredBy, 'ann')
  })

  test('counts for one question, also when a program gives all of its questions one id', async () => {
    const asks: Act = async function* (_turn, host) {
      yield { type: 'step-start', stepIndex: 0 }
      const answer = await host.ask({ id: 'q', kind: 'question', subject: {}, description: 'Which?' })
      yield { type: 'text-delta', text: JSON.stringify(answer.value) }
      yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
    }
    const agent = new ForeignAgent('cli', [asks, asks])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    const first = await bench.submit('One?', { agentId: 'cli' })
    const { id } = await bench.wait()
    await bench.runtime.answer(id, { decision: 'answer', value: 'a' })
    assert.equal(await first.done, 'complete')
    const second = await bench.submit('Two?', { agentId: 'cli' })
    const again = await bench.wait()
    await assert.rejects(bench.runtime.answer(id, { decision: 'answer', value: 'a' }), isCode('conflict'))
    assert.ok(bench.runtime.state.head.waits.has(again.id))
    await bench.runtime.answer(again.id, { decision: 'answer', value: 'b' })
    assert.equal(await second.done, 'complete')
  })

  test('given from inside a listener comes after the events being emitted, in order', async () => {
    const agent: ForeignAgent = new ForeignAgent('cli', [runs(() => agent, 'make'), says('Next.')])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    const heard: string[] = []
    bench.runtime.onEntry((entry) => {
      if (entry.kind !== 'record') return
      const { body } = entry.record
      heard.push(body.type)
      if (body.type !== 'wait.opened') return
      void bench.runtime.configure({ mode: 'careful' })
      void bench.runtime.followUp({ agentId: 'cli', parts: [{ id: '0', type: 'text', text: 'And then?' }] })
      void bench.runtime.answer(body.wait.id, { decision: 'approve' })
      heard.push('all said')
    })
    const others: string[] = []
    bench.runtime.onEntry((entry) => {
      if (entry.kind === 'record') others.push(entry.record.body.type)
    })
    assert.equal(await (await bench.submit('go', { agentId: 'cli' })).done, 'complete')
    await bench.runtime.idle()
    const from = heard.indexOf('wait.opened')
    const said = heard
      .slice(from)
      .filter((type) => ['wait.opened', 'all said', 'config.changed', 'queue.added', 'wait.answered'].includes(type))
    assert.deepEqual(said, ['wait.opened', 'all said', 'config.changed', 'queue.added', 'wait.answered'])
    assert.deepEqual(
      heard.filter((type) => type !== 'all said'),
      others,
      'both hear the same, in the same order',
    )
    assert.deepEqual(agent.journal, ['make'])
    assert.equal(agent.turns.length, 2, 'what was queued is sent')
  })

  const several: Act = async function* (_turn, host) {
    yield { type: 'step-start', stepIndex: 0 }
    const ask = (id: string, schema: JsonObject): Promise<unknown> =>
      host.ask({ id, kind: 'question', subject: {}, description: id, answerSchema: JSON.stringify(schema) })
    const answers = await Promise.all([
      ask('free', { type: 'string', minLength: 1 }),
      ask('single', { enum: ['red', 'blue'] }),
      ask('multi', { type: 'array', items: { enum: ['a', 'b', 'c'] }, uniqueItems: true, minItems: 1 }),
    ])
    yield { type: 'text-delta', text: JSON.stringify(answers) }
    yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
  }

  test('an answer to several questions at once (free, one of several, some of several) goes to each, in any order, and only if it fits', async () => {
    const agent = new ForeignAgent('cli', [several])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    const { done } = await bench.submit('go', { agentId: 'cli' })
    const waits: Wait[] = await bench.waits(3)
    const ids = new Map(waits.map(({ description, id }) => [description, id]))
    assert.deepEqual([...ids.keys()].toSorted(), ['free', 'multi', 'single'])
    const answer = (name: string, value: JsonValue): Promise<void> =>
      bench.runtime.answer(ids.get(name) ?? '', { decision: 'answer', value })
    for (const [name, wrong] of [
      ['multi', ['a', 'a']],
      ['multi', []],
      ['multi', 'a'],
      ['single', 'green'],
      ['free', ''],
      ['free', 5],
    ] as const) {
      await assert.rejects(answer(name, wrong), isCode('invalid-input'))
    }
    assert.equal(bench.runtime.state.head.waits.size, 3, 'what does not fit changes nothing')
    await answer('multi', ['c', 'a'])
    await answer('free', 'anything')
    await answer('single', 'blue')
    assert.equal(await done, 'complete')
    const said = JSON.stringify(await bench.records())
    assert.match(said, /anything.*blue.*c.*a/)
  })

  test('an answer to an approval that is neither a yes nor a no is refused, and the call keeps waiting', async () => {
    const journal: string[] = []
    const write: RunnableTool = {
      name: 'write',
      inputSchema: { type: 'object' },
      execute: async () => {
        journal.push('write')
        return { result: 'written' }
      },
    }
    const model = scriptedModel([{ toolCalls: [{ id: 'c', name: 'write' }] }, { text: 'Done.' }])
    await using bench = await RuntimeBench.open({
      native: { driver: nativeDriver({ id: 'native', model }), tools: [write] },
    })
    const { done } = await bench.submit('go', { agentId: 'native' })
    const { id } = await bench.wait()
    for (const wrong of [{ decision: 'deny' }, {}, { decision: 'approve', remember: 'everything' }]) {
      await assert.rejects(bench.runtime.answer(id, wrong as Answer), isCode('invalid-input'))
    }
    assert.deepEqual([...bench.runtime.state.head.waits.keys()], [id])
    await bench.runtime.answer(id, { decision: 'decline' })
    assert.equal(await done, 'complete')
    assert.deepEqual(journal, [])
  })

  for (const settle of ['answered', 'taken back'] as const) {
    test(`a run with two questions of a program goes on waiting when the first is ${settle}`, async () => {
      const ask = { kind: 'question', subject: { agentId: 'cli' } } as const
      const act: Act = async function* (turn, host) {
        const first = host.ask({ ...ask, id: 'first', description: 'first' }).catch(() => undefined)
        const second = host.ask({ ...ask, id: 'second', description: 'second' })
        if (settle === 'answered') await first
        else await host.withdraw('first')
        await second
        yield* says('Thank you.')(turn, host)
      }
      await using bench = await RuntimeBench.open({ cli: { driver: new ForeignAgent('cli', [act]) } })
      const { done } = await bench.submit('go', { agentId: 'cli' })
      await bench.until(() => idOf(bench, 'second') !== undefined)
      if (settle === 'answered')
        await bench.runtime.answer(idOf(bench, 'first') ?? '', { decision: 'answer', value: 'yes' })
      await bench.until(() => idOf(bench, 'first') === undefined)
      await bench.runtime.idle()
      assert.equal(bench.runtime.state.head.run?.status, 'parked')
      await bench.runtime.answer(idOf(bench, 'second') ?? '', { decision: 'answer', value: 'yes' })
      assert.equal(await done, 'complete')
    })
  }

  test('an answer to one of two questions of a program that continues with it: the run is at work again', async () => {
    const ask = { kind: 'question', subject: { agentId: 'cli' } } as const
    const act: Act = async function* (_turn, host) {
      const second = host.ask({ ...ask, id: 'second', description: 'second' })
      await host.ask({ ...ask, id: 'first', description: 'first' })
      yield { type: 'step-start', stepIndex: 0 }
      yield { type: 'text-delta', text: 'I go on.' }
      await second
      yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
    }
    await using bench = await RuntimeBench.open({ cli: { driver: new ForeignAgent('cli', [act]) } })
    const { done } = await bench.submit('go', { agentId: 'cli' })
    await bench.until(() => idOf(bench, 'first') !== undefined)
    await bench.runtime.idle()
    const atWork = Promise.withResolvers<string | undefined>()
    bench.runtime.onEntry(({ kind, state }) => void (kind === 'delta' && atWork.resolve(state.head.run?.status)))
    await bench.runtime.answer(idOf(bench, 'first') ?? '', { decision: 'answer', value: 'yes' })
    assert.equal(await atWork.promise, 'running')
    await bench.runtime.answer(idOf(bench, 'second') ?? '', { decision: 'answer', value: 'yes' })
    assert.equal(await done, 'complete')
  })
})
