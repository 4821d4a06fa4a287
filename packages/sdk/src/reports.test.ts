/** Logs, telemetry and the wire: what they tell, and whom. */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { LogRecord, TelemetryEvent, WireCommunicationEvent } from './index.ts'
import { chatting, eventsOf, until } from './sdk.fixture.ts'

const LONG = 'The harbour of the town has four cranes, and the second one is broken. '.repeat(20)

suite('logs', () => {
  test('reach those whom they concern, with level, message, context, time and scope', async () => {
    const files = { 'empty/x.txt': '' }
    await using it = await chatting([{ text: 'One.' }, { text: 'Two.' }], { files, manager: { now: () => 4_711 } })
    const other = await it.manager.createAgent(it.project, { agentId: 'b' })
    const second = await it.agent.createChatSession()
    const places = [it.manager, it.agent, it.session, other, second]
    const heard = places.map((): LogRecord[] => [])
    const stops = places.map((place, index) => place.onLog((record) => heard[index]?.push(record)))
    await it.agent.updateAgentConfig({ rules: ['empty'] })
    const error = new Error('A broken subscriber.')
    it.session.subscribe(({ type }) => {
      if (type === 'finish') throw error
    })
    await eventsOf(await it.session.chat('Hi'))
    const [all = [], ofAgent = [], ofSession = [], ...ofOthers] = heard
    assert.deepEqual(
      all.map(({ agentId, level, sessionId }) => [level, agentId, sessionId]),
      [
        ['warn', 'a', undefined],
        ['error', 'a', it.session.getId()],
      ],
    )
    assert.deepEqual([ofAgent, ofSession, ofOthers], [all, all.slice(1), [[], []]])
    assert.deepEqual(ofSession, [
      {
        level: 'error',
        message: 'A subscriber of the session threw an error.',
        context: { error },
        timestamp: 4_711,
        agentId: 'a',
        sessionId: it.session.getId(),
      },
    ])
    for (const stop of stops) stop()
    await eventsOf(await it.session.chat('Hi'))
    assert.equal(all.length + ofAgent.length + ofSession.length, 5)
  })
})

suite('telemetry', () => {
  test('reports the life of agents and sessions, and how each turn ended', async () => {
    await using it = await chatting(
      [{ text: LONG }, { text: 'Two is broken.' }, { error: { status: 400 } }, { text: ['a', 'b'], hang: true }],
      { manager: { now: () => 4_711 } },
    )
    const seen: TelemetryEvent[] = []
    it.manager.onTelemetry((event) => seen.push(event))
    const agent = await it.manager.createAgent(it.project, { agentId: 'b' })
    const session = await agent.createChatSession()
    const source = session.getId()
    await eventsOf(await session.chat('Hi'))
    const clone = await agent.cloneChatSession(source)
    const compacted = await agent.compactChatSession(source)
    await agent.destroyChatSession(clone.getId())
    await agent.updateAgentConfig({ name: 'Bob', description: 'd' })
    await eventsOf(await session.chat('Fail'))
    const abort = new AbortController()
    const turn = await session.chat('Hang', { abortSignal: abort.signal })
    await until(turn, 'text-delta')
    abort.abort()
    await eventsOf(turn)
    await agent.destroy()
    const ended = seen.filter(({ type }) => /^chat-stream-(completed|failed|aborted)$/.test(type))
    assert.deepEqual(
      seen.filter((event) => event.type !== 'step-completed').map(({ type, sessionId }) => [type, sessionId]),
      [
        ['agent-created', undefined],
        ['chat-session-created', source],
        ['chat-stream-started', source],
        ['chat-stream-completed', source],
        ['chat-session-cloned', clone.getId()],
        ['chat-session-compacted', compacted.getId()],
        ['chat-session-destroyed', clone.getId()],
        ['agent-config-updated', undefined],
        ['chat-stream-started', source],
        ['chat-stream-failed', source],
        ['chat-stream-started', source],
        ['chat-stream-aborted', source],
        ['agent-destroyed', undefined],
      ],
    )
    assert.equal(ended.length, 3)
    assert.ok(seen.every(({ agentId, timestamp }) => agentId === 'b' && timestamp === 4_711))
    const cloned = seen.find(({ type }) => type === 'chat-session-cloned')
    assert.equal(cloned?.type === 'chat-session-cloned' && cloned.sourceSessionId, source)
    const updated = seen.find(({ type }) => type === 'agent-config-updated')
    assert.deepEqual(updated?.type === 'agent-config-updated' && updated.changedFields, ['name', 'description'])
  })

  test('gives the first listener what was restored before it could listen', async () => {
    await using it = await chatting([])
    const elsewhere = join(it.root, '..', 'elsewhere')
    await mkdir(elsewhere)
    await it.manager.createAgent(elsewhere, { agentId: 'lost' })
    rmSync(elsewhere, { recursive: true })
    const manager = await it.restart()
    const seen: string[] = []
    manager.onTelemetry(({ agentId, type }) => seen.push(`${type} ${agentId}`))
    assert.deepEqual(seen, ['agent-restored a', 'agent-restore-failed lost'])
    manager.onTelemetry(() => assert.fail('told twice'))
  })

  test('continues and logs the error if a listener throws', async () => {
    await using it = await chatting([])
    const logs: LogRecord[] = []
    it.manager.onLog((record) => logs.push(record))
    it.manager.onTelemetry(() => {
      throw new Error('A broken listener.')
    })
    const seen: string[] = []
    it.manager.onTelemetry(({ type }) => seen.push(type))
    await it.agent.updateAgentConfig({ name: 'Bob' })
    assert.deepEqual(seen, ['agent-config-updated'])
    assert.deepEqual(
      logs.map(({ context, level }) => [level, String(context?.['error'])]),
      [['error', 'Error: A broken listener.']],
    )
  })
})

