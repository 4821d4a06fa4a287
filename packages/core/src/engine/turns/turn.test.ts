import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import type { AgentEvent, StoredMessage } from '@inspan/protocol'
import { agentEventsOf, type LogRecord, type ThreadState } from '@inspan/protocol/log'
import { MemoryStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { recordsAfter } from '../log/load-state.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import type { RunnableTool } from '../calls/runnable-tool.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { createThread } from '../threads/threads.ts'

const echo: RunnableTool = {
  name: 'echo',
  inputSchema: { type: 'object' },
  execute: async (input, { progress }) => {
    progress('working')
    return { result: { said: input['text'] ?? null } }
  },
}

const INPUT = [{ id: '0', type: 'text', text: 'Say hello.' }] as const

interface Played {
  readonly store: MemoryStore
  readonly records: LogRecord[]
  readonly messages: readonly StoredMessage[]
  readonly events: AgentEvent[]
  readonly requests: readonly unknown[]
  readonly state: ThreadState
  readonly outcome: string
}

/** One run of the native loop, from the question to its end. */
async function play(
  script: Parameters<typeof scriptedModel>[0],
  tools: (runtime: () => ThreadRuntime, store: MemoryStore) => RunnableTool[] = () => [echo],
): Promise<Played> {
  const store = new MemoryStore()
  await createThread(store, { id: 'thread', resourceId: 'test' })
  const owner = await ProcessOwner.register(store)
  const model = scriptedModel(script)
  const driver = nativeDriver({ id: 'native', model, instructions: 'Be brief.' })
  const runtime: ThreadRuntime = await ThreadRuntime.open({
    store,
    owner,
    thread: 'thread',
    agents: { native: { driver, tools: tools(() => runtime, store) } },
  })
  const outcome = await (await runtime.submit({ agentId: 'native', parts: INPUT })).done
  await runtime.close()
  await owner.close()
  const records = await Array.fromAsync(recordsAfter(store, 'thread', 0))
  const { state } = runtime
  const { items: messages } = await store.listMessages(state.head.lineage, { order: 'oldest' })
  return { store, records, messages, events: records.flatMap(agentEventsOf), requests: model.requests, state, outcome }
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
    let found: string[] = []
    await play([{ toolCalls: [{ name: 'echo' }] }, { text: 'Done.' }], (_runtime, store) => [
      {
        ...echo,
        execute: async () => {
          found = (await Array.fromAsync(recordsAfter(store, 'thread', 0))).map((record) => record.body.type)
          return { result: 'ok' }
        },
      },
    ])
    assert.equal(found.at(-1), 'call.started')
    assert.ok(found.includes('tool-call'))
  })

  test('counts the usage of its steps once', async () => {
    const { state } = await play([
      { toolCalls: [{ name: 'echo' }], usage: { inputTokens: 10, outputTokens: 2 } },
      { text: 'Done.', usage: { inputTokens: 20, outputTokens: 3 } },
    ])
    assert.equal(state.head.usage.own.inputTokens, 30)
    assert.equal(state.head.usage.own.outputTokens, 5)
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

  test('continues when a tool throws: the model gets the error', async () => {
    const broken: RunnableTool = { ...echo, execute: async () => Promise.reject(new Error('no such file')) }
    const { messages, outcome } = await play([{ toolCalls: [{ name: 'echo' }] }, { text: 'I see.' }], () => [broken])
    const result = messages[1]?.parts.find((part) => part.type === 'tool-result')
    assert.ok(result?.type === 'tool-result')
    assert.equal(result.isError, true)
    assert.equal(result.result, 'no such file')
    assert.equal(outcome, 'complete')
  })

  test('keeps a large result as a blob and its beginning in the record', async () => {
    const text = 'x'.repeat(100_000)
    const large: RunnableTool = { ...echo, execute: async () => ({ result: text }) }
    const { messages, requests, store } = await play([{ toolCalls: [{ name: 'echo' }] }, { text: 'Done.' }], () => [
      large,
    ])
    const result = messages[1]?.parts.find((part) => part.type === 'tool-result')
    assert.ok(result?.type === 'tool-result' && result.resultRef !== undefined)
    assert.equal(result.result, null)
    const blob = await store.readBlob(result.resultRef.blob)
    assert.equal(new TextDecoder().decode(blob?.bytes), text)
    assert.ok(JSON.stringify(messages).length < 10_000)
    assert.ok(JSON.stringify(requests[1]).includes(text), 'the model sees all of it')
  })

  test('a turn of the native loop that is cancelled while a tool runs ends as aborted, with the call closed, also if the tool does not listen', async () => {
    const { outcome, events, messages } = await play(
      [{ toolCalls: [{ name: 'echo' }] }, { text: 'never' }],
      (runtime) => [
        {
          ...echo,
          execute: async () => {
            void runtime().cancel()
            return new Promise(() => undefined)
          },
        },
      ],
    )
    assert.equal(outcome, 'aborted')
    assert.equal(events.filter((event) => event.type === 'finish').length, 1)
    assert.equal(events.filter((event) => event.type === 'tool-result').length, 1)
    const call = messages[1]?.parts.find((part) => part.type === 'tool-call')
    assert.equal(call?.type === 'tool-call' && call.call.outcome, 'aborted')
  })
})
