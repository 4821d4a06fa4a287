import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createTool, nativeDriver, runnableTool } from '@inspan/agent'
import { InspanError, NO_RULES, type Policy } from '@inspan/protocol'
import type { OnInterrupted, RunnableTool } from '@inspan/protocol/driver'
import { scriptedModel, type ModelTurn } from '@inspan/testing'
import { createPolicy } from '../../policy/index.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import type { ThreadRuntimeOptions } from '../thread-options.ts'

const CHILD = fileURLToPath(new URL('interrupted-child.fixture.ts', import.meta.url))

const rules = (write: Policy): Partial<ThreadRuntimeOptions> => ({
  policy: createPolicy({ rules: { ...NO_RULES, tools: { write } } }),
})
const callAgain = (id: string): ModelTurn => ({ toolCalls: [{ id, name: 'write', input: { path: 'a' } }] })

/** A thread whose process died while a tool was running. */
class Interrupted {
  readonly keys: string[] = []
  readonly model: ReturnType<typeof scriptedModel>
  tool: RunnableTool

  constructor(tool: Partial<RunnableTool> = {}, then: readonly ModelTurn[] = [{ text: 'I see.' }]) {
    this.model = scriptedModel([callAgain('c'), ...then])
    this.tool = {
      name: 'write',
      inputSchema: { type: 'object' },
      execute: async (_input, { idempotencyKey }) => {
        this.keys.push(idempotencyKey)
        return this.keys.length === 1 ? new Promise<never>(() => undefined) : { result: 'written at last' }
      },
      ...tool,
    }
  }

  get seen(): string {
    return JSON.stringify(this.model.requests.at(-1))
  }

  async found(
    options: Partial<ThreadRuntimeOptions>,
    again: Partial<ThreadRuntimeOptions> = {},
  ): Promise<RuntimeBench> {
    const driver = nativeDriver({ id: 'native', model: this.model })
    const bench = await RuntimeBench.open({ native: { driver, tools: () => [this.tool] } }, options)
    await bench.submit('go', { agentId: 'native', runId: 'r' })
    await bench.until(() => this.keys.length === 1)
    await bench.restart(again)
    return bench
  }
}

