import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver, type NativeDriverOptions } from '@inspan/agent'
import { NO_RULES, type FinishEvent, type UsageMetadata } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import { agentEventsOf } from '@inspan/protocol/log'
import { scriptedModel, type ModelTurn } from '@inspan/testing'
import { createPolicy } from '../../policy/index.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'

const write: RunnableTool = {
  name: 'write',
  inputSchema: { type: 'object' },
  execute: async () => ({ result: 'written' }),
}
const asks = { policy: createPolicy({ rules: NO_RULES }) }

async function open(script: readonly ModelTurn[], options: Partial<NativeDriverOptions> = {}): Promise<RuntimeBench> {
  const driver = nativeDriver({ id: 'native', model: scriptedModel(script), retry: { initialDelayMs: 1 }, ...options })
  return RuntimeBench.open({ native: { driver, tools: [write] } }, asks)
}

async function finishes(bench: RuntimeBench): Promise<FinishEvent[]> {
  return (await bench.records()).flatMap(agentEventsOf).filter((event) => event.type === 'finish')
}

const call = (id: string, inputTokens: number, outputTokens: number): ModelTurn => ({
  toolCalls: [{ id, name: 'write', input: { path: id } }],
  usage: { inputTokens, outputTokens },
})
const answer: ModelTurn = { text: 'Done.', usage: { inputTokens: 300, outputTokens: 3 } }
const counted = (usage: UsageMetadata | undefined): unknown => [
  usage?.inputTokens,
  usage?.outputTokens,
  usage?.totalTokens,
]

suite('the usage of a turn that several processes worked on', () => {
  test('is that of all its steps, in the finish, for the hook and in the thread', async () => {
    const told: unknown[] = []
    const hooks = { afterTurn: ({ usage }: { usage: UsageMetadata }): void => void told.push(counted(usage)) }
    await using bench = await open([call('a', 10, 1), call('b', 20, 2), answer], { hooks })
    await bench.submit('go', { agentId: 'native' })
    for (const _process of ['second', 'third']) {
      const wait = await bench.wait()
      await bench.runtime.idle()
      await bench.restart()
      await bench.runtime.answer(wait.id, { decision: 'approve' })
      await bench.runtime.idle()
    }
    const [finish, ...others] = await finishes(bench)
    assert.deepEqual(others, [], 'one finish')
    assert.deepEqual(counted(finish?.usage), [330, 6, 336])
    assert.deepEqual(told, [[330, 6, 336]])
    assert.deepEqual(counted(bench.runtime.state.head.usage.own), [330, 6, 336], 'and nothing is counted twice')
  })

  test('counts attempts that failed after they had been billed', async () => {
    const failed: ModelTurn = { text: 'Half', finishReason: 'error', usage: { inputTokens: 40, outputTokens: 4 } }
    await using bench = await open([failed, call('a', 10, 1), answer])
    await bench.submit('go', { agentId: 'native' })
    const wait = await bench.wait()
    await bench.runtime.idle()
    await bench.restart()
    await bench.runtime.answer(wait.id, { decision: 'approve' })
    await bench.runtime.idle()
    const [finish] = await finishes(bench)
    assert.deepEqual(counted(finish?.usage), [350, 8, 358])
    assert.deepEqual(counted(bench.runtime.state.head.usage.own), [350, 8, 358])
  })

  test('is not that of turns before it in the same run or thread', async () => {
    await using bench = await open([
      { text: 'Hi.', usage: { inputTokens: 1000, outputTokens: 100 } },
      call('a', 10, 1),
      answer,
    ])
    await (
      await bench.submit('hello', { agentId: 'native' })
    ).done
    await bench.submit('go', { agentId: 'native' })
    const wait = await bench.wait()
    await bench.runtime.idle()
    await bench.restart()
    await bench.runtime.answer(wait.id, { decision: 'approve' })
    await bench.runtime.idle()
    const [, finish] = await finishes(bench)
    assert.deepEqual(counted(finish?.usage), [310, 4, 314])
  })

  for (const [how, end] of [
    ['cancelled while it waits', (bench: RuntimeBench) => bench.runtime.cancel()],
    ['given up', (bench: RuntimeBench) => bench.restart({ agents: {} })],
  ] as const) {
    test(`is reported as well when it is ${how}`, async () => {
      await using bench = await open([call('a', 10, 1), call('b', 20, 2), answer])
      await bench.submit('go', { agentId: 'native' })
      const wait = await bench.wait()
      await bench.runtime.idle()
      await bench.restart()
      await bench.runtime.answer(wait.id, { decision: 'approve' })
      await bench.wait()
      await bench.runtime.idle()
      if (how === 'given up') {
        // As if the process had died right after the second call started.
        const [, second] = await bench.bodies('tool-call')
        assert.ok(second)
        const { messageId, partId, toolCallId } = second
        const started = {
          type: 'call.started',
          messageId,
          partId,
          toolCallId,
          attempt: 1,
          idempotencyKey: 'k',
        } as const
        await bench.runtime.change(async (log) => void (await log.commit([started])))
      } else await bench.restart()
      await end(bench)
      const [finish, ...others] = await finishes(bench)
      assert.deepEqual(others, [])
      assert.deepEqual(counted(finish?.usage), [30, 3, 33])
    })
  }

  test('is checked against a budget once', async () => {
    await using bench = await open([call('a', 10, 1), call('b', 20, 2), answer])
    await bench.submit('go', { agentId: 'native', turn: { budget: { tokens: 40, warnAt: 0.9 } } })
    const wait = await bench.wait()
    await bench.runtime.idle()
    await bench.restart()
    await bench.runtime.answer(wait.id, { decision: 'approve' })
    const second = await bench.wait()
    assert.deepEqual(await bench.bodies('note'), [], '33 of 40 are used')
    await bench.runtime.answer(second.id, { decision: 'approve' })
    await bench.runtime.idle()
    const [finish] = await finishes(bench)
    assert.deepEqual(counted(finish?.usage), [330, 6, 336])
  })
})
