import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import { MemoryStore } from '@inspan/stores'
import { ProcessOwner, rewindThread, ThreadRuntime } from '../../engine/index.ts'
import { HarnessBench } from '../harness.fixture.ts'

async function texts({ harness }: HarnessBench): Promise<string[]> {
  const messages = await harness.session.thread.listActiveMessages()
  return messages.flatMap(({ content }) => content.flatMap((part) => (part.type === 'text' ? [part.text] : [])))
}

async function idOf({ harness }: HarnessBench, text: string): Promise<string> {
  const messages = await harness.session.thread.listActiveMessages()
  const found = messages.find(({ content }) => content.some((part) => part.type === 'text' && part.text === text))
  return found?.id ?? assert.fail(`nobody said "${text}"`)
}

suite('a thread is rewound', () => {
  test('a thread is rewound to before a message: it and all after it are gone, for the lists, the display and the model', async () => {
    await using bench = new HarnessBench([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }])
    const { harness } = bench
    await harness.sendMessage({ content: 'First?' })
    await harness.sendMessage({ content: 'Second?' })
    await harness.session.thread.rewind({ messageId: await idOf(bench, 'Second?') })
    assert.deepEqual(await texts(bench), ['First?', 'One.'])
    const threadId = harness.session.thread.requireId()
    assert.deepEqual(bench.all('thread_changed'), [{ type: 'thread_changed', threadId, previousThreadId: threadId }])
    const { activeTools, currentMessage, isRunning } = harness.session.displayState.get()
    assert.deepEqual([currentMessage, isRunning, activeTools.size], [null, false, 0])
    await harness.sendMessage({ content: 'Another?' })
    assert.deepEqual(await texts(bench), ['First?', 'One.', 'Another?', 'Three.'])
    assert.doesNotMatch(JSON.stringify(bench.model.requests[2]), /Second|Two/)
  })

  test('a thread is rewound to its beginning, and forward again', async () => {
    await using bench = new HarnessBench([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }])
    await bench.harness.sendMessage({ content: 'First?' })
    await bench.harness.sendMessage({ content: 'Second?' })
    const { undo } = await bench.harness.session.thread.rewind({ messageId: await idOf(bench, 'First?') })
    assert.deepEqual(await texts(bench), [])
    await undo()
    assert.deepEqual(await texts(bench), ['First?', 'One.', 'Second?', 'Two.'])
    await bench.harness.sendMessage({ content: 'Third?' })
    assert.match(JSON.stringify(bench.model.requests[2]), /First.*One.*Second.*Two.*Third/)
  })

  test('a thread is not rewound while a run works or waits, nor to a message that it does not show', async () => {
    const paint = createTool({ id: 'paint', description: 'Paints.', execute: () => 'painted' })
    const script = [{ text: 'One.' }, { toolCalls: [{ name: 'paint' }] }]
    await using bench = new HarnessBench(script, {}, { tools: [paint] })
    const { harness } = bench
    const { thread } = harness.session
    await harness.sendMessage({ content: 'First?' })
    const messageId = await idOf(bench, 'First?')
    const asked = bench.next('tool_approval_required')
    const sent = harness.sendMessage({ content: 'Paint.' })
    await asked
    await assert.rejects(thread.rewind({ messageId }), (error) => InspanError.is(error, 'misuse'))
    await harness.abort()
    await sent
    await assert.rejects(thread.rewind({ messageId: 'nowhere' }), (error) => InspanError.is(error, 'not-found'))
    await thread.rewind({ messageId })
    assert.deepEqual(await texts(bench), [])
    await assert.rejects(thread.rewind({ messageId }), (error) => InspanError.is(error, 'not-found'))
    assert.deepEqual(harness.session.displayState.get().pendingApprovals, [])
  })

  test('by somebody else, while it is at rest here: the lists show it', async () => {
    const store = new MemoryStore()
    await using bench = new HarnessBench([{ text: 'One.' }], { storage: store })
    await bench.harness.sendMessage({ content: 'First?' })
    const owner = await ProcessOwner.register(store)
    const thread = bench.harness.session.thread.requireId()
    const other = await ThreadRuntime.open({ store, owner, thread, agents: {} })
    await other.change((log) => rewindThread(store, log, 0))
    assert.deepEqual(await texts(bench), [])
    await other.close()
    await owner.close()
  })
})
