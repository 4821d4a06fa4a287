import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Agent, Harness, SqliteStore } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'
import type { TelemetryEvent } from './index.ts'
import { chatting, eventsOf, textOf, until } from './sdk.fixture.ts'

const LONG = 'The harbour of the town has four cranes, and the second one is broken. '.repeat(20)

suite('a compacted session', () => {
  test('begins with a summary, continues on its own, and leaves the old one as it was', async () => {
    await using it = await chatting([
      { text: LONG },
      { text: 'Crane two is broken.' },
      { text: 'Two.' },
      { text: 'Old.' },
    ])
    const telemetry: TelemetryEvent[] = []
    it.agent.onTelemetry((event) => telemetry.push(event))
    await eventsOf(await it.session.chat('Tell me about the harbour'))
    const before = await it.session.getMessageHistory()
    const compacted = await it.agent.compactChatSession(it.session.getId())
    assert.notEqual(compacted.getId(), it.session.getId())
    const [summary, ...rest] = await compacted.getMessageHistory()
    assert.deepEqual([summary?.content, rest], ['Crane two is broken.', []])
    assert.ok(summary?.createdAt instanceof Date)
    // The summariser got the whole conversation.
    assert.match(JSON.stringify(it.model.requests[1]), /Tell me about the harbour[^]*four cranes/)
    assert.equal(textOf(await eventsOf(await compacted.chat('Which one?'))), 'Two.')
    const asked = JSON.stringify(it.model.requests[2])
    assert.match(asked, /Crane two is broken/)
    assert.doesNotMatch(asked, /four cranes|Tell me about/)
    assert.deepEqual(await it.session.getMessageHistory(), before)
    await eventsOf(await it.session.chat('And you?'))
    assert.match(JSON.stringify(it.model.requests[3]), /four cranes/)
    assert.deepEqual(it.agent.getChatSessionIds(), [it.session.getId(), compacted.getId()])
    const made = telemetry.find(({ type }) => type === 'chat-session-compacted')
    assert.deepEqual(made?.sessionId, compacted.getId())
  })

  test('is the same after a restart, and outlives the one it was made from', async () => {
    await using it = await chatting([{ text: LONG }, { text: 'Crane two is broken.' }, { text: 'Two.' }])
    await eventsOf(await it.session.chat('Tell me about the harbour'))
    const compacted = await it.agent.compactChatSession(it.session.getId())
    const history = await compacted.getMessageHistory()
    await it.agent.destroyChatSession(it.session.getId())
    const manager = await it.restart()
    const again = manager.getAgent('a').getChatSession(compacted.getId())
    assert.deepEqual(await again.getMessageHistory(), history)
    assert.equal(textOf(await eventsOf(await again.chat('Which one?'))), 'Two.')
    assert.match(JSON.stringify(it.model.requests[2]), /Crane two is broken/)
  })

  test('is not made if the summary fails: the error has the cause, and nothing has changed', async () => {
    await using it = await chatting([
      { text: LONG },
      { error: { status: 400, message: 'No summaries.' } },
      { text: '' },
    ])
    await eventsOf(await it.session.chat('Tell me about the harbour'))
    const before = await it.session.getMessageHistory()
    await assert.rejects(it.agent.compactChatSession(it.session.getId()), (error: Error & { type?: string }) => {
      assert.equal(error.type, 'COMPACTION_FAILED')
      assert.match((error.cause as Error).message, /No summaries/)
      return true
    })
    await assert.rejects(it.agent.compactChatSession(it.session.getId()), { type: 'COMPACTION_FAILED' })
    assert.deepEqual(await it.session.getMessageHistory(), before)
    assert.deepEqual(it.agent.getChatSessionIds(), [it.session.getId()])
    const manager = await it.restart()
    assert.deepEqual(manager.getAgent('a').getChatSessionIds(), [it.session.getId()])
  })

  test('is made as well if another harness of the process opened the session first', async () => {
    const store = new SqliteStore({ url: ':memory:' })
    const script = [{ text: LONG }, { text: 'Crane two is broken.' }, { text: 'Two.' }]
    await using it = await chatting(script, { factory: { store } })
    await eventsOf(await it.session.chat('Tell me about the harbour'))
    const sessionId = it.session.getId()
    const manager = await it.restart()
    const agent = new Agent({ id: 'other', model: scriptedModel([]) })
    const harness = new Harness({ id: 'other', resourceId: 'native/a', storage: store, agent, modes: [{ id: 'chat' }] })
    try {
      await harness.init()
      await harness.switchThread({ threadId: sessionId })
      const compacted = await manager.getAgent('a').compactChatSession(sessionId)
      const [summary, ...rest] = await compacted.getMessageHistory()
      assert.deepEqual([summary?.content, rest], ['Crane two is broken.', []])
      assert.equal(textOf(await eventsOf(await compacted.chat('Which one?'))), 'Two.')
    } finally {
      await harness.destroy()
    }
  })

  test('is refused while a turn is open', async () => {
    const tools = [{ name: 'ask', inputSchema: { type: 'object' } }]
    await using it = await chatting([{ toolCalls: [{ id: 'q', name: 'ask', input: {} }] }], { config: { tools } })
    await until(await it.session.chat('Go'), 'tool-call')
    await assert.rejects(it.agent.compactChatSession(it.session.getId()), { type: 'TURN_IN_PROGRESS' })
  })
})
