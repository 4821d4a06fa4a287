import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createTool } from '@inspan/agent'
import { startProvider } from '@inspan/testing'
import { AgentBench } from '../agent-bench.fixture.ts'

const SIGNATURE = 'EqQBCkYIB+/='
const note = createTool({ id: 'note', description: 'Notes.', execute: () => 'noted' })
const SCRIPT = [{ reasoning: 'Let me think.', signature: SIGNATURE, toolCalls: [{ name: 'note' }] }, { text: 'Done.' }]

suite('reasoning goes back to those who want it signed', () => {
  test('as Anthropic sends it: the signature comes before the end of the part', async () => {
    await using provider = await startProvider(SCRIPT)
    const model = createAnthropic({ baseURL: `${provider.url}/v1`, apiKey: 'any' })('claude-sonnet-4-5')
    await using bench = await AgentBench.open([], { agent: { model, tools: [note] } })
    assert.equal(await bench.play(), 'complete')
    const sent = JSON.stringify(provider.requests[1]?.body)
    assert.ok(
      sent.includes(JSON.stringify({ type: 'thinking', thinking: 'Let me think.', signature: SIGNATURE })),
      sent,
    )
  })

  test('as OpenAI sends it: encrypted', async () => {
    await using provider = await startProvider(SCRIPT)
    const model = createOpenAI({ baseURL: `${provider.url}/v1`, apiKey: 'any' })('gpt-5')
    const providerOptions = { openai: { store: false, include: ['reasoning.encrypted_content'] } }
    await using bench = await AgentBench.open([], { agent: { model, tools: [note], providerOptions } })
    assert.equal(await bench.play(), 'complete')
    const sent = JSON.stringify(provider.requests[1]?.body)
    assert.ok(sent.includes(`"encrypted_content":"${SIGNATURE}"`), sent)
  })

  test('metadata from the start of a part goes back, too', async () => {
    const parts = [
      { raw: { type: 'reasoning-start', id: 'r', providerMetadata: { scripted: { redactedData: 'xyz' } } } },
      { raw: { type: 'reasoning-end', id: 'r' } },
      { raw: { type: 'text-start', id: 'r', providerMetadata: { scripted: { itemId: 'msg' } } } },
      { raw: { type: 'text-delta', id: 'r', delta: 'Hi.' } },
      { raw: { type: 'text-end', id: 'r' } },
    ]
    await using bench = await AgentBench.open([{ parts }, { text: 'Bye.' }])
    await bench.play()
    await bench.play('And?')
    assert.deepEqual(JSON.parse(bench.prompts()[1]?.[1] ?? '{}'), {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: '', providerOptions: { scripted: { redactedData: 'xyz' } } },
        { type: 'text', text: 'Hi.', providerOptions: { scripted: { itemId: 'msg' } } },
      ],
    })
  })
})
