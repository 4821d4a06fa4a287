import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import { InspanError, type StoredMessage, type Wait } from '@inspan/protocol'
import type { AgentDriver, Binding, Decision, ToolCallRequest } from '@inspan/protocol/driver'
import { agentEventsOf, type LogRecord } from '@inspan/protocol/log'
import { findTagged, spawnRun } from '@inspan/shell/run'
import { MemoryStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { recordsAfter } from './log/load-state.ts'
import { ProcessOwner } from './threads/ownership.ts'
import type { RunnableTool } from './calls/runnable-tool.ts'
import { ThreadRuntime } from './thread-runtime.ts'
import type { ThreadRuntimeOptions } from './thread-options.ts'
import { createThread } from './threads/threads.ts'

type Script = Parameters<typeof scriptedModel>[0]

const ASK: Decision = { policy: 'ask', reason: 'writing needs approval' }
const ALLOW: Decision = { policy: 'allow', reason: 'allowed' }

/** A thread, its agent and a journal of what its tool really did. */
class Bench implements AsyncDisposable {
  readonly store = new MemoryStore()
  readonly journal: string[] = []
  readonly model: ReturnType<typeof scriptedModel>
  readonly write: RunnableTool
  runtime!: ThreadRuntime
  owner!: ProcessOwner

  private constructor(script: Script, tool: Partial<RunnableTool>) {
    this.model = scriptedModel(script)
    this.write = {
      name: 'write',
      inputSchema: { type: 'object' },
      execute: async (input, { idempotencyKey }) => {
        this.journal.push(`${JSON.stringify(input)} ${idempotencyKey}`)
        return { result: 'written' }
      },
      ...tool,
    }
  }

  static async open(
    script: Script,
    options: Partial<ThreadRuntimeOptions> = {},
    tool: Partial<RunnableTool> = {},
  ): Promise<Bench> {
    const bench = new Bench(script, tool)
    await createThread(bench.store, { id: 'thread', resourceId: 'test' })
    await bench.restart(options)
    return bench
  }

  /** Simulates a new process: everything the old one held in memory is gone, and it told the store nothing. */
  async restart(options: Partial<ThreadRuntimeOptions> = {}): Promise<void> {
    this.owner = await ProcessOwner.register(this.store)
    const status = await this.store.getStream('thread')
    if (status !== null && status.owner !== null) await this.store.takeOver('thread', this.owner.id, status.epoch)
    this.runtime = await ThreadRuntime.open({
      store: this.store,
      owner: this.owner,
      thread: 'thread',
      agents: { native: { driver: nativeDriver({ id: 'native', model: this.model }), tools: [this.write] } },
      ...options,
    })
  }

  async submit(text: string): Promise<{ runId: string; done: Promise<string> }> {
    return this.runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text }] })
  }

  /** Resolves with the next open wait. */
  async wait(): Promise<Wait> {
    for (;;) {
      const [wait] = [...this.runtime.state.head.waits]
      if (wait !== undefined) return wait
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  isRunning(): boolean {
    return this.runtime.run !== undefined
  }

  async records(): Promise<LogRecord[]> {
    return Array.fromAsync(recordsAfter(this.store, 'thread', 0))
  }

  async messages(): Promise<readonly StoredMessage[]> {
    return (await this.store.listMessages(this.runtime.state.head.lineage, { order: 'oldest' })).items
  }

  async count(type: string): Promise<number> {
    return (await this.records()).flatMap(agentEventsOf).filter((event) => event.type === type).length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.runtime.close().catch(() => undefined)
    await this.owner.close()
    await this.store.close()
  }
}

const CALL: Script = [{ toolCalls: [{ id: 'c1', name: 'write', input: { path: 'a' } }] }, { text: 'Done.' }]

suite('a run', () => {
  test('ends, and the thread is free for the next', async () => {
    await using bench = await Bench.open([{ text: 'One.' }, { text: 'Two.' }])
    assert.equal(await (await bench.submit('first')).done, 'complete')
    assert.equal(await (await bench.submit('second')).done, 'complete')
    assert.deepEqual(
      (await bench.messages()).map((message) => message.role),
      ['user', 'assistant', 'user', 'assistant'],
    )
  })

  test('is steered by what is said while it continues, before the next step of the same run', async () => {
    let bench: Bench | undefined
    const tool: Partial<RunnableTool> = {
      execute: async () => {
        await bench?.submit('Use blue.')
        return { result: 'ok' }
      },
    }
    await using opened = await Bench.open([{ toolCalls: [{ name: 'write' }] }, { text: 'Blue it is.' }], {}, tool)
    bench = opened
    assert.equal(await (await opened.submit('Paint it.')).done, 'complete')
    assert.ok(JSON.stringify(opened.model.requests[1]).includes('Use blue.'))
    assert.equal(opened.model.calls, 2)
    const runs = new Set((await opened.messages()).map((message) => message.run))
    assert.equal(runs.size, 1)
  })

  test('a run that is steered during its last step continues with another', async () => {
    await using bench = await Bench.open([{ text: ['a', 'b'] }, { text: 'Heard.' }])
    let isSteered = false
    bench.runtime.onEntry((entry) => {
      if (entry.kind === 'delta' && !isSteered) {
        isSteered = true
        void bench.submit('One more thing.')
      }
    })
    assert.equal(await (await bench.submit('Go.')).done, 'complete')
    assert.equal(bench.model.calls, 2)
    assert.equal(await bench.count('finish'), 1)
  })

  test('is followed by what was queued, each in a run of its own', async () => {
    await using bench = await Bench.open([{ text: 'One.' }, { text: 'Two.' }])
    const first = bench.submit('first')
    const follow = bench.runtime.followUp({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'second' }] })
    await (
      await first
    ).done
    await follow
    await bench.runtime.idle()
    assert.equal(new Set((await bench.messages()).map((message) => message.run)).size, 2)
    assert.equal(bench.runtime.state.head.queue.size, 0)
  })
})

