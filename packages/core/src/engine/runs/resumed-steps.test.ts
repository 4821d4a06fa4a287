import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool, hasToolCall, stepCountIs, type StopCondition, type TurnStep } from '@inspan/agent'
import { AgentBench, type ModelScript } from '../agent-bench.fixture.ts'

const ask = createTool({
  id: 'ask',
  description: 'Asks.',
  execute: (_input, { resumeData, suspend }) => (resumeData === undefined ? suspend({}) : 'the answer'),
})
const quick = createTool({ id: 'quick', description: 'Ends at once.', execute: () => 'quick result' })

const SCRIPT: ModelScript = [
  { toolCalls: [{ name: 'quick' }], usage: { inputTokens: 10, outputTokens: 1 } },
  { toolCalls: [{ name: 'ask' }, { name: 'quick' }], usage: { inputTokens: 20, outputTokens: 2 } },
  { text: 'One step too many.', repeat: true },
]

/** Plays a turn that waits in its second step and goes on in another process, or after the thread was released. */
async function takenUp(
  how: 'restart' | 'passivation',
  stopWhen: StopCondition,
  seen: (kind: string, steps: readonly TurnStep[]) => void = () => undefined,
): Promise<AgentBench> {
  const bench = await AgentBench.open(SCRIPT, {
    agent: {
      tools: { ask, quick },
      stopWhen,
      hooks: {
        afterStep: ({ step }) => seen('step', [step]),
        afterTurn: ({ steps }) => seen('turn', steps),
      },
    },
    runtime: { passivateAfter: how === 'passivation' ? 1 : 10_000 },
  })
  await bench.submit('Go.')
  const wait = await bench.wait()
  await bench.runtime.idle()
  if (how === 'restart') await bench.restart()
  else while (bench.runtime.isHeld) await new Promise((resolve) => setImmediate(resolve))
  await bench.runtime.answer(wait.id, { decision: 'answer', value: {} })
  await bench.runtime.idle()
  assert.equal(bench.runtime.state.head.lastRun?.outcome, 'complete')
  return bench
}

