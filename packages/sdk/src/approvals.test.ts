import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ChatEvent } from './index.ts'
import { resolveToolApprovalMode } from './index.ts'
import { chatting, eventsOf, noting, textOf, typesOf, until } from './sdk.fixture.ts'

const TWO_CALLS = {
  toolCalls: [
    { id: 'one', name: 'note', input: { n: 1 } },
    { id: 'two', name: 'note', input: { n: 2 } },
  ],
}

function requestsOf(events: readonly ChatEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'tool-approval-request' ? [event.toolCall.toolCallId] : []))
}

suite('serial approval', () => {
  test('shows one request at a time, and the next after the result of the one before', async () => {
    const calls: unknown[] = []
    await using it = await chatting([TWO_CALLS, { text: 'End.' }], { factory: { tools: noting('note', calls) } })
    const result = await it.session.chat('Go', { requireToolApproval: true })
    const first = await until(result, 'tool-approval-request')
    assert.deepEqual(first.toolCall, { toolCallId: 'one', toolName: 'note', args: { n: 1 } })
    assert.deepEqual(calls, [])
    await assert.rejects(it.session.approveToolCall('two'), { type: 'TOOL_CALL_NOT_PENDING' })
    await it.session.approveToolCall('one')
    const seen: string[] = []
    for await (const event of result.eventStream) {
      seen.push(event.type)
      if (event.type === 'tool-approval-request') break
    }
    assert.deepEqual(seen, ['tool-result', 'tool-approval-request'])
    assert.deepEqual(calls, [{ n: 1 }])
    await it.session.declineToolCall('two')
    const rest = await eventsOf(result)
    assert.equal(textOf(rest), 'End.')
    assert.deepEqual(calls, [{ n: 1 }])
    const declined = rest.find((event) => event.type === 'tool-result')
    assert.ok(declined?.type === 'tool-result' && declined.isError === true && declined.error instanceof Error)
    assert.equal(it.model.requests.length, 2)
    // The model is told of both.
    const told = JSON.stringify(it.model.requests[1])
    assert.match(told, /done/)
    assert.match(told, /The call was denied/)
  })

  test('settles while the loop holds the event, without waiting for the next one', async () => {
    await using it = await chatting([TWO_CALLS, { text: 'End.' }], { factory: { tools: noting('note', []) } })
    const { eventStream } = await it.session.chat('Go', { requireToolApproval: 'serial' })
    const seen: string[] = []
    for await (const event of eventStream) {
      seen.push(event.type)
      if (event.type === 'tool-approval-request') await it.session.approveToolCall(event.toolCall.toolCallId)
    }
    assert.equal(seen.filter((type) => type === 'tool-approval-request').length, 2)
    assert.equal(seen.at(-1), 'finish')
  })

  test('asks about nothing by default', async () => {
    const calls: unknown[] = []
    await using it = await chatting([TWO_CALLS, { text: 'End.' }], { factory: { tools: noting('note', calls) } })
    const events = await eventsOf(await it.session.chat('Go'))
    assert.deepEqual(requestsOf(events), [])
    assert.equal(calls.length, 2)
  })
})

suite('batch approval', () => {
  test('shows all requests before the first answer, then the end of the step', async () => {
    const calls: unknown[] = []
    await using it = await chatting([TWO_CALLS, { text: 'End.' }], { factory: { tools: noting('note', calls) } })
    const result = await it.session.chat('Go', { requireToolApproval: 'batch' })
    const batch: ChatEvent[] = []
    for await (const event of result.eventStream) {
      batch.push(event)
      if (event.type === 'step-finish') break
    }
    assert.deepEqual(requestsOf(batch).sort(), ['one', 'two'])
    const end = batch.at(-1)
    assert.equal(end?.type === 'step-finish' && end.finishReason, 'tool-calls')
    assert.deepEqual(calls, [])
    await it.session.declineToolCall('two')
    await it.session.approveToolCall('one')
    const rest = await eventsOf(result)
    assert.deepEqual(calls, [{ n: 1 }])
    assert.equal(typesOf(rest).filter((type) => type === 'tool-result').length, 2)
    assert.equal(textOf(rest), 'End.')
  })
})