test('an agent with a session of its own gets it back, with how much of the thread it knows', async () => {
  const opened: (Binding | null)[] = []
  const foreign: AgentDriver = {
    port: 1,
    id: 'foreign',
    describe: async () => nativeDriver({ id: 'n', model: scriptedModel([]) }).describe(),
    open: async (binding, host) => {
      opened.push(binding)
      return {
        run: async function* () {
          yield { type: 'text-delta', text: 'Hi.', native: { messageId: 'n1' } }
          host.bind({ agentId: 'foreign', nativeId: 'native', syncedTo: 0, anchor: 'n1' })
          yield { type: 'finish', finishReason: 'stop' }
        },
        cancel: async () => ({ how: 'gone', calls: [], orphansKilled: 0, queued: [] }),
        close: async () => undefined,
      }
    },
  }
  await using bench = await Bench.open([], { agents: { foreign: { driver: foreign } } })
  const say = async (text: string): Promise<string> =>
    (await bench.runtime.submit({ agentId: 'foreign', parts: [{ id: '0', type: 'text', text }] })).done
  await say('one')
  await say('two')
  assert.equal(opened[0], null)
  assert.equal(opened[1]?.nativeId, 'native')
  assert.equal(opened[1]?.anchor, 'n1')
  const second = (await bench.messages()).find((message) => JSON.stringify(message.parts).includes('two'))
  const first = (await bench.messages()).find((message) => JSON.stringify(message.parts).includes('one'))
  assert.ok((opened[1]?.syncedTo ?? 0) > (first?.order ?? Infinity))
  assert.ok((opened[1]?.syncedTo ?? Infinity) < (second?.order ?? 0))
})