suite('a call that was interrupted', () => {
  test('is reported by default', async () => {
    const left = new Interrupted()
    await using bench = await left.found(rules('allow'))
    await bench.runtime.idle()
    assert.deepEqual(left.keys, ['r:c'])
    assert.match(left.seen, /its outcome is unknown/)
  })

  for (const [where, tool, options] of [
    ['the tool', { onInterrupted: 'ask' }, {}],
    ['the runtime', {}, { onInterrupted: 'ask' }],
  ] as const) {
    test(`asks if ${where} says so, and runs again with the same key once approved`, async () => {
      const left = new Interrupted(tool)
      await using bench = await left.found({ ...rules('allow'), ...options })
      const wait = await bench.wait()
      assert.equal(wait.kind, 'approval')
      assert.equal(wait.interrupted, true)
      assert.match(wait.description, /interrupted.*again\?/)
      await bench.runtime.idle()
      assert.equal(bench.runtime.state.head.run?.status, 'parked', 'it needs no process meanwhile')
      assert.deepEqual(left.keys, ['r:c'], 'nothing happens by itself')

      await bench.restart()
      assert.equal((await bench.wait()).id, wait.id, 'asked once, across restarts')
      await bench.runtime.answer(wait.id, { decision: 'approve' }, 'ann')
      await bench.runtime.idle()
      assert.deepEqual(left.keys, ['r:c', 'r:c'])
      assert.match(left.seen, /written at last/)
      assert.equal(bench.runtime.state.head.lastRun?.runId, 'r')
      assert.equal((await bench.bodies('wait.opened')).length, 1)
      assert.deepEqual(
        (await bench.bodies('call.started')).map(({ attempt }) => attempt),
        [1, 2],
      )
    })
  }

  test('is reported if somebody declines to repeat it, and stays in doubt', async () => {
    const left = new Interrupted({ onInterrupted: 'ask' }, [{ text: 'Hm.' }, callAgain('c2'), { text: 'Done.' }])
    await using bench = await left.found(rules('allow'))
    const wait = await bench.wait()
    await bench.runtime.answer(wait.id, { decision: 'decline', reason: 'the file is there' })
    await bench.runtime.idle()
    assert.deepEqual(left.keys, ['r:c'])
    assert.match(left.seen, /its outcome is unknown.*not made again: the file is there/)
    const [result] = await bench.bodies('tool-result')
    assert.equal(result?.outcome, 'in-doubt')

    await bench.submit('again', { agentId: 'native' })
    assert.match((await bench.wait()).description, /nobody knows/, 'the same call asks although a rule allows it')
  })

  test('asks again although it had been approved: that approval was for the first attempt', async () => {
    const left = new Interrupted({ onInterrupted: 'ask' })
    const driver = nativeDriver({ id: 'native', model: left.model })
    await using bench = await RuntimeBench.open({ native: { driver, tools: () => [left.tool] } }, rules('ask'))
    await bench.submit('go', { agentId: 'native', runId: 'r' })
    await bench.runtime.answer((await bench.wait()).id, { decision: 'approve' })
    await bench.until(() => left.keys.length === 1)
    await bench.restart()
    const again = await bench.wait()
    assert.equal(again.interrupted, true)
    await bench.restart()
    await bench.runtime.idle()
    assert.deepEqual(left.keys, ['r:c'], 'still nobody has said that it may be made again')
    await bench.runtime.answer(again.id, { decision: 'approve' })
    await bench.runtime.idle()
    assert.deepEqual(left.keys, ['r:c', 'r:c'], 'and asked about once, not once more for the rule')
  })

  for (const [decision, wish, keys] of [
    ['approve', 'report', ['r:c', 'r:c']],
    ['decline', 'retry', ['r:c']],
  ] as const)
    test(`follows the answer to an open question (${decision}), even if the setting is ${wish} by now`, async () => {
      const left = new Interrupted()
      await using bench = await left.found({ ...rules('allow'), onInterrupted: 'ask' })
      const wait = await bench.wait()
      await bench.runtime.idle()
      await bench.restart({ onInterrupted: wish })
      assert.equal((await bench.wait()).id, wait.id)
      await bench.runtime.answer(wait.id, { decision })
      await bench.runtime.idle()
      assert.deepEqual(left.keys, keys)
    })

  test('asks even under yolo: whether to do something twice is not a matter of permission', async () => {
    const left = new Interrupted({ onInterrupted: 'ask' })
    await using bench = await left.found({ ...rules('allow') })
    await bench.runtime.configure({ yolo: true })
    await bench.restart()
    await bench.wait()
    assert.deepEqual(left.keys, ['r:c'])
  })

  for (const isHeld of [true, false])
    test(`can be cancelled with its run while it asks (${isHeld ? 'here' : 'after a restart'})`, async () => {
      const left = new Interrupted({ onInterrupted: 'ask' })
      await using bench = await left.found(rules('allow'))
      const wait = await bench.wait()
      if (isHeld) await bench.runtime.idle()
      else await bench.restart()
      await bench.runtime.cancel()
      assert.equal(bench.runtime.state.head.lastRun?.outcome, 'aborted')
      const [result] = await bench.bodies('tool-result')
      assert.equal(result?.outcome, 'in-doubt', 'it may have had its effect')
      assert.equal(bench.runtime.state.head.inDoubt.length, 1)
      await assert.rejects(bench.runtime.answer(wait.id, { decision: 'approve' }), (error) =>
        InspanError.is(error, 'conflict'),
      )
      assert.deepEqual(left.keys, ['r:c'])
    })

  for (const [where, tool, options] of [
    ['the tool', { onInterrupted: 'retry' }, {}],
    ['the runtime', {}, { onInterrupted: 'retry' }],
  ] as const) {
    test(`runs again with the same key if ${where} says so`, async () => {
      const left = new Interrupted(tool)
      await using bench = await left.found({ ...rules('allow'), ...options })
      await bench.runtime.idle()
      assert.deepEqual(left.keys, ['r:c', 'r:c'])
      assert.match(left.seen, /written at last/)
    })
  }

  for (const onInterrupted of ['ask', 'retry'] satisfies OnInterrupted[]) {
    test(`does not run again (${onInterrupted}) if a rule denies it by now, and the model is not told that it never ran`, async () => {
      const left = new Interrupted({ onInterrupted })
      await using bench = await left.found(rules('allow'), rules('deny'))
      await bench.runtime.idle()
      assert.deepEqual(left.keys, ['r:c'])
      assert.match(left.seen, /its outcome is unknown.*denied/)
      const [result] = await bench.bodies('tool-result')
      assert.equal(result?.outcome, 'in-doubt')
    })
  }

  test('is in doubt even if its tool no longer exists', async () => {
    const left = new Interrupted({ onInterrupted: 'retry' })
    const { tool } = left
    await using bench = await left.found(rules('allow'), {
      agents: {
        native: { driver: nativeDriver({ id: 'native', model: left.model }), tools: [{ ...tool, name: 'other' }] },
      },
    })
    await bench.runtime.idle()
    assert.match(left.seen, /its outcome is unknown/)
    const [result] = await bench.bodies('tool-result')
    assert.equal(result?.outcome, 'in-doubt')
  })

  test('is repeated if its tool is safe to repeat, whatever the thread sets', async () => {
    const left = new Interrupted({ isIdempotent: true })
    await using bench = await left.found({ ...rules('allow'), onInterrupted: 'report' })
    await bench.runtime.idle()
    assert.deepEqual(left.keys, ['r:c', 'r:c'])
  })

  test('follows the setting of its tool, whatever the thread sets', async () => {
    const left = new Interrupted({ onInterrupted: 'report' })
    await using bench = await left.found({ ...rules('allow'), onInterrupted: 'retry' })
    await bench.runtime.idle()
    assert.deepEqual(left.keys, ['r:c'])
  })

  test('asks with the preconditions that the tool finds after the restart', async () => {
    const left = new Interrupted({ onInterrupted: 'ask', preconditions: async () => ({ a: 'hash' }) })
    await using bench = await left.found(rules('allow'))
    assert.deepEqual((await bench.wait()).preconditions, { a: 'hash' })
  })

  test('asks if a tool that is safe to repeat sets "ask"', async () => {
    const left = new Interrupted({ isIdempotent: true, onInterrupted: 'ask' })
    await using bench = await left.found(rules('allow'))
    assert.equal((await bench.wait()).interrupted, true)
    assert.deepEqual(left.keys, ['r:c'])
  })

  test('follows the setting of createTool', () => {
    const tool = createTool({ id: 'deploy', description: 'Deploys.', onInterrupted: 'ask', execute: () => 'done' })
    assert.equal(runnableTool(tool).onInterrupted, 'ask')
  })
})