suite('the wire', () => {
  test('ties each response to its request, also of an aborted turn, and is offered by the manager alone', async () => {
    const broken = { text: 'Two.', cut: 'reset' as const }
    const script = [{ text: 'One.' }, { text: ['a', 'b'], hang: true as const }, { text: 'Three.' }, broken]
    await using it = await chatting(script, { factory: { retry: { maxRetries: 0 } } })
    for (const place of [it.agent, it.session]) assert.equal('onWireCommunication' in place, false)
    const seen: WireCommunicationEvent[] = []
    const stop = it.manager.onWireCommunication((event) => seen.push(event))
    await eventsOf(await it.session.chat('Hi'))
    const [request, response] = seen
    const scope = { agentId: 'a', sessionId: it.session.getId() }
    assert.ok(request?.type === 'llm-request' && response?.type === 'llm-response')
    const { body, headers, requestId, timestamp, ...asked } = request
    assert.deepEqual(asked, { ...scope, type: 'llm-request', method: 'POST', url: 'scripted/scripted-model' })
    assert.match(JSON.stringify(body), /"Hi"/)
    assert.ok(typeof headers === 'object' && timestamp <= response.timestamp)
    const { agentId, durationMs, sessionId, status } = response
    assert.deepEqual(
      { agentId, sessionId, status, requestId: response.requestId },
      { ...scope, status: 200, requestId },
    )
    assert.ok(durationMs >= 0)
    assert.match(JSON.stringify(response.body), /One\./)
    const abort = new AbortController()
    const turn = await it.session.chat('Hang', { abortSignal: abort.signal })
    await until(turn, 'text-delta')
    abort.abort()
    await eventsOf(turn)
    const [, , , aborted, ...more] = seen
    assert.deepEqual([aborted?.type, more], ['llm-response', []])
    assert.ok(aborted?.type === 'llm-response' && aborted.error instanceof Error)
    stop()
    it.manager.onWireCommunication((event) => seen.push(event))
    await eventsOf(await it.session.chat('Again'))
    assert.equal(seen.length, 6)
    await eventsOf(await it.session.chat('Break'))
    assert.deepEqual(
      seen.slice(6).map(({ type }) => type),
      ['llm-request', 'llm-response'],
    )
  })
})