suite('a remembered approval', () => {
  test('skips later requests for the same tool, also of the same step, in this session only', async () => {
    const again = { toolCalls: [{ id: 'three', name: 'note', input: { n: 3 } }] }
    const calls: unknown[] = []
    await using it = await chatting(
      [TWO_CALLS, again, ...['End.', 'Other.', 'Clone.', 'Back.'].flatMap((text) => [{ text }, again])],
      {
        factory: { tools: noting('note', calls) },
      },
    )
    const result = await it.session.chat('Go', { requireToolApproval: true })
    await until(result, 'tool-approval-request')
    await it.session.approveToolCall('one', { remember: true })
    const rest = await eventsOf(result)
    assert.deepEqual(requestsOf(rest), [])
    assert.equal(typesOf(rest).filter((type) => type === 'tool-result').length, 3)
    assert.equal(typesOf(rest).filter((type) => type === 'tool-call').length, 1)
    assert.deepEqual(calls, [{ n: 1 }, { n: 2 }, { n: 3 }])
    const other = await it.agent.createChatSession()
    const asked = await other.chat('Go', { requireToolApproval: true })
    await until(asked, 'tool-approval-request')
    await other.declineToolCall('three')
    await eventsOf(asked)
    // A clone does not inherit it, and a restart does not forget it.
    const clone = await it.agent.cloneChatSession(it.session.getId())
    const cloned = await clone.chat('Go', { requireToolApproval: true })
    await until(cloned, 'tool-approval-request')
    await clone.declineToolCall('three')
    await eventsOf(cloned)
    const manager = await it.restart()
    const back = manager.getAgent('a').getChatSession(it.session.getId())
    assert.deepEqual(requestsOf(await eventsOf(await back.chat('Go', { requireToolApproval: true }))), [])
    assert.equal(calls.length, 4)
  })

  test('holds for the one tool only, and a refusal is not remembered', async () => {
    const tools = [...(noting('note', []) as readonly object[]), ...(noting('other', []) as readonly object[])]
    const script = [
      { toolCalls: [{ id: 'a', name: 'note', input: {} }] },
      { toolCalls: [{ id: 'b', name: 'note', input: {} }] },
      { toolCalls: [{ id: 'c', name: 'note', input: {} }] },
      { toolCalls: [{ id: 'd', name: 'other', input: {} }] },
      { text: 'End.' },
    ]
    await using it = await chatting(script, { factory: { tools: tools } })
    const { eventStream } = await it.session.chat('Go', { requireToolApproval: true })
    const asked: string[] = []
    for await (const event of eventStream) {
      if (event.type !== 'tool-approval-request') continue
      const { toolCallId } = event.toolCall
      asked.push(toolCallId)
      if (toolCallId === 'a') await it.session.declineToolCall(toolCallId)
      else await it.session.approveToolCall(toolCallId, { remember: true })
    }
    assert.deepEqual(asked, ['a', 'b', 'd'])
  })
})

