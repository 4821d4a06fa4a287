import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { StoredMessage } from '@inspan/protocol'
import { DEFAULT_MAX_STEPS } from '@inspan/protocol/chat'
import { createHost } from '@inspan/protocol/driver'
import { scriptedModel } from '@inspan/testing'
import { Agent } from './agent.ts'

suite('an agent', () => {
  test('takes one turn without a thread, with what its host provides', async () => {
    const model = scriptedModel([{ toolCalls: [{ id: 'c', name: 'look', input: { at: 'a' } }] }, { text: 'Seen.' }])
    const input = [{ id: '0', type: 'text', text: 'Look.' }] as const
    const asked: StoredMessage = { id: 'u', role: 'user', order: 1, at: 0, state: 'done', parts: input }
    const called: unknown[] = []
    const host = createHost({
      decide: () => ({ policy: 'allow', reason: 'a test' }),
      history: async function* () {
        yield asked
      },
      listTools: () => [{ name: 'look', inputSchema: { type: 'object' } }],
      callTool: async (call) => {
        called.push(call.args)
        return { result: 'a' }
      },
    })
    const agent = new Agent({ id: 'a', model, instructions: 'Be brief.' })
    const events = await Array.fromAsync(agent.stream({ turnId: 't', runId: 'r', threadId: 'thread', input }, host))
    assert.deepEqual(called, [{ at: 'a' }])
    assert.equal(events.filter(({ type }) => type === 'finish').length, 1)
    assert.equal(events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : [])).join(''), 'Seen.')
  })

  test('takes 1024 model calls in a turn that is given no limit', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'look', input: {} }], repeat: true }])
    const host = createHost({
      decide: () => ({ policy: 'allow', reason: 'a test' }),
      listTools: () => [{ name: 'look', inputSchema: { type: 'object' } }],
      callTool: async () => ({ result: 'a' }),
    })
    const input = [{ id: '0', type: 'text', text: 'Look.' }] as const
    const agent = new Agent({ id: 'a', model })
    const events = await Array.fromAsync(agent.stream({ turnId: 't', runId: 'r', threadId: 'thread', input }, host))
    assert.equal(model.requests.length, 1024)
    const finish = events.at(-1)
    assert.equal(finish?.type === 'finish' && finish.finishReason, 'tool-calls')
    assert.equal(DEFAULT_MAX_STEPS, 1024)
  })
})
