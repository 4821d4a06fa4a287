import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool, nativeDriver, runnableTool } from '@inspan/agent'
import { InspanError, type Answer, type Part } from '@inspan/protocol'
import { scriptedModel } from '@inspan/testing'
import { z } from 'zod'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import type { RuntimeAgents } from '../turns/active-run.ts'

const refused = (error: unknown): boolean => InspanError.is(error, 'invalid-input')

function agents(): RuntimeAgents {
  const model = scriptedModel([{ toolCalls: [{ name: 'note', input: { text: 'x' } }] }, { text: 'Done.' }])
  const note = createTool({
    id: 'note',
    description: 'Writes a note.',
    inputSchema: z.object({ text: z.string() }),
    execute: async () => 'noted',
  })
  return { native: { driver: nativeDriver({ id: 'native', model }), tools: [runnableTool(note)] } }
}

/** The same fields without a prototype. */
function bare<Fields extends object>(fields: Fields): Fields {
  return Object.assign(Object.create(null) as object, fields)
}

suite('what a submission may hold', () => {
  const ref = { blob: 'a'.repeat(64), size: 40_000, mime: 'text/plain' }
  const forged: { readonly [what: string]: unknown } = {
    'a text': { id: '0', type: 'text', text: 'Begin', ref },
    'an image': { id: '0', type: 'image', mimeType: 'image/png', data: '', ref },
    'a result': { id: '0', type: 'tool-result', toolCallId: 'c', toolName: 't', result: null, resultRef: ref },
    'what a tool shows': {
      id: '0',
      type: 'tool-result',
      toolCallId: 'c',
      toolName: 't',
      result: null,
      meta: { modelOutputRef: ref },
    },
  }
  for (const [what, part] of Object.entries(forged)) {
    test(`${what} that refers to stored content is refused, wherever it is given`, async () => {
      await using bench = await RuntimeBench.open(agents())
      const parts = [part as Part]
      const { runtime } = bench
      await assert.rejects(runtime.submit({ agentId: 'native', parts }), refused)
      await assert.rejects(runtime.followUp({ agentId: 'native', parts }), refused)
      const message = { type: 'message.added', messageId: 'm', role: 'user', parts } as const
      await assert.rejects(runtime.record([message]), refused)
      const item = { id: 'q', lane: 'follow-up', parts } as const
      await assert.rejects(runtime.record([{ type: 'queue.added', item }]), refused)
    })
  }
})

suite('objects without a usual prototype', () => {
  test('are taken like others if they have none', async () => {
    await using bench = await RuntimeBench.open(agents())
    const parts = [bare({ id: '0', type: 'text', text: 'Go' } as const)]
    const { done } = await bench.runtime.submit(bare({ agentId: 'native', parts }))
    const wait = await bench.wait()
    await bench.runtime.answer(wait.id, bare<Answer>({ decision: 'approve' }))
    assert.equal(await done, 'complete')
  })

  test('give a clear error where they do not fit', async () => {
    await using bench = await RuntimeBench.open(agents())
    const odd = bare({ a: 1 })
    await assert.rejects(bench.runtime.submit(odd as never), refused)
    await assert.rejects(bench.runtime.answer(odd as never, odd as never), refused)
    await assert.rejects(bench.runtime.configure({ title: odd as never }), refused)
    await bench.submit('Go', { agentId: 'native' })
    const wait = await bench.wait()
    for (const decision of [odd, [odd], Symbol('x')]) {
      await assert.rejects(bench.runtime.answer(wait.id, { decision } as never), refused)
    }
  })

  test('do not inherit a decision', async () => {
    await using bench = await RuntimeBench.open(agents())
    await bench.submit('Go', { agentId: 'native' })
    const wait = await bench.wait()
    const inherited = Object.create({ decision: 'approve' }) as Answer
    await assert.rejects(bench.runtime.answer(wait.id, inherited), refused)
    assert.ok(bench.runtime.state.head.waits.has(wait.id))
  })
})
