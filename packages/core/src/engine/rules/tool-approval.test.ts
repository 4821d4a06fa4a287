import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool, type Tool } from '@inspan/agent'
import type { Decision } from '@inspan/protocol/driver'
import { z } from 'zod'
import { AgentBench } from '../agent-bench.fixture.ts'

const CALL = [{ toolCalls: [{ id: 'c1', name: 'remove', input: { path: 'a' } }] }, { text: 'Done.' }]

function remove(ran: string[], requireApproval: Tool['requireApproval']): Tool {
  return createTool({
    id: 'remove',
    description: 'Removes.',
    inputSchema: z.object({ path: z.string() }),
    ...(requireApproval === undefined ? {} : { requireApproval }),
    execute: ({ path }) => {
      ran.push(path)
      return 'removed'
    },
  })
}

suite('a tool that wants to be approved', () => {
  test('is asked about where no rule speaks for it', async () => {
    const ran: string[] = []
    await using bench = await AgentBench.open(CALL, { agent: { tools: [remove(ran, true)] } })
    const run = await bench.submit('Go.')
    const wait = await bench.wait()
    assert.equal(wait.kind, 'approval')
    assert.deepEqual(ran, [])
    await bench.runtime.answer(wait.id, { decision: 'approve' })
    assert.equal(await run.done, 'complete')
    assert.deepEqual(ran, ['a'])
  })

  test('a tool asks for approval only for the inputs it names', async () => {
    const ran: string[] = []
    const tools = [remove(ran, ({ path }) => path === 'b')]
    await using bench = await AgentBench.open(CALL, { agent: { tools } })
    assert.equal(await bench.play(), 'complete')
    assert.deepEqual(ran, ['a'])
  })

  for (const [what, decide, yolo] of [
    ['a rule that allows the call', (): Decision => ({ policy: 'allow', reason: 'so', rule: 'allow remove' }), false],
    ['yolo', (): Decision => ({ policy: 'allow', reason: 'all' }), true],
  ] as const) {
    test(`is not asked about under ${what}`, async () => {
      const ran: string[] = []
      await using bench = await AgentBench.open(CALL, { agent: { tools: [remove(ran, true)] }, runtime: { decide } })
      if (yolo) await bench.runtime.configure({ yolo: true })
      assert.equal(await bench.play(), 'complete')
      assert.deepEqual(ran, ['a'])
    })
  }

  test('is never run under a deny', async () => {
    const ran: string[] = []
    await using bench = await AgentBench.open(CALL, {
      agent: { tools: [remove(ran, true)] },
      runtime: { decide: () => ({ policy: 'deny', reason: 'no' }) },
    })
    assert.equal(await bench.play(), 'complete')
    assert.deepEqual(ran, [])
  })
})

test('nobody is asked to approve input that the tool would refuse', async () => {
  const ran: string[] = []
  const script = [{ toolCalls: [{ id: 'c1', name: 'remove', input: { path: 7 } }] }, { text: 'Done.' }]
  await using bench = await AgentBench.open(script, { agent: { tools: [remove(ran, true)] } })
  assert.equal(await bench.play(), 'complete')
  assert.deepEqual(ran, [])
  const [result] = await bench.eventsOf('tool-result')
  assert.match(JSON.stringify(result?.result), /not valid, so the tool was not run: path/)
  const types = new Set((await bench.records()).map(({ body }) => body.type))
  assert.ok(!types.has('wait.opened') && !types.has('call.started'))
})
