import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Agent } from '@inspan/agent'
import type { HarnessEvent } from '@inspan/protocol/harness'
import { scriptedModel } from '@inspan/testing'
import { Harness } from './harness.ts'

suite('a harness', () => {
  test('answers a message, emits its events in order and shows it', async () => {
    const model = scriptedModel([{ text: ['Hel', 'lo'], usage: { inputTokens: 10, outputTokens: 2 } }])
    const harness = new Harness({ id: 'h', agent: new Agent({ id: 'a', model }), modes: [{ id: 'build' }] })
    const events: HarnessEvent[] = []
    harness.subscribe((event) => void events.push(event))
    await harness.init()
    await harness.selectOrCreateThread()
    await harness.sendMessage({ content: 'Hi' })
    assert.deepEqual(
      events.map(({ type }) => type).filter((type) => type !== 'display_state_changed'),
      [
        'thread_created',
        'agent_start',
        'message_start',
        'message_end',
        'message_start',
        'text',
        'message_update',
        'text',
        'message_update',
        'usage_update',
        'message_end',
        'agent_end',
      ],
    )
    const { currentMessage, isRunning, tokenUsage } = harness.session.displayState.get()
    assert.deepEqual(currentMessage?.content, [{ type: 'text', text: 'Hello' }])
    assert.equal(isRunning, false)
    assert.equal(tokenUsage.totalTokens, 12)
    await harness.destroy()
  })
})