suite('an approval', () => {
  test('lets the call go ahead, once', async () => {
    await using bench = await Bench.open(CALL, { decide: () => ASK })
    const run = await bench.submit('Write it.')
    const wait = await bench.wait()
    assert.equal(wait.subject.toolName, 'write')
    assert.deepEqual(bench.journal, [])
    await bench.runtime.answer(wait.id, { decision: 'approve' }, 'ann')
    assert.equal(await run.done, 'complete')
    assert.equal(bench.journal.length, 1)
  })

  test('an approval that is declined gives the model the reason, and nothing runs', async () => {
    await using bench = await Bench.open(CALL, { decide: () => ASK })
    const run = await bench.submit('Write it.')
    await bench.runtime.answer((await bench.wait()).id, { decision: 'decline', reason: 'not on a Sunday' })
    assert.equal(await run.done, 'complete')
    assert.deepEqual(bench.journal, [])
    assert.ok(JSON.stringify(bench.model.requests[1]).includes('not on a Sunday'))
    const call = (await bench.messages())[1]?.parts.find((part) => part.type === 'tool-call')
    assert.equal(call?.type === 'tool-call' && call.call.outcome, 'denied')
  })

  test('survives the death of the process: the same run continues, the tool runs once', async () => {
    await using bench = await Bench.open(CALL, { decide: () => ASK })
    const { runId } = await bench.submit('Write it.')
    const wait = await bench.wait()
    await bench.restart({ decide: () => ASK })
    assert.ok(!bench.isRunning())
    assert.deepEqual([...bench.runtime.state.head.waits.keys()], [wait.id])
    await bench.runtime.answer(wait.id, { decision: 'approve' })
    const resumed = bench.runtime.run
    assert.equal(resumed?.runId, runId)
    assert.equal(await resumed?.done, 'complete')
    assert.deepEqual(bench.journal, [`{"path":"a"} ${runId}:c1`])
    assert.ok(JSON.stringify(bench.model.requests[1]).includes('written'))
    assert.equal(await bench.count('finish'), 1)
  })

  test('an approval that was given just before the process died still counts afterwards', async () => {
    await using bench = await Bench.open(CALL, { decide: () => ASK })
    await bench.submit('Write it.')
    const wait = await bench.wait()
    await bench.runtime.close()
    // The answer is on record, but the process that took it died before acting on it.
    const fence = await bench.owner.claim('thread')
    const head = bench.runtime.state.head.seq
    await bench.store.append({
      stream: 'thread',
      fence,
      records: [
        {
          v: 1,
          stream: 'thread',
          seq: head + 1,
          at: 0,
          body: { type: 'wait.answered', waitId: wait.id, answer: { decision: 'approve' } },
        },
      ],
    })
    await bench.restart({ decide: () => ASK })
    assert.equal(await bench.runtime.run?.done, 'complete')
    assert.equal(bench.journal.length, 1)
  })

  test('never beats a deny that came while it was pending', async () => {
    let decision = ASK
    await using bench = await Bench.open(CALL, { decide: () => decision })
    const run = await bench.submit('Write it.')
    const wait = await bench.wait()
    decision = { policy: 'deny', reason: 'the folder is frozen' }
    await bench.runtime.answer(wait.id, { decision: 'approve' })
    assert.equal(await run.done, 'complete')
    assert.deepEqual(bench.journal, [])
  })

  test('for a tool whose definition has changed since is asked for again', async () => {
    await using bench = await Bench.open(CALL, { decide: () => ASK })
    await bench.submit('Write it.')
    const wait = await bench.wait()
    await bench.restart({
      decide: () => ASK,
      agents: {
        native: {
          driver: nativeDriver({ id: 'native', model: bench.model }),
          tools: [{ ...bench.write, description: 'Writes, and mails it to everybody.' }],
        },
      },
    })
    await bench.runtime.answer(wait.id, { decision: 'approve' })
    const again = await bench.wait()
    assert.notEqual(again.id, wait.id)
    assert.deepEqual(bench.journal, [])
    await bench.runtime.answer(again.id, { decision: 'approve' })
    assert.equal(await bench.runtime.run?.done, 'complete')
    assert.equal(bench.journal.length, 1)
  })

  test('two approvals at once can be answered in any order, one approved and one declined', async () => {
    await using bench = await Bench.open(
      [
        {
          toolCalls: [
            { id: 'c1', name: 'write', input: { path: 'a' } },
            { id: 'c2', name: 'write', input: { path: 'b' } },
          ],
        },
        { text: 'Done.' },
      ],
      { decide: () => ASK },
    )
    const run = await bench.submit('Write both.')
    while (bench.runtime.state.head.waits.size < 2) await new Promise((resolve) => setImmediate(resolve))
    const waits = [...bench.runtime.state.head.waits]
    const second = waits.find((wait) => wait.subject.toolCallId === 'c2')
    const first = waits.find((wait) => wait.subject.toolCallId === 'c1')
    await bench.runtime.answer(second?.id ?? '', { decision: 'approve' })
    await bench.runtime.answer(first?.id ?? '', { decision: 'decline' })
    assert.equal(await run.done, 'complete')
    assert.deepEqual(
      bench.journal.map((line) => line.split(' ')[0]),
      ['{"path":"b"}'],
    )
  })

  for (const [what, id, code] of [
    ['an unknown id', 'nope', 'not-found'],
    ['a name of Object.prototype', 'constructor', 'not-found'],
  ] as const) {
    test(`answered by ${what} is a clear error`, async () => {
      await using bench = await Bench.open([{ text: 'x' }])
      await assert.rejects(bench.runtime.answer(id, { decision: 'approve' }), (error) => InspanError.is(error, code))
    })
  }

  test('answered twice, also by two at once, counts once and the second gets an error', async () => {
    await using bench = await Bench.open(CALL, { decide: () => ASK })
    const run = await bench.submit('Write it.')
    const { id } = await bench.wait()
    const answers = await Promise.allSettled([
      bench.runtime.answer(id, { decision: 'approve' }, 'ann'),
      bench.runtime.answer(id, { decision: 'decline' }, 'bob'),
    ])
    assert.deepEqual(
      answers.map((answer) => answer.status),
      ['fulfilled', 'rejected'],
    )
    const [, second] = answers
    assert.ok(second?.status === 'rejected' && InspanError.is(second.reason, 'conflict'))
    assert.match(String(second.reason), /ann/)
    assert.equal(await run.done, 'complete')
    assert.equal(bench.journal.length, 1)
  })

  test('is never given by a restart, a shutdown or a failing listener', async () => {
    await using bench = await Bench.open(CALL, { decide: () => ASK, onListenerFailure: () => undefined })
    bench.runtime.onEntry(() => {
      throw new Error('broken listener')
    })
    await bench.submit('Write it.')
    const { id } = await bench.wait()
    await bench.runtime.close()
    await bench.restart({ decide: () => ASK })
    await bench.restart({ decide: () => ASK })
    assert.deepEqual([...bench.runtime.state.head.waits.keys()], [id])
    assert.deepEqual(bench.journal, [])
  })
})

