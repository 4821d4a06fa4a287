import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { nativeDriver } from '@inspan/agent'
import { NO_RULES, type Policy } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import type { LogRecord, RecordBody, RecordType } from '@inspan/protocol/log'
import { SqliteStore } from '@inspan/stores'
import { scriptedModel, type ModelTurn } from '@inspan/testing'
import { createPolicy } from '../../policy/index.ts'
import { callHash } from '../calls/call-hash.ts'
import { threadOfTask } from '../calls/delegate.fixture.ts'
import { recordsAfter } from '../log/load-state.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import type { ThreadRuntimeOptions } from '../thread-options.ts'

const DELEGATE = fileURLToPath(new URL('delegate-child.fixture.ts', import.meta.url))

const CALL = { toolCallId: 'c', toolName: 'write', args: { path: 'a' } } as const
const ADDRESS = { messageId: 'm', partId: '0' } as const

/** The records of a process that died right after a call was ordered. */
const orderedUnder = (write: Policy): readonly RecordBody[] => [
  { type: 'run.started', runId: 'r', agentId: 'native', rules: { ...NO_RULES, tools: { write } } },
  { type: 'message.added', messageId: 'u', role: 'user', parts: [{ id: '0', type: 'text', text: 'go' }] },
  { type: 'turn.started', turnId: 't', agentId: 'native' },
  { type: 'step.started', stepIndex: 0 },
  { type: 'message.started', messageId: 'm', role: 'assistant', step: 0, by: 'native' },
  { type: 'tool-call', ...ADDRESS, ...CALL },
  { type: 'step.ended', stepIndex: 0, finishReason: 'tool-calls' },
]
const ORDERED = orderedUnder('allow')
const STARTED: RecordBody = { type: 'call.started', ...ADDRESS, toolCallId: 'c', attempt: 1, idempotencyKey: 'r:c' }

const rules = (write: Policy): Partial<ThreadRuntimeOptions> => ({
  policy: createPolicy({ rules: { ...NO_RULES, tools: { write } } }),
})

class Found {
  readonly keys: string[] = []
  readonly model: ReturnType<typeof scriptedModel>
  readonly tool: RunnableTool

  constructor(script: readonly ModelTurn[], tool: Partial<RunnableTool> = {}) {
    this.model = scriptedModel(script)
    this.tool = {
      name: 'write',
      inputSchema: { type: 'object' },
      execute: async (_input, { idempotencyKey }) => {
        this.keys.push(idempotencyKey)
        return { result: 'written' }
      },
      ...tool,
    }
  }

  get seen(): string {
    return JSON.stringify(this.model.requests.at(-1))
  }

  open(options: Partial<ThreadRuntimeOptions>): Promise<RuntimeBench> {
    const driver = nativeDriver({ id: 'native', model: this.model })
    return RuntimeBench.open({ native: { driver, tools: [this.tool] } }, options)
  }

  /** Opens a thread in which a dead process left these records. */
  async after(left: readonly RecordBody[], options: Partial<ThreadRuntimeOptions>): Promise<RuntimeBench> {
    const bench = await this.open(options)
    await bench.runtime.change(async (log) => {
      await log.commit(left, { run: 'r', turn: 't' })
    })
    await bench.restart()
    return bench
  }
}

function bodies<T extends RecordType>(records: readonly LogRecord[], type: T): Extract<RecordBody, { type: T }>[] {
  const isWanted = (body: RecordBody): body is Extract<RecordBody, { type: T }> => body.type === type
  return records.map(({ body }) => body).filter(isWanted)
}

/** Returns the attempts at a run that were resumed after a crash. */
function crashes(records: readonly LogRecord[]): number[] {
  return bodies(records, 'run.resumed').flatMap(({ attempt, reason }) => (reason === 'crash' ? [attempt] : []))
}

/** A process that died while another thread worked on a task for it. */
class Delegated implements AsyncDisposable {
  readonly #folder: string
  childId = ''