suite('a turn that is taken up in the middle of a step', () => {
  for (const how of ['restart', 'passivation'] as const) {
    test(`stops when a condition holds after its calls are carried out (${how})`, async () => {
      await using bench = await takenUp(how, hasToolCall('ask'))
      assert.equal(bench.model.calls, 2)
      const [finish] = await bench.eventsOf('finish')
      assert.equal(finish?.finishReason, 'tool-calls')
    })

    test(`counts the steps before (${how})`, async () => {
      await using bench = await takenUp(how, stepCountIs(2))
      assert.equal(bench.model.calls, 2)
    })
  }

  test('passes the whole step, with all its results, to its hooks', async () => {
    const told: [string, string[][]][] = []
    const seen = (kind: string, steps: readonly TurnStep[]): void => {
      told.push([
        kind,
        steps.map(({ toolResults }) => toolResults.map(({ result }) => JSON.stringify(result)).toSorted()),
      ])
    }
    await using _ = await takenUp('restart', stepCountIs(2), seen)
    const both = ['"quick result"', '"the answer"']
    assert.deepEqual(told, [
      ['step', [['"quick result"']]],
      ['step', [both]],
      ['turn', [['"quick result"'], both]],
    ])
  })

  for (const how of ['restart', 'passivation'] as const) {
    test(`says of every step what it used, to its hooks and on its message (${how})`, async () => {
      const told: (number | undefined)[][] = []
      const seen = (_kind: string, steps: readonly TurnStep[]): void =>
        void told.push(steps.map(({ usage }) => usage.totalTokens))
      await using bench = await takenUp(how, stepCountIs(2), seen)
      assert.deepEqual(told, [[11], [22], [11, 22]])
      const agents = (await bench.messages()).filter(({ role }) => role === 'assistant')
      assert.deepEqual(
        agents.map(({ finishReason, usage }) => [finishReason, usage?.totalTokens]),
        [
          ['tool-calls', 11],
          ['tool-calls', 22],
        ],
      )
    })
  }

  test('continues when no condition holds', async () => {
    await using bench = await takenUp('restart', stepCountIs(3))
    assert.equal(bench.model.calls, 3)
  })

  for (const [what, said, calls] of [
    ['has no answer to what was said after its last one, and gives it', 'Also sing.', 1],
    ['has said all it had to say, and only ends', undefined, 0],
  ] as const) {
    test(what, async () => {
      await using bench = await AgentBench.open([{ text: 'La la.' }])
      const parts = [{ id: '0', type: 'text', text: said ?? '' }] as const
      await bench.runtime.change(async (log) => {
        await log.commit(
          [
            { type: 'run.started', runId: 'r', agentId: 'native', rules: { categories: {}, tools: {}, patterns: [] } },
            { type: 'turn.started', turnId: 't', agentId: 'native' },
            { type: 'step.started', stepIndex: 0 },
            { type: 'message.started', messageId: 'm', role: 'assistant', step: 0, by: 'native' },
            { type: 'text-delta', messageId: 'm', partId: '0', text: 'I dance.' },
            { type: 'step.ended', stepIndex: 0, finishReason: 'stop' },
            { type: 'message.ended', messageId: 'm', outcome: 'done', finishReason: 'stop' },
            ...(said === undefined ? [] : [{ type: 'message.added', messageId: 's', role: 'user', parts } as const]),
          ],
          { run: 'r', turn: 't' },
        )
      })
      await bench.restart()
      await bench.runtime.idle()
      assert.equal(bench.model.calls, calls)
      assert.equal(bench.runtime.state.head.lastRun?.outcome, 'complete')
      assert.equal((await bench.eventsOf('finish')).length, 1)
    })
  }

  for (const [how, cut, isCrash] of [
    ['cut by a crash before it said anything', { hang: true }, true],
    ['cut by a crash in the middle', { text: 'Half an', hang: true }, true],
    ['cut in the middle by the provider', { text: 'Half an', cut: true }, false],
  ] as const) {
    test(`counts a step ${how} as one of its own, and asks again in the next`, async () => {
      const usage = { inputTokens: 10, outputTokens: 1 }
      const script = [{ toolCalls: [{ name: 'quick' }], usage }, cut, { text: 'Whole.', usage }]
      await using bench = await AgentBench.open(script, { agent: { tools: { quick } } })
      const { done } = await bench.submit('Go.')
      if (isCrash) {
        while (bench.model.calls < 2) await new Promise((resolve) => setImmediate(resolve))
        await bench.runtime.change((log) => log.flush())
        await bench.restart()
        await bench.runtime.idle()
      } else await done
      const numbers = (await bench.eventsOf('step-start')).map(({ stepIndex }) => stepIndex)
      assert.deepEqual(numbers, [0, 1, 2])
      assert.deepEqual(
        (await bench.eventsOf('step-finish')).map(({ finishReason, stepIndex }) => [stepIndex, finishReason]),
        [
          [0, 'tool-calls'],
          [1, 'error'],
          [2, 'stop'],
        ],
      )
      const [finish] = await bench.eventsOf('finish')
      assert.deepEqual([finish?.finishReason, finish?.usage?.totalTokens], ['stop', 22])
      assert.equal(bench.runtime.state.head.usage.own.totalTokens, 22)
    })
  }

  test('stops as well when all results were there and only the next step was not', async () => {
    await using bench = await AgentBench.open(SCRIPT, { agent: { tools: { ask, quick }, stopWhen: stepCountIs(1) } })
    await bench.runtime.change(async (log) => {
      const call = { toolCallId: 'c', toolName: 'quick' }
      await log.commit(
        [
          { type: 'run.started', runId: 'r', agentId: 'native', rules: { categories: {}, tools: {}, patterns: [] } },
          { type: 'turn.started', turnId: 't', agentId: 'native' },
          { type: 'step.started', stepIndex: 0 },
          { type: 'message.started', messageId: 'm', role: 'assistant', step: 0, by: 'native' },
          { type: 'tool-call', messageId: 'm', partId: '0', ...call, args: {} },
          { type: 'step.ended', stepIndex: 0, finishReason: 'tool-calls' },
          {
            type: 'tool-result',
            messageId: 'm',
            partId: '1',
            ...call,
            result: 'x',
            call: { messageId: 'm', partId: '0' },
          },
          { type: 'message.ended', messageId: 'm', outcome: 'done', finishReason: 'tool-calls' },
        ],
        { run: 'r', turn: 't' },
      )
    })
    await bench.restart()
    await bench.runtime.idle()
    assert.equal(bench.model.calls, 0)
    assert.equal(bench.runtime.state.head.lastRun?.outcome, 'complete')
  })
})