suite('cancelling', () => {
  test('while an approval waits: the wait is cancelled, the call closed, answering it later is an error', async () => {
    await using bench = await Bench.open(CALL, { decide: () => ASK })
    const run = await bench.submit('Write it.')
    const { id } = await bench.wait()
    await bench.runtime.cancel()
    assert.equal(await run.done, 'aborted')
    assert.equal(bench.runtime.state.head.waits.size, 0)
    await assert.rejects(
      bench.runtime.answer(id, { decision: 'approve' }),
      (error) => InspanError.is(error, 'conflict') && error.message === `"${id}" has been cancelled already.`,
    )
    assert.deepEqual(bench.journal, [])
    assert.equal(await bench.count('tool-call'), await bench.count('tool-result'))
    assert.equal(await bench.count('finish'), 1)
  })

  test('a run that waits without a process ends it as well', async () => {
    await using bench = await Bench.open(CALL, { decide: () => ASK })
    await bench.submit('Write it.')
    await bench.wait()
    await bench.restart({ decide: () => ASK })
    await bench.runtime.cancel()
    assert.equal(bench.runtime.state.head.run, null)
    assert.equal(bench.runtime.state.head.waits.size, 0)
    assert.equal(await bench.count('finish'), 1)
  })

  test('holds the queue until the user speaks again', async () => {
    await using bench = await Bench.open([...CALL, { text: 'Later.' }, { text: 'Queued.' }], { decide: () => ASK })
    await bench.submit('Write it.')
    await bench.wait()
    await bench.runtime.followUp({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'queued' }] })
    await bench.runtime.cancel()
    assert.equal(bench.runtime.state.head.queueHeld, true)
    assert.equal(bench.runtime.state.head.queue.size, 1)
    await (
      await bench.submit('Go on.')
    ).done
    await bench.runtime.idle()
    assert.equal(bench.runtime.state.head.queue.size, 0)
  })

  test('sends the queue for a door that wants that', async () => {
    const door = { decide: () => ASK, sendsAfterCancel: true }
    await using bench = await Bench.open([...CALL.slice(0, 1), { text: 'Later.' }], door)
    await bench.submit('Write it.')
    await bench.wait()
    const message = (text: string) => ({ agentId: 'native', parts: [{ id: '0', type: 'text' as const, text }] })
    await bench.runtime.followUp(message('queued'))
    await bench.runtime.cancel()
    await bench.runtime.idle()
    const { head } = bench.runtime.state
    assert.deepEqual([head.queueHeld, head.queue.size, head.run], [false, 0, null])
    assert.equal(await bench.count('finish'), 2)
  })
})

