import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import { InspanError, NO_RULES, type Answer } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import { scriptedModel } from '@inspan/testing'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import type { ConfigChange, ControlFact, Submission } from '../thread-options.ts'

const cyclic: Record<string, unknown> = {}
cyclic['self'] = cyclic
const throwing = {
  toJSON: () => {
    throw new Error('not me')
  },
}
const SAID: Submission['parts'] = [{ id: '0', type: 'text', text: 'Hi' }]
const isRefused = (error: unknown): boolean => InspanError.is(error, 'invalid-input')

async function openBench(): Promise<RuntimeBench> {
  const write: RunnableTool = {
    name: 'write',
    inputSchema: { type: 'object' },
    execute: async () => ({ result: 'written' }),
  }
  const model = scriptedModel([{ toolCalls: [{ id: 'c', name: 'write' }] }, { text: 'Done.' }, { text: 'More.' }])
  return RuntimeBench.open({ native: { driver: nativeDriver({ id: 'native', model }), tools: [write] } })
}

suite('an invalid answer is refused, and a valid one after it is accepted', () => {
  for (const [what, answer, by] of [
    ['nothing', null],
    ['a text', 'approve'],
    ['a value that is no JSON', { decision: 'approve', value: 1n }],
    ['a decision that is no JSON', { decision: 1n }],
    ['a cyclic value', { decision: 'approve', value: cyclic }],
    ['a value that cannot be written', { decision: 'approve', value: throwing }],
    ['a reason that is no text', { decision: 'decline', reason: 5 }],
    ['a scope that is no JSON', { decision: 'approve', remember: 1n }],
    ['somebody who is no text', { decision: 'approve' }, 1n],
    ['somebody who is a number', { decision: 'approve' }, 5],
  ] as const) {
    test(what, async () => {
      await using bench = await openBench()
      const handle = await bench.submit('go', { agentId: 'native' })
      const wait = await bench.wait()
      await assert.rejects(
        bench.runtime.answer(wait.id, answer as unknown as Answer, by as unknown as string),
        isRefused,
      )
      assert.deepEqual([...bench.runtime.state.head.waits.keys()], [wait.id], 'it still waits')
      await bench.runtime.answer(wait.id, { decision: 'approve' }, 'ann')
      assert.equal(await handle.done, 'complete')
    })
  }
})

suite('an invalid change is refused, and changes nothing', () => {
  for (const [what, change] of [
    ['nothing', null],
    ['settings that are no JSON', { settings: { a: 1n } }],
    ['a cyclic state', { state: cyclic }],
    ['settings that are a list', { settings: [] }],
    ['rules that are nothing', { rules: null }],
    ['rules without their lists', { rules: {} }],
    ['a rule that is nothing', { rules: { ...NO_RULES, patterns: [null] } }],
    ['grants that are nothing', { grants: null }],
    ['grants of something else', { grants: { tools: [1], categories: [] } }],
    ['a yolo that is a text', { yolo: 'yes' }],
    ['a mode that is a number', { mode: 5 }],
  ] as const) {
    test(what, async () => {
      await using bench = await openBench()
      await assert.rejects(bench.runtime.configure(change as unknown as ConfigChange), isRefused)
      const facts = [
        { type: 'config.changed', yolo: true },
        { type: 'config.changed', ...(change ?? { rules: null }) },
      ]
      await assert.rejects(bench.runtime.record(facts as unknown as readonly ControlFact[]), isRefused)
      const handle = await bench.submit('go', { agentId: 'native' })
      await bench.runtime.answer((await bench.wait()).id, { decision: 'approve' })
      assert.equal(await handle.done, 'complete')
      assert.equal((await bench.bodies('config.changed')).length, 0)
    })
  }
})

test('words, a context and a name that are not JSON are refused, and the next message is accepted', async () => {
  await using bench = await openBench()
  for (const bad of [{ requestContext: { a: 1n } }, { requestContext: cyclic }, { by: 1n }, { parts: [{ id: 1n }] }]) {
    await assert.rejects(
      bench.runtime.submit({ agentId: 'native', parts: SAID, ...bad } as unknown as Submission),
      isRefused,
    )
  }
  const handle = await bench.submit('go', { agentId: 'native' })
  const wait = await bench.wait()
  await assert.rejects(
    bench.runtime.followUp({ agentId: 'native', parts: [{ id: 1n }] } as unknown as Submission),
    isRefused,
  )
  await bench.runtime.answer(wait.id, { decision: 'approve' })
  assert.equal(await handle.done, 'complete')
})

test('an empty message is refused, and starts no run', async () => {
  await using bench = await openBench()
  const nothing: Submission = { agentId: 'native', parts: [] }
  for (const say of ['submit', 'steer', 'followUp'] as const) {
    await assert.rejects(
      bench.runtime[say](nothing),
      (error) => InspanError.is(error, 'invalid-input') && /`parts` of a submission is empty/.test(error.message),
    )
  }
  assert.equal((await bench.bodies('run.started')).length, 0)
})

test('a budget that is not a number of at least 0 is refused', async () => {
  await using bench = await openBench()
  for (const budget of [{ tokens: NaN }, { usd: -1 }, { ms: Infinity }, { tokens: 5, warnAt: NaN }]) {
    const submission: Submission = { agentId: 'native', parts: SAID, turn: { budget } }
    await assert.rejects(bench.runtime.submit(submission), isRefused)
    await assert.rejects(bench.runtime.steer(submission), isRefused)
    await assert.rejects(bench.runtime.followUp(submission), isRefused)
  }
  assert.equal((await bench.bodies('run.started')).length, 0)
})
