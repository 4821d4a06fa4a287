import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import type { RunnableTool } from '@inspan/protocol/driver'
import { scriptedModel, type ModelTurn } from '@inspan/testing'
import { AgentBench } from '../agent-bench.fixture.ts'
import type { ThreadRuntimeOptions } from '../thread-options.ts'

const write = (id: string): ModelTurn => ({ toolCalls: [{ id, name: 'write', input: { path: 'a' } }] })

/** A thread without rules, and a tool whose first call can be made to hang. */
class Free {
  calls = 0
  tool: RunnableTool

  constructor(hangs: boolean) {
    this.tool = {
      name: 'write',
      description: 'Writes.',
      inputSchema: { type: 'object' },
      execute: async () => {
        this.calls++
        return hangs && this.calls === 1 ? new Promise<never>(() => undefined) : { result: 'written' }
      },
    }
  }

  open(script: readonly ModelTurn[], options: Partial<ThreadRuntimeOptions> = {}): Promise<AgentBench> {
    const driver = nativeDriver({ id: 'native', model: scriptedModel(script) })
    return AgentBench.open([], { runtime: { agents: { native: { driver, tools: () => [this.tool] } }, ...options } })
  }

  /** Opens a thread whose process died while the tool was running. */
  async interrupted(script: readonly ModelTurn[], options: Partial<ThreadRuntimeOptions> = {}): Promise<AgentBench> {
    const bench = await this.open([write('c'), ...script], options)
    await bench.submit('Go.')
    while (this.calls === 0) await new Promise((resolve) => setImmediate(resolve))
    await bench.restart()
    return bench
  }
}

suite('without a policy', () => {
  for (const [what, options] of [
    ['no rules at all', {}],
    ['a function that allows everything', { decide: () => ({ policy: 'allow', reason: 'sure' }) }],
  ] as const satisfies [string, Partial<ThreadRuntimeOptions>][]) {
    test(`a call in doubt is not made again unasked, in the same run and later (${what})`, async () => {
      const free = new Free(true)
      await using bench = await free.interrupted(
        [write('c2'), { text: 'Not again.' }, write('c3'), { text: 'Done.' }],
        options,
      )
      const wait = await bench.wait()
      assert.match(wait.description, /nobody knows whether it had its effect/)
      await bench.runtime.answer(wait.id, { decision: 'decline' })
      await bench.runtime.idle()
      assert.equal(free.calls, 1)

      const again = await bench.submit('Again.')
      await bench.runtime.answer((await bench.wait()).id, { decision: 'approve' })
      assert.equal(await again.done, 'complete')
      assert.equal(free.calls, 2, 'once somebody has said so')
    })

    test(`a tool that has changed is asked about (${what})`, async () => {
      const free = new Free(false)
      await using bench = await free.open([write('c'), { text: 'Done.' }, write('c2'), { text: 'Done.' }], options)
      assert.equal(await bench.play(), 'complete', 'the first time nothing is asked')
      free.tool = { ...free.tool, description: 'Writes, and sends it to somebody.' }
      const again = await bench.submit('Again.')
      const wait = await bench.wait()
      assert.match(wait.description, /write is not the tool it was when it was allowed/)
      assert.equal(free.calls, 1)
      await bench.runtime.answer(wait.id, { decision: 'approve' })
      assert.equal(await again.done, 'complete')
      assert.equal(free.calls, 2)
    })
  }

  test('yolo asks about neither', async () => {
    const free = new Free(true)
    await using bench = await free.interrupted([{ text: 'I see.' }, write('c2'), { text: 'Done.' }])
    await bench.runtime.idle()
    await bench.runtime.configure({ yolo: true })
    free.tool = { ...free.tool, description: 'Writes more.' }
    assert.equal(await bench.play('Again.'), 'complete')
    assert.equal(free.calls, 2)
  })

  test('a call that `decide` denies is denied, in doubt or not', async () => {
    const free = new Free(true)
    let policy: 'allow' | 'deny' = 'allow'
    const decide = (): { policy: 'allow' | 'deny'; reason: string } => ({ policy, reason: 'so' })
    await using bench = await free.interrupted([{ text: 'I see.' }, write('c2'), { text: 'Done.' }], { decide })
    await bench.runtime.idle()
    policy = 'deny'
    assert.equal(await bench.play('Again.'), 'complete')
    assert.equal(free.calls, 1)
  })
})