test('rules see the category and the annotations of our own tools', async () => {
  const seen: unknown[] = []
  const decide = (call: ToolCallRequest): Decision => {
    seen.push([call.category, call.annotations])
    return ALLOW
  }
  await using bench = await Bench.open(CALL, { decide }, { category: 'edit', annotations: { destructiveHint: true } })
  await (
    await bench.submit('Write it.')
  ).done
  assert.deepEqual(seen[0], ['edit', { destructiveHint: true }])
})

test('a large image is kept as a blob, and the model sees it whole', async () => {
  await using bench = await Bench.open([{ text: 'A picture.' }])
  const data = Buffer.alloc(60_000, 7).toString('base64')
  const parts = [
    { id: '0', type: 'text', text: 'Look.' },
    { id: '1', type: 'image', mimeType: 'image/png', data },
  ] as const
  await (
    await bench.runtime.submit({ agentId: 'native', parts })
  ).done
  const image = (await bench.messages())[0]?.parts[1]
  assert.ok(image?.type === 'image' && image.ref !== undefined)
  assert.equal(image.data, '')
  assert.equal(Buffer.from((await bench.store.readBlob(image.ref.blob))?.bytes ?? []).toString('base64'), data)
  assert.ok(JSON.stringify(await bench.records()).length < 20_000)
  assert.ok(JSON.stringify(bench.model.requests[0]).includes(data))
})

