import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver } from '@evener/agent'
import { agentEventsOf, type AgentEvent, type LogRecord, type StoredMessage } from '@evener/protocol'
import { scriptedModel } from '@evener/testing'
import { MemoryStore } from '../stores/memory-store.ts'
import { recordsAfter } from './load-state.ts'
import { runTurn } from './run-turn.ts'
import type { RunnableTool } from './runnable-tool.ts'
import { openTestThread } from './thread.fixture.ts'

const echo: RunnableTool = {
  name: 'echo',
  inputSchema: { type: 'object' },
  execute: async (input, { progress }) => {
    progress('working')
    return { result: { said: input['text'] ?? null } }
  },
}

const INPUT = [{ id: '0', type: 'text', text: 'Say hello.' }] as const

async function play(
  script: Parameters<typeof scriptedModel>[0],
  tools: RunnableTool[] = [echo],
  signal?: AbortSignal,
): Promise<{
  records: LogRecord[]
  messages: readonly StoredMessage[]
  events: AgentEvent[]
  requests: readonly unknown[]
  outcome: string
}> {
  const store = new MemoryStore()
  await using thread = await openTestThread(store)
  const model = scriptedModel(script)
  const { outcome } = await runTurn({
    store,
    log: thread.log,
    driver: nativeDriver({ id: 'native', model, instructions: 'Be brief.' }),
    tools,
    input: INPUT,
    ...(signal === undefined ? {} : { signal }),
  })
  await thread.log.close()
  const records = await Array.fromAsync(recordsAfter(store, 'thread', 0))
  const { items: messages } = await store.listMessages(thread.log.state.head.lineage, { order: 'oldest' })
  return { records, messages, events: records.flatMap(agentEventsOf), requests: model.requests, outcome }
}

function partsOf(message: StoredMessage | undefined): string[] {
  return (message?.parts ?? []).map((part) => ('text' in part ? `${part.type}: ${part.text}` : part.type))
}