suite('a wrong answer', () => {
  test('for an unknown, settled or other kind of call is refused and disturbs nothing', async () => {
    const tool = { name: 'mine', inputSchema: { type: 'object' } }
    const script = [
      {
        toolCalls: [
          { id: 'ours', name: 'note', input: {} },
          { id: 'theirs', name: 'mine', input: {} },
        ],
      },
      { text: 'End.' },
    ]
    await using it = await chatting(script, { factory: { tools: noting('note', []) }, config: { tools: [tool] } })
    const { session } = it
    const result = await session.chat('Go', { requireToolApproval: true })
    await until(result, 'tool-approval-request')
    const refused = { type: 'TOOL_CALL_NOT_PENDING' }
    await assert.rejects(session.approveToolCall('nobody'), refused)
    await assert.rejects(session.declineToolCall('nobody'), refused)
    const other = await it.agent.createChatSession()
    await assert.rejects(other.approveToolCall('ours'), refused)
    await assert.rejects(session.submitToolResult({ toolCallId: 'ours', toolName: 'note', result: 1 }), refused)
    await assert.rejects(session.approveToolCall('theirs'), refused)
    await session.approveToolCall('ours')
    await assert.rejects(session.approveToolCall('ours'), refused)
    await assert.rejects(session.declineToolCall('ours'), refused)
    await session.submitToolResult({ toolCallId: 'theirs', toolName: 'mine', result: 1 })
    await assert.rejects(session.submitToolResult({ toolCallId: 'theirs', toolName: 'mine', result: 1 }), refused)
    assert.equal(textOf(await eventsOf(result)), 'End.')
  })

  test('after the turn was cancelled finds nothing that waits', async () => {
    await using it = await chatting([TWO_CALLS, TWO_CALLS], { factory: { tools: noting('note', []) } })
    const result = await it.session.chat('Go', { requireToolApproval: true })
    await until(result, 'tool-approval-request')
    await it.session.cancelTurn()
    assert.equal((await eventsOf(result)).at(-1)?.type, 'finish')
    await assert.rejects(it.session.approveToolCall('one'), { type: 'TOOL_CALL_NOT_PENDING' })
    const abort = new AbortController()
    const second = await it.session.chat('Go', { requireToolApproval: true, abortSignal: abort.signal })
    await until(second, 'tool-approval-request')
    abort.abort()
    const finish = (await eventsOf(second)).at(-1)
    assert.equal(finish?.type === 'finish' && finish.finishReason, 'other')
    await assert.rejects(it.session.approveToolCall('one'), { type: 'TOOL_CALL_NOT_PENDING' })
  })
})

suite('tools that the caller runs', () => {
  const annotations = { readOnlyHint: true }
  const tools = [{ name: 'ask', description: 'Asks a person.', inputSchema: { type: 'object' }, annotations }]

  test('wait for their results, which may come in any order, and need no approval', async () => {
    const script = [
      {
        toolCalls: [
          { id: 'a', name: 'ask', input: { q: 1 } },
          { id: 'b', name: 'ask', input: { q: 2 } },
        ],
      },
      { text: 'End.' },
    ]
    await using it = await chatting(script, { config: { tools } })
    const { session } = it
    const result = await session.chat('Go', { requireToolApproval: true })
    const call = await until(result, 'tool-call')
    assert.deepEqual(call, { type: 'tool-call', toolCallId: 'a', toolName: 'ask', args: { q: 1 }, annotations })
    await until(result, 'tool-call')
    await session.submitToolResult({ toolCallId: 'b', toolName: 'ask', result: { answer: 2 } })
    assert.equal(it.model.requests.length, 1)
    await session.submitToolResult({
      toolCallId: 'a',
      toolName: 'ask',
      result: 'No.',
      isError: true,
      error: new Error('Nobody.'),
    })
    const rest = await eventsOf(result)
    assert.deepEqual(requestsOf(rest), [])
    const results = rest.flatMap((event) => (event.type === 'tool-result' ? [event] : []))
    assert.deepEqual(results.map(({ toolCallId, isError = false }) => `${toolCallId} ${isError}`).sort(), [
      'a true',
      'b false',
    ])
    assert.equal(it.model.requests.length, 2)
    const [first, second] = it.model.requests.map((request) => JSON.stringify(request))
    assert.match(first ?? '', /Asks a person/)
    assert.match(second ?? '', /answer[^]*error-text[^]*No\.|error-text[^]*No\.[^]*answer/)
    const failed = results.find(({ toolCallId }) => toolCallId === 'a')
    assert.equal(failed?.error?.message, 'Nobody.')
  })
})

test('a mode of approval does what its name promises', () => {
  assert.equal(resolveToolApprovalMode(undefined), undefined)
  assert.equal(resolveToolApprovalMode(false), undefined)
  assert.equal(resolveToolApprovalMode(true), 'serial')
  assert.equal(resolveToolApprovalMode('serial'), 'serial')
  assert.equal(resolveToolApprovalMode('batch'), 'batch')
  assert.throws(() => resolveToolApprovalMode('all' as 'batch'), { type: 'INVALID_OPTIONS' })
})