suite('what goes wrong', () => {
  test('cancelling a run that is just being started ends that run, once', async () => {
    await using bench = await Bench.open([{ text: ['a', 'b'], delayPerDeltaMs: 1, hang: true }])
    const submitted = bench.submit('Go.')
    const cancelled = bench.runtime.cancel()
    assert.equal(await (await submitted).done, 'aborted')
    await cancelled
    assert.equal(await bench.count('finish'), 1)
    assert.equal((await bench.records()).at(-1)?.body.type, 'run.ended')
  })

  test('input that is not JSON runs no tool: the model gets the error and may try again', async () => {
    await using bench = await Bench.open([
      { toolCalls: [{ name: 'write', input: '{"path": "/tm' }] },
      { text: 'Sorry.' },
    ])
    assert.equal(await (await bench.submit('Write it.')).done, 'complete')
    assert.deepEqual(bench.journal, [])
    assert.match(JSON.stringify(bench.model.requests[1]), /not a JSON object/)
  })

  test('a tool that is not there: the model gets a list of those that are', async () => {
    await using bench = await Bench.open([{ toolCalls: [{ name: 'wirte' }] }, { text: 'Sorry.' }])
    assert.equal(await (await bench.submit('Write it.')).done, 'complete')
    const told = JSON.stringify(bench.model.requests[1])
    assert.match(told, /There is no tool named \\"wirte\\"\. There are: [^"]*\bwrite\b/)
  })

  for (const id of ['', '__proto__', 'constructor']) {
    test(`a call with the id ${JSON.stringify(id)} is carried out like any other`, async () => {
      await using bench = await Bench.open([{ toolCalls: [{ id, name: 'write' }] }, { text: 'Done.' }])
      assert.equal(await (await bench.submit('Write it.')).done, 'complete')
      assert.equal(bench.journal.length, 1)
      assert.equal(await bench.count('tool-result'), 1)
    })
  }

  test('two calls with one id are two calls, each with its own result', async () => {
    await using bench = await Bench.open([
      {
        toolCalls: [
          { id: 'same', name: 'write', input: { n: 1 } },
          { id: 'same', name: 'write', input: { n: 2 } },
        ],
      },
      { text: 'Done.' },
    ])
    assert.equal(await (await bench.submit('Write both.')).done, 'complete')
    assert.equal(new Set(bench.journal).size, 2)
    assert.equal(await bench.count('tool-result'), 2)
  })

  test('one thread has one runtime in a process', async () => {
    await using bench = await Bench.open([{ text: 'x' }])
    const again = ThreadRuntime.open({ store: bench.store, owner: bench.owner, thread: 'thread', agents: {} })
    await assert.rejects(again, (error) => InspanError.is(error, 'held') && error.message.includes('already'))
  })

  test('an agent whose cancel fails is left behind, and the run ends all the same', async () => {
    const stubborn: AgentDriver = {
      port: 1,
      id: 'stubborn',
      describe: async () => nativeDriver({ id: 'n', model: scriptedModel([]) }).describe(),
      open: async () => ({
        run: async function* () {
          yield { type: 'start' }
          await new Promise(() => undefined)
        },
        cancel: async () => Promise.reject(new Error('no')),
        close: async () => undefined,
      }),
    }
    await using bench = await Bench.open([], { agents: { stubborn: { driver: stubborn } } })
    const run = await bench.runtime.submit({ agentId: 'stubborn', parts: [{ id: '0', type: 'text', text: 'Go.' }] })
    await bench.runtime.cancel()
    assert.equal(await run.done, 'aborted')
    assert.equal(await bench.count('finish'), 1)
  })

  test('a thread whose agent is not there keeps its questions, and reports it when one is answered', async () => {
    await using bench = await Bench.open(CALL, { decide: () => ASK })
    await bench.submit('Write it.')
    const { id } = await bench.wait()
    await bench.runtime.close()
    await bench.restart({ agents: {} })
    assert.deepEqual([...bench.runtime.state.head.waits.keys()], [id])
    await assert.rejects(bench.runtime.answer(id, { decision: 'approve' }), (error) =>
      InspanError.is(error, 'not-found'),
    )
    assert.deepEqual([...bench.runtime.state.head.waits.keys()], [id])
  })

  test('a log that can no longer be written ends the run and keeps nobody waiting', async () => {
    await using bench = await Bench.open([{ text: ['a', 'b', 'c'], delayPerDeltaMs: 2 }])
    const run = await bench.submit('Go.')
    await bench.store.takeOver('thread', 'somebody', (await bench.store.getStream('thread'))?.epoch ?? 0)
    assert.equal(await run.done, 'interrupted')
    await bench.runtime.idle()
    await assert.rejects(bench.submit('more'), (error) => InspanError.is(error, 'fenced'))
  })
})

suite('after a crash', () => {
  test('a call that had begun is in doubt: it is not run again, and the model learns of it', async () => {
    let crash: () => void = () => undefined
    const crashed = new Promise<void>((resolve) => (crash = resolve))
    let runs = 0
    await using bench = await Bench.open(
      CALL,
      {},
      {
        execute: async () => {
          runs++
          crash()
          return new Promise(() => undefined)
        },
      },
    )
    await bench.submit('Write it.')
    await crashed
    await bench.restart()
    assert.equal(await bench.runtime.run?.done, 'complete')
    assert.equal(runs, 1)
    assert.match(JSON.stringify(bench.model.requests[1]), /outcome is unknown/)
    assert.equal(await bench.count('finish'), 1)
  })

  test('a read-only call is run again, with the same key', async () => {
    let crash: () => void = () => undefined
    const crashed = new Promise<void>((resolve) => (crash = resolve))
    const keys: string[] = []
    await using bench = await Bench.open(
      CALL,
      {},
      {
        annotations: { readOnlyHint: true },
        execute: async (_input, { idempotencyKey }) => {
          keys.push(idempotencyKey)
          if (keys.length > 1) return { result: 'read' }
          crash()
          return new Promise(() => undefined)
        },
      },
    )
    await bench.submit('Read it.')
    await crashed
    await bench.restart()
    assert.equal(await bench.runtime.run?.done, 'complete')
    assert.equal(keys.length, 2)
    assert.equal(keys[0], keys[1])
  })

  test('a model call that was cut off is asked again, and what was said half stays visible but leaves the context', async () => {
    await using bench = await Bench.open([{ text: ['half ', 'an '], hang: true }, { text: 'A whole answer.' }])
    const { runId } = await bench.submit('Answer.')
    const said = Promise.withResolvers<void>()
    bench.runtime.onFrame(() => {
      if (JSON.stringify(bench.runtime.state.messages).includes('half')) said.resolve()
    })
    await said.promise
    await bench.restart()
    assert.equal(bench.runtime.run?.runId, runId)
    assert.equal(await bench.runtime.run?.done, 'complete')
    const texts = (await bench.messages()).flatMap((message) =>
      message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
    )
    assert.ok(texts.some((text) => text.startsWith('half')))
    assert.ok(texts.includes('A whole answer.'))
    assert.ok(!JSON.stringify(bench.model.requests[1]).includes('half '))
    assert.equal(await bench.count('finish'), 1)
  })

  test('a run is ended after the third attempt, with one finish', async () => {
    await using bench = await Bench.open([{ hang: true, repeat: true }])
    await bench.submit('Answer.')
    for (let i = 0; i < 3; i++) {
      while (bench.model.calls < i + 1) await new Promise((resolve) => setImmediate(resolve))
      await bench.restart()
    }
    assert.equal(bench.runtime.state.head.run, null)
    assert.equal(bench.runtime.state.head.lastRun?.outcome, 'interrupted')
    assert.equal(bench.model.calls, 3)
    assert.equal(await bench.count('finish'), 1)
  })

  test('a program that was started for the turn is ended first, and the run is closed where it cannot continue', async () => {
    const started = Promise.withResolvers<string>()
    const foreign: AgentDriver = {
      port: 1,
      id: 'foreign',
      describe: async () => ({
        ...(await nativeDriver({ id: 'n', model: scriptedModel([]) }).describe()),
        continuity: 'native',
      }),
      open: async (_binding, host) => ({
        run: async function* () {
          yield { type: 'start' }
          const child = await spawnRun({ command: 'sleep', args: ['600'], stdin: 'close' })
          const { runId: runTag, pid, startTime, bootId } = child
          await host.noteProcess({ runTag, pid, startTime: String(startTime), bootId: bootId ?? '' })
          started.resolve(runTag)
          await new Promise(() => undefined)
        },
        cancel: async () => ({ how: 'gone', calls: [], orphansKilled: 0, queued: [] }),
        close: async () => undefined,
      }),
    }
    const agents = { foreign: { driver: foreign } }
    await using bench = await Bench.open([], { agents })
    await bench.runtime.submit({ agentId: 'foreign', parts: [{ id: '0', type: 'text', text: 'Go.' }] })
    const tag = await started.promise
    assert.equal((await findTagged(tag)).length, 1)
    await bench.restart({ agents })
    assert.deepEqual(await findTagged(tag), [])
    assert.equal(bench.runtime.state.head.lastRun?.outcome, 'interrupted')
    assert.equal(await bench.count('finish'), 1)
  })

  test('queued messages are sent', async () => {
    await using bench = await Bench.open([{ hang: true }, { text: 'First.' }, { text: 'Second.' }])
    await bench.submit('first')
    while (bench.model.calls < 1) await new Promise((resolve) => setImmediate(resolve))
    await bench.runtime.followUp({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'second' }] })
    await bench.restart()
    await bench.runtime.idle()
    assert.equal(bench.runtime.state.head.queue.size, 0)
    assert.equal(bench.model.calls, 3)
  })
})

test('a closed runtime refuses calls with that reason, and leaves nothing behind', async () => {
  await using bench = await Bench.open([{ text: 'x' }], { decide: () => ALLOW })
  await bench.runtime.close()
  await assert.rejects(bench.submit('hi'), (error) => InspanError.is(error, 'closed'))
  assert.equal((await bench.store.getStream('thread'))?.owner, null)
})