suite('after a process is killed while a tool runs', () => {
  async function killed(
    onInterrupted: OnInterrupted,
    use: (again: (decision?: string) => Promise<string>, journal: () => Promise<string>) => Promise<void>,
  ): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-interrupted-'))
    const journal = join(folder, 'journal')
    const run = async (...more: string[]): Promise<string> => {
      const args = [CHILD, join(folder, 'data.db'), journal, onInterrupted, ...more]
      return (await promisify(execFile)(process.execPath, args)).stdout
    }
    try {
      await assert.rejects(run(), { signal: 'SIGKILL' })
      await use(
        (decision) => (decision === undefined ? run() : run(decision)),
        () => readFile(journal, 'utf8'),
      )
    } finally {
      await rm(folder, { recursive: true })
    }
  }

  test('report: the next process tells the model, and does nothing by itself', async () => {
    await killed('report', async (again, journal) => {
      assert.match(await again(), /outcome is unknown.*\nover/)
      assert.equal(await journal(), 'r:c\n')
    })
  })

  test('ask, and approve: every later process has the question until it is answered, then the tool runs again', async () => {
    await killed('ask', async (again, journal) => {
      const first = /^waiting (.*)$/m.exec(await again())?.[1]
      assert.equal(await journal(), 'r:c\n')
      const said = await again('approve')
      assert.equal(/^waiting (.*)$/m.exec(said)?.[1], first)
      assert.match(said, /sent at last/)
      assert.equal(await journal(), 'r:c\nr:c\n')
    })
  })

  test('ask, and decline: the model learns that the outcome is unknown', async () => {
    await killed('ask', async (again, journal) => {
      assert.match(await again('decline'), /outcome is unknown.*It is not made again/)
      assert.equal(await journal(), 'r:c\n')
      assert.equal(await again(), 'over\n')
    })
  })

  test('retry: the next process makes the call again with the same key', async () => {
    await killed('retry', async (again, journal) => {
      assert.match(await again(), /sent at last/)
      assert.equal(await journal(), 'r:c\nr:c\n')
    })
  })
})
