import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import type { Decision, RunnableTool } from '@inspan/protocol/driver'
import { MemoryStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import type { ModelScript } from '../agent-bench.fixture.ts'
import { askingDelegateTool } from './asking-delegate.fixture.ts'
import { delegateTool } from './delegate.fixture.ts'
import { recordsAfter } from '../log/load-state.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import type { ThreadRuntimeOptions } from '../thread-options.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { createThread } from '../threads/threads.ts'

const DELEGATE: ModelScript = [
  { toolCalls: [{ id: 'd', name: 'delegate', input: { task: 'Do it.' } }] },
  { text: 'Done.' },
]
const WORK: ModelScript = [{ toolCalls: [{ id: 'w', name: 'write', input: {} }] }, { text: 'It is done.' }]

/** Two threads of one process; one delegates a task to the other. */
class Firm implements AsyncDisposable {
  readonly store = new MemoryStore()
  readonly effects: string[] = []
  readonly #owners: ProcessOwner[] = []
  readonly #opened = Promise.withResolvers<ThreadRuntime>()
  parent!: ThreadRuntime

  static async open(work: ModelScript, options: Partial<ThreadRuntimeOptions> = {}): Promise<Firm> {
    const firm = new Firm()
    const { store } = firm
    const owner = await firm.owner()
    await createThread(store, { id: 'parent', resourceId: 'test' })
    const write: RunnableTool = {
      name: 'write',
      inputSchema: { type: 'object' },
      execute: async (_input, { idempotencyKey }) => {
        firm.effects.push(idempotencyKey)
        return { result: 'written' }
      },
    }
    const worker = { driver: nativeDriver({ id: 'worker', model: scriptedModel(work) }), tools: [write] }
    const delegate = delegateTool({
      store,
      owner,
      agents: { worker },
      decide: () => ({ policy: 'ask', reason: 'it is a task' }),
      onOpen: (task) => firm.#opened.resolve(task),
      ...options,
    })
    const driver = nativeDriver({ id: 'native', model: scriptedModel(DELEGATE) })
    const agents = { native: { driver, tools: [delegate] } }
    firm.parent = await ThreadRuntime.open({ store, owner, thread: 'parent', agents })
    return firm
  }

  async owner(): Promise<ProcessOwner> {
    const owner = await ProcessOwner.register(this.store)
    this.#owners.push(owner)
    return owner
  }

  /** The thread of the task, as soon as it is open. */
  get task(): Promise<ThreadRuntime> {
    return this.#opened.promise
  }

  submit(): ReturnType<ThreadRuntime['submit']> {
    return this.parent.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Have it done.' }] })
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise((resolve) => setImmediate(resolve))
  }

  /** Resolves with the open wait of the task's thread. */
  async asked(): Promise<{ readonly task: ThreadRuntime; readonly waitId: string }> {
    const task = await this.task
    await this.until(() => task.state.head.run?.status === 'parked')
    return { task, waitId: [...task.state.head.waits][0]?.id ?? '' }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.parent.close().catch(() => undefined)
    for (const owner of this.#owners) await owner.close()
    await this.store.close()
  }
}

suite('a task in a thread of its own', () => {
  test('waits there for its answer while the outer run continues, and holds nothing in the meantime', async () => {
    await using firm = await Firm.open(WORK, { passivateAfter: 0 })
    const run = await firm.submit()
    const { task, waitId } = await firm.asked()
    await firm.until(() => !task.isHeld)
    assert.equal(firm.parent.state.head.run?.status, 'running', 'somebody is at work for it')
    assert.equal(firm.parent.state.head.waits.size, 0)
    await task.answer(waitId, { decision: 'approve' })
    assert.equal(await run.done, 'complete')
    assert.equal(firm.effects.length, 1)
    assert.equal(firm.parent.state.head.lastRun?.outcome, 'complete')
  })

  for (const [what, work, when] of [
    ['its model answers', [{ text: 'Half', hang: true }], (task) => task.state.messages.length > 1],
    ['its approval waits', WORK, (task) => task.state.head.run?.status === 'parked'],
  ] as readonly (readonly [string, ModelScript, (task: ThreadRuntime) => boolean])[]) {
    test(`is cancelled with the run that it is for, by the signal of its call (${what})`, async () => {
      await using firm = await Firm.open(work)
      const run = await firm.submit()
      const task = await firm.task
      await firm.until(() => when(task))
      const { calls } = await firm.parent.cancel()
      assert.deepEqual(calls, ['d'])
      assert.equal(await run.done, 'aborted')
      await firm.until(() => task.state.head.run === null)
      assert.equal(task.state.head.lastRun?.outcome, 'aborted')
      assert.equal(task.state.head.waits.size, 0)
      assert.deepEqual(firm.effects, [])
    })
  }

  test('is not cancelled when the thread is only released: its question stays', async () => {
    await using firm = await Firm.open(WORK)
    await firm.submit()
    const { task, waitId } = await firm.asked()
    await firm.parent.close()
    await firm.until(() => !task.isHeld)
    const { stream } = task.state.head
    assert.equal((await firm.store.getWait(stream, waitId))?.state, 'pending')
    const records = await Array.fromAsync(recordsAfter(firm.store, stream, 0))
    assert.ok(!records.some(({ body }) => body.type === 'run.cancelled' || body.type === 'run.ended'))
  })
})

suite('a task in a thread of its own that asks in the thread it is for', () => {
  const write = (effects: string[]): RunnableTool => ({
    name: 'write',
    inputSchema: { type: 'object' },
    execute: async (_input, { idempotencyKey }) => {
      effects.push(idempotencyKey)
      return { result: 'written' }
    },
  })

  test('leaves both waiting when they are released; each answer goes to what it was asked for', async () => {
    const store = new MemoryStore()
    await createThread(store, { id: 'parent', resourceId: 'test' })
    const effects: string[] = []
    const model = scriptedModel(DELEGATE)
    const working = scriptedModel([
      { toolCalls: [{ id: 'w1', name: 'write', input: {} }] },
      { toolCalls: [{ id: 'w2', name: 'write', input: {} }] },
      { text: 'Half of it is done.' },
    ])
    const worker = { driver: nativeDriver({ id: 'worker', model: working }), tools: [write(effects)] }
    const open = async (): Promise<{ runtime: ThreadRuntime; owner: ProcessOwner }> => {
      const owner = await ProcessOwner.register(store)
      const decide = (): Decision => ({ policy: 'ask', reason: 'it is a task' })
      const delegate = askingDelegateTool({ store, owner, agents: { worker }, decide })
      const agents = { native: { driver: nativeDriver({ id: 'native', model }), tools: [delegate] } }
      return { owner, runtime: await ThreadRuntime.open({ store, owner, thread: 'parent', agents }) }
    }
    const first = await open()
    const { runId } = await first.runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Go.' }] })
    await first.runtime.idle()
    const asked: string[] = []
    let { owner, runtime } = first
    for (const decision of ['approve', 'decline'] as const) {
      assert.equal(runtime.state.head.run?.status, 'parked')
      await runtime.close()
      await owner.close()
      const next = await open()
      ;({ owner, runtime } = next)
      assert.equal(runtime.state.head.run?.runId, runId, 'the same run')
      const [wait] = [...runtime.state.head.waits]
      asked.push(wait?.id ?? '')
      await runtime.answer(wait?.id ?? '', { decision })
      await runtime.idle()
    }
    assert.equal(new Set(asked).size, 2)
    assert.equal(await runtime.outcome(runId), 'complete')
    assert.equal(effects.length, 1, 'what was approved was done, once')
    assert.match(JSON.stringify(working.requests.at(-1)), /denied/)
    assert.match(JSON.stringify(model.requests.at(-1)), /complete/)
    await runtime.close()
    await owner.close()
    await store.close()
  })
})

suite('the signal of a tool', () => {
  for (const [how, end, isLetGo] of [
    ['cancelled', (runtime) => runtime.cancel(), false],
    ['let go of', (runtime) => runtime.close(), true],
  ] as readonly (readonly [string, (runtime: ThreadRuntime) => Promise<unknown>, boolean])[]) {
    test(`says why it is aborted: the run was ${how}`, async () => {
      const store = new MemoryStore()
      const owner = await ProcessOwner.register(store)
      await createThread(store, { id: 'thread', resourceId: 'test' })
      const begun = Promise.withResolvers<AbortSignal>()
      const write: RunnableTool = {
        name: 'write',
        inputSchema: { type: 'object' },
        execute: (_input, { signal }) => {
          begun.resolve(signal)
          return new Promise(() => undefined)
        },
      }
      const agents = { native: { driver: nativeDriver({ id: 'native', model: scriptedModel(WORK) }), tools: [write] } }
      const runtime = await ThreadRuntime.open({ store, owner, thread: 'thread', agents })
      await runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Go.' }] })
      const signal = await begun.promise
      await end(runtime)
      assert.equal(InspanError.is(signal.reason, 'closed'), isLetGo)
      await runtime.close()
      await owner.close()
      await store.close()
    })
  }
})

suite('how a run ends', () => {
  test('is known of the one that is going on and of the last, and of no other', async () => {
    await using firm = await Firm.open(WORK)
    const { runId } = await firm.submit()
    const ended = firm.parent.outcome(runId)
    const { task, waitId } = await firm.asked()
    await task.answer(waitId, { decision: 'approve' })
    assert.equal(await ended, 'complete')
    assert.equal(await firm.parent.outcome(runId), 'complete')
    await assert.rejects(firm.parent.outcome('nowhere'), (error) => InspanError.is(error, 'not-found'))
  })

  test('is known also when another owner continued it, once the thread is read again', async () => {
    const store = new MemoryStore()
    await createThread(store, { id: 'thread', resourceId: 'test' })
    const model = scriptedModel(WORK)
    const write: RunnableTool = { name: 'write', inputSchema: {}, execute: async () => ({ result: 'written' }) }
    const agents = { native: { driver: nativeDriver({ id: 'native', model }), tools: [write] } }
    const decide: ThreadRuntimeOptions['decide'] = () => ({ policy: 'ask', reason: 'careful' })
    const open = async (): Promise<ThreadRuntime> => {
      const owner = await ProcessOwner.register(store)
      return ThreadRuntime.open({ store, owner, thread: 'thread', agents, decide })
    }
    const first = await open()
    const run = await first.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Go.' }] })
    await first.idle()
    const second = await open()
    const [wait] = [...second.state.head.waits]
    await second.answer(wait?.id ?? '', { decision: 'approve' })
    await second.idle()
    await second.close()
    await first.configure({ title: 'Looked again' })
    assert.equal(await run.done, 'complete')
    await first.close()
    await store.close()
  })
})
