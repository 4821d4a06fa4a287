import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { AgentBench } from '../agent-bench.fixture.ts'

suite('the input of a tool', () => {
  test('is shown as the model writes it, before the call is complete, separately for each of several calls', async () => {
    const write = createTool({ id: 'write', description: 'Writes.', execute: (input) => input })
    const inputs = { c1: { path: 'a.txt', text: 'one two three' }, c2: { path: 'b.txt', text: 'four' } }
    await using bench = await AgentBench.open(
      [
        { toolCalls: Object.entries(inputs).map(([id, input]) => ({ id, name: 'write', input, inputDeltas: 5 })) },
        { text: 'Done.' },
      ],
      { agent: { tools: [write] } },
    )
    const pieces: { [toolCallId: string]: string[] } = { c1: [], c2: [] }
    const growing: { [toolCallId: string]: string[] } = { c1: [], c2: [] }
    const order: string[] = []
    bench.runtime.onEntry((entry) => {
      if (entry.kind === 'delta' && entry.event.type === 'tool-call-delta') {
        const { argsTextDelta, toolCallId, toolName } = entry.event
        assert.equal(toolName, 'write')
        pieces[toolCallId]?.push(argsTextDelta)
        order.push(`piece of ${toolCallId}`)
        for (const { parts } of entry.state.messages) {
          for (const part of parts) {
            if (part.type === 'tool-call' && part.toolCallId === toolCallId)
              growing[toolCallId]?.push(part.inputText ?? '')
          }
        }
      } else if (entry.kind === 'record' && entry.record.body.type === 'tool-call') {
        order.push(`call ${entry.record.body.toolCallId}`)
      }
    })
    assert.equal(await bench.play(), 'complete')
    for (const [id, input] of Object.entries(inputs)) {
      assert.equal(pieces[id]?.length, 5)
      assert.deepEqual(JSON.parse(pieces[id].join('')), input)
      assert.equal(growing[id]?.at(-1), pieces[id].join(''), 'whoever looks at the state sees it grow')
      assert.ok(order.indexOf(`piece of ${id}`) < order.indexOf(`call ${id}`))
      assert.ok(order.lastIndexOf(`piece of ${id}`) < order.indexOf(`call ${id}`))
    }
    const [, said] = await bench.messages()
    assert.deepEqual(
      said?.parts.flatMap((part) => (part.type === 'tool-call' ? [[part.toolCallId, part.args, part.inputText]] : [])),
      Object.entries(inputs).map(([id, input]) => [id, input, undefined]),
      'kept is the call, not how it came',
    )
  })
})