suite('a turn of the native loop', () => {
  test('is stored as messages, one per step, with calls and results in place', async () => {
    const { messages, outcome, events } = await play([
      {
        reasoning: 'Use the tool.',
        text: 'One moment. ',
        toolCalls: [{ id: 'c1', name: 'echo', input: { text: 'hi' }, inputDeltas: 3 }],
      },
      { text: ['Hel', 'lo', '!'], usage: { inputTokens: 10, outputTokens: 3 } },
    ])
    assert.equal(outcome, 'complete')
    assert.deepEqual(
      messages.map((message) => [message.role, message.state]),
      [
        ['user', 'done'],
        ['assistant', 'done'],
        ['assistant', 'done'],
      ],
    )
    assert.deepEqual(partsOf(messages[1]), [
      'reasoning: Use the tool.',
      'text: One moment. ',
      'tool-call',
      'tool-result',
    ])
    assert.deepEqual(partsOf(messages[2]), ['text: Hello!'])
    const call = messages[1]?.parts[2]
    assert.ok(call?.type === 'tool-call')
    assert.equal(call.call.stage, 'ended')
    assert.equal(call.call.outcome, 'ok')
    assert.deepEqual(call.args, { text: 'hi' })
    const result = messages[1]?.parts[3]
    assert.ok(result?.type === 'tool-result')
    assert.deepEqual(result.result, { said: 'hi' })
    assert.deepEqual(
      events.map((event) => event.type).filter((type) => type === 'finish' || type === 'start'),
      ['start', 'finish'],
    )
  })

  test('shows the model what its tool said', async () => {
    const { requests } = await play([
      { toolCalls: [{ id: 'c1', name: 'echo', input: { text: 'hi' } }] },
      { text: 'Done.' },
    ])
    const prompt = (requests[1] as { prompt: { role: string; content: unknown }[] }).prompt
    assert.deepEqual(
      prompt.map((message) => message.role),
      ['system', 'user', 'assistant', 'tool'],
    )
    assert.deepEqual(prompt[3]?.content, [
      { type: 'tool-result', toolCallId: 'c1', toolName: 'echo', output: { type: 'json', value: { said: 'hi' } } },
    ])
  })

  test('has the intent of a call on disk before the tool runs', async () => {
    const store = new MemoryStore()
    await using thread = await openTestThread(store)
    let found: string[] = []
    const watching: RunnableTool = {
      ...echo,
      execute: async () => {
        found = (await Array.fromAsync(recordsAfter(store, 'thread', 0))).map((record) => record.body.type)
        return { result: 'ok' }
      },
    }
    const model = scriptedModel([{ toolCalls: [{ name: 'echo' }] }, { text: 'Done.' }])
    await runTurn({ store, log: thread.log, driver: nativeDriver({ id: 'n', model }), tools: [watching], input: INPUT })
    assert.equal(found.at(-1), 'call.started')
    assert.ok(found.includes('tool-call'))
  })

  test('counts the usage of its steps once', async () => {
    const store = new MemoryStore()
    await using thread = await openTestThread(store)
    const model = scriptedModel([
      { toolCalls: [{ name: 'echo' }], usage: { inputTokens: 10, outputTokens: 2 } },
      { text: 'Done.', usage: { inputTokens: 20, outputTokens: 3 } },
    ])
    await runTurn({ store, log: thread.log, driver: nativeDriver({ id: 'n', model }), tools: [echo], input: INPUT })
    assert.equal(thread.log.state.head.usage.own.inputTokens, 30)
    assert.equal(thread.log.state.head.usage.own.outputTokens, 5)
  })

  for (const [what, script] of [
    ['an error of the provider', [{ error: { status: 500, message: 'overloaded' } }]],
    ['a stream that is cut', [{ text: 'half', cut: true as const }]],
    ['a script that is over', []],
  ] as const) {
    test(`ends with one finish after ${what}`, async () => {
      const { events, messages } = await play(script)
      assert.equal(events.filter((event) => event.type === 'finish').length, 1)
      assert.equal(events.filter((event) => event.type === 'error').length, 1)
      assert.ok(messages.every((message) => message.state !== 'open'))
    })
  }

  test('goes on when a tool throws: the model is told', async () => {
    const broken: RunnableTool = { ...echo, execute: async () => Promise.reject(new Error('no such file')) }
    const { messages, outcome } = await play([{ toolCalls: [{ name: 'echo' }] }, { text: 'I see.' }], [broken])
    const result = messages[1]?.parts.find((part) => part.type === 'tool-result')
    assert.ok(result?.type === 'tool-result')
    assert.equal(result.isError, true)
    assert.equal(result.result, 'no such file')
    assert.equal(outcome, 'complete')
  })

  test('keeps a large result as a blob and its beginning in the record', async () => {
    const store = new MemoryStore()
    await using thread = await openTestThread(store)
    const text = 'x'.repeat(100_000)
    const large: RunnableTool = { ...echo, execute: async () => ({ result: text }) }
    const model = scriptedModel([{ toolCalls: [{ name: 'echo' }] }, { text: 'Done.' }])
    await runTurn({ store, log: thread.log, driver: nativeDriver({ id: 'n', model }), tools: [large], input: INPUT })
    const { items } = await store.listMessages(thread.log.state.head.lineage, { order: 'oldest' })
    const result = items[1]?.parts.find((part) => part.type === 'tool-result')
    assert.ok(result?.type === 'tool-result' && result.resultRef !== undefined)
    assert.equal(result.result, null)
    const blob = await store.readBlob(result.resultRef.blob)
    assert.equal(new TextDecoder().decode(blob?.bytes), text)
    assert.ok(JSON.stringify(items).length < 10_000)
    assert.ok(JSON.stringify(model.requests[1]).includes(text), 'the model sees all of it')
  })

  test('an abort ends the turn as aborted, with the open call closed', async () => {
    const abort = new AbortController()
    const hanging: RunnableTool = {
      ...echo,
      execute: async (_input, { signal }) => {
        abort.abort()
        signal.throwIfAborted()
        return { result: null }
      },
    }
    const { outcome, events } = await play(
      [{ toolCalls: [{ name: 'echo' }] }, { text: 'never' }],
      [hanging],
      abort.signal,
    )
    assert.equal(outcome, 'aborted')
    assert.equal(events.filter((event) => event.type === 'finish').length, 1)
    assert.equal(events.filter((event) => event.type === 'tool-result').length, 1)
  })
})