  private constructor(folder: string) {
    this.#folder = folder
  }

  static async killed(point: string): Promise<Delegated> {
    const died = new Delegated(await mkdtemp(join(tmpdir(), 'inspan-delegated-')))
    assert.deepEqual(await died.#run(point), { lines: '', signal: 'SIGKILL' })
    return died
  }

  async again(): Promise<void> {
    assert.deepEqual(await this.#run(''), { lines: 'over\n', signal: null })
    await using store = this.#store()
    const { items } = await store.listThreads({})
    const [childId, ...others] = items.map(({ id }) => id).filter((id) => id !== 'parent')
    assert.deepEqual(others, [], 'one thread for the task')
    this.childId = childId ?? ''
  }

  async records(thread: string): Promise<LogRecord[]> {
    await using store = this.#store()
    return await Array.fromAsync(recordsAfter(store, thread, 0))
  }

  async effects(): Promise<string[]> {
    return (await readFile(join(this.#folder, 'journal'), 'utf8')).trim().split('\n')
  }

  #store(): SqliteStore & AsyncDisposable {
    const store = new SqliteStore({ url: join(this.#folder, 'data.db') })
    return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() })
  }

  async #run(point: string): Promise<{ lines: string; signal: NodeJS.Signals | null }> {
    const files = [join(this.#folder, 'data.db'), join(this.#folder, 'journal')]
    const child = spawn(process.execPath, [DELEGATE, ...files, point], { stdio: ['ignore', 'pipe', 'inherit'] })
    let lines = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (lines += chunk))
    const [, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
    return { lines, signal }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true })
  }
}

async function end(bench: RuntimeBench): Promise<void> {
  await bench.runtime.idle()
  assert.equal(bench.runtime.state.head.lastRun?.outcome, 'complete')
  assert.equal((await bench.bodies('turn.ended')).length, 1, 'one finish')
}

suite('found after a crash', () => {
  test('model call in flight: closed as its own failed step, its text stays visible and leaves the context, the model is called again', async () => {
    const found = new Found([{ text: 'Half an', hang: true }, { text: 'Whole.' }])
    await using bench = await found.open(rules('allow'))
    const { runId } = await bench.submit('go', { agentId: 'native' })
    await bench.until(() =>
      JSON.stringify(bench.runtime.state.messages.toArray().map(({ parts }) => parts.toArray())).includes('Half'),
    )
    await bench.runtime.change((log) => log.flush())
    await bench.restart()
    await end(bench)
    const steps = await bench.bodies('step.ended')
    assert.deepEqual(
      steps.map(({ finishReason }) => finishReason),
      ['error', 'stop'],
    )
    const { items } = await bench.store.listMessages(bench.runtime.state.head.lineage, { order: 'oldest' })
    assert.match(JSON.stringify(items), /Half an.*Whole\./)
    assert.ok(!found.seen.includes('Half an'))
    assert.equal(bench.runtime.state.head.lastRun?.runId, runId)
    assert.deepEqual(
      (await bench.bodies('run.resumed')).map(({ attempt, reason }) => [attempt, reason]),
      [[2, 'crash']],
    )
  })

  test("part sealed, call not started: judged again under today's policy, then run for the first time", async () => {
    const found = new Found([{ text: 'Done.' }])
    await using bench = await found.after(ORDERED, rules('allow'))
    await end(bench)
    assert.deepEqual(found.keys, ['r:c'])

    const denied = new Found([{ text: 'Pity.' }])
    await using other = await denied.after(ORDERED, rules('deny'))
    await end(other)
    assert.deepEqual(denied.keys, [])
    assert.match(denied.seen, /denied/)
  })

  test('part sealed, call not started: the strictest of then and now counts', async () => {
    const asked = new Found([{ text: 'Done.' }])
    await using bench = await asked.after(orderedUnder('ask'), rules('allow'))
    const { description, id } = await bench.wait()
    assert.match(description, /`ask write` of this run requires approval/)
    await bench.runtime.answer(id, { decision: 'approve' })
    await end(bench)
    assert.deepEqual(asked.keys, ['r:c'])

    const denied = new Found([{ text: 'Pity.' }])
    await using other = await denied.after(orderedUnder('deny'), rules('allow'))
    await end(other)
    assert.deepEqual(denied.keys, [])
  })

  test('approval pending: still waiting, nothing in memory, the thread is released', async () => {
    const found = new Found([{ toolCalls: [{ id: 'c', name: 'write', input: { path: 'a' } }] }, { text: 'Done.' }])
    await using bench = await found.open({ ...rules('ask'), passivateAfter: 1 })
    const { runId } = await bench.submit('go', { agentId: 'native' })
    const { id } = await bench.wait()
    await bench.restart()
    await bench.until(() => !bench.runtime.isHeld)
    assert.ok(!bench.isRunning())
    assert.equal((await bench.store.getStream('thread'))?.owner, null)
    assert.equal((await bench.store.getWait('thread', id))?.state, 'pending')
    await bench.runtime.answer(id, { decision: 'approve' })
    await end(bench)
    assert.deepEqual(found.keys, [`${runId}:c`])
    assert.match(found.seen, /written/, 'the model sees its result')
  })

  test('question recorded, but not that the run is parked: the run is found waiting', async () => {
    const found = new Found([{ text: 'Done.' }])
    const subject = { agentId: 'native', ...CALL, hash: callHash('native', CALL, found.tool) }
    const wait = { id: 'w', kind: 'question', subject, description: 'Which?' } as const
    await using bench = await found.after([...ORDERED, { type: 'wait.opened', wait, call: ADDRESS }], rules('allow'))
    assert.equal(bench.runtime.state.head.run?.status, 'parked')
    await bench.restart()
    assert.equal((await bench.bodies('run.parked')).length, 1)
    await bench.runtime.answer('w', { decision: 'answer', value: 'a' })
    await end(bench)
  })

  for (const [what, hash, times] of [
    ['exactly the approved hash is run', undefined, 1],
    ['another hash is asked about', 'of something else', 0],
  ] as const) {
    test(`answered, not started: ${what}`, async () => {
      const found = new Found([{ text: 'Done.' }])
      const subject = { agentId: 'native', ...CALL, hash: hash ?? callHash('native', CALL, found.tool) }
      const asked: RecordBody = {
        type: 'wait.opened',
        wait: { id: 'w', kind: 'approval', subject, description: 'write' },
        call: ADDRESS,
      }
      const answered: RecordBody = { type: 'wait.answered', waitId: 'w', answer: { decision: 'approve' } }
      await using bench = await found.after([...ORDERED, asked, answered], rules('ask'))
      await bench.runtime.idle()
      assert.equal(found.keys.length, times)
      assert.equal(bench.runtime.state.head.waits.size, 1 - times)
    })
  }

  test('call running, or finished and not recorded: in doubt, the model is asked to check first', async () => {
    const found = new Found([{ text: 'I will look.' }])
    await using bench = await found.after([...ORDERED, STARTED], rules('allow'))
    await end(bench)
    assert.deepEqual(found.keys, [], 'never run again by us')
    assert.match(found.seen, /interrupted and its outcome is unknown/)
  })

  for (const [what, tool] of [
    ['read-only', { annotations: { readOnlyHint: true } }],
    ['declared idempotent', { isIdempotent: true }],
  ] as const) {
    test(`call running, ${what}: run again with the same key`, async () => {
      const found = new Found([{ text: 'Done.' }], tool)
      await using bench = await found.after([...ORDERED, STARTED], rules('allow'))
      await end(bench)
      assert.deepEqual(found.keys, ['r:c'])
    })
  }

  for (const [point, resumed] of [
    ['its model answers', [2]],
    ['its tool has run', [2]],
    // Nothing was running that the crash could have interrupted.
    ['its approval waits', []],
    ['it is over', []],
  ] as const) {
    test(`call running, subagent: the child thread is resumed (killed when ${point})`, async () => {
      await using died = await Delegated.killed(point)
      await died.again()
      const parent = await died.records('parent')
      const child = await died.records(died.childId)
      for (const records of [parent, child]) {
        assert.equal(bodies(records, 'run.started').length, 1, 'one run')
        assert.deepEqual(
          bodies(records, 'run.ended').map(({ outcome }) => outcome),
          ['complete'],
        )
        assert.equal(bodies(records, 'turn.ended').length, 1, 'one finish')
      }
      assert.deepEqual(crashes(parent), [2])
      assert.deepEqual(crashes(child), resumed)
      const keys = bodies(parent, 'call.started').map(({ idempotencyKey }) => idempotencyKey)
      assert.deepEqual(keys, [keys[0], keys[0]], 'made again with the same key')
      assert.equal(died.childId, threadOfTask(keys[0] ?? ''))
      const results = bodies(parent, 'tool-result').map(({ isError, result }) => [isError, result])
      assert.deepEqual(results, [[undefined, 'complete: It is written.']])
      assert.equal((await died.effects()).length, 1, 'nothing has run twice')
      const [done] = bodies(child, 'tool-result')
      assert.equal(done?.outcome, point === 'its tool has run' ? 'in-doubt' : undefined)
    })
  }

  test('between call.ended and next step: all results are there, it continues', async () => {
    const found = new Found([{ text: 'Done.' }])
    const result: RecordBody = {
      type: 'tool-result',
      messageId: 'm',
      partId: '1',
      toolCallId: 'c',
      toolName: 'write',
      result: 'written before',
      call: ADDRESS,
    }
    await using bench = await found.after([...ORDERED, STARTED, result], rules('allow'))
    await end(bench)
    assert.deepEqual(found.keys, [])
    assert.match(found.seen, /written before/)
  })
})

suite('a holder that was replaced', () => {
  test('begins no effect any more: it must first prove that it still owns the thread', async () => {
    const found = new Found([{ toolCalls: [{ id: 'c', name: 'write', input: { path: 'a' } }] }, { text: 'Done.' }])
    await using bench = await found.open(rules('ask'))
    const handle = await bench.submit('go', { agentId: 'native' })
    const wait = await bench.wait()
    const old = bench.runtime
    await bench.restart()
    await assert.rejects(old.answer(wait.id, { decision: 'approve' }), /fenced|owner|no longer/i)
    assert.equal(await handle.done.then(() => 'over'), 'over')
    assert.deepEqual(found.keys, [], 'the old one did nothing')
    await bench.runtime.answer(wait.id, { decision: 'approve' })
    await bench.runtime.idle()
    assert.equal(found.keys.length, 1)
  })

  test('only one of two holders that are answered at once carries the call out', async () => {
    const found = new Found([{ toolCalls: [{ id: 'c', name: 'write', input: { path: 'a' } }] }, { text: 'Done.' }])
    await using bench = await found.open({ ...rules('ask'), passivateAfter: 1 })
    await bench.submit('go', { agentId: 'native' })
    const wait = await bench.wait()
    await bench.until(() => !bench.runtime.isHeld)
    const one = bench.runtime
    await bench.restart()
    await bench.until(() => !bench.runtime.isHeld)
    const answers = await Promise.allSettled([
      one.answer(wait.id, { decision: 'approve' }, 'ann'),
      bench.runtime.answer(wait.id, { decision: 'approve' }, 'bob'),
    ])
    assert.deepEqual(answers.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    await Promise.all([one.idle(), bench.runtime.idle()])
    assert.equal(found.keys.length, 1)
  })
})
