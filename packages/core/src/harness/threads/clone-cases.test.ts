import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Store } from '@inspan/protocol/store'
import { MemoryStore } from '@inspan/stores'
import { HarnessBench } from '../harness.fixture.ts'

const talk = { text: 'Noted.', repeat: true } as const

async function texts(bench: HarnessBench, threadId: string): Promise<string[]> {
  const messages = await bench.harness.session.thread.listMessages({ threadId, limit: 100 })
  return messages.flatMap(({ content }) => content.flatMap((part) => (part.type === 'text' ? [part.text] : [])))
}

const benchOn = (storage: Store): HarnessBench => new HarnessBench([talk] as never, { storage })

suite('a clone', () => {
  test('a clone that is made while the last message is not saved yet has it, or stops before it, and never has half a message', async () => {
    await using bench = new HarnessBench([
      { text: 'Noted.' },
      { text: ['One ', 'two ', 'three.'], delayPerDeltaMs: 5 },
    ] as never)
    const { session } = bench.harness
    await bench.harness.sendMessage({ content: 'First.' })
    const source = session.thread.requireId()
    const spoken = bench.next('message_update')
    const sent = bench.harness.sendMessage({ content: 'Second.' })
    await spoken
    const other = await bench.harness.createSession({ resourceId: session.identity.getResourceId() })
    const { id } = await other.thread.clone({ sourceThreadId: source })
    await sent
    const cloned = await texts(bench, id)
    const whole = ['First.', 'Noted.', 'Second.', 'One two three.']
    assert.deepEqual(await texts(bench, source), whole)
    assert.ok(cloned.length >= 2)
    assert.deepEqual(cloned, whole.slice(0, cloned.length))
  })

  test('a clone of a clone has the messages of both above it, changes on its own, and is the same after a restart', async () => {
    const storage = new MemoryStore()
    const ids: string[] = []
    const expected: string[][] = []
    {
      await using bench = benchOn(storage)
      const { thread } = bench.harness.session
      for (const content of ['Root.', 'Child.', 'Grandchild.']) {
        if (ids.length > 0) await thread.clone({ sourceThreadId: thread.requireId() })
        await bench.harness.sendMessage({ content })
        ids.push(thread.requireId())
      }
      for (const id of ids) expected.push(await texts(bench, id))
    }
    assert.deepEqual(expected, [
      ['Root.', 'Noted.'],
      ['Root.', 'Noted.', 'Child.', 'Noted.'],
      ['Root.', 'Noted.', 'Child.', 'Noted.', 'Grandchild.', 'Noted.'],
    ])
    await using again = benchOn(storage)
    await again.harness.init()
    for (const [index, id] of ids.entries()) assert.deepEqual(await texts(again, id), expected[index])
  })

  test('lives on when the thread it was made from, and the one in between, are deleted', async () => {
    const storage = new MemoryStore()
    await using bench = benchOn(storage)
    const { thread } = bench.harness.session
    await bench.harness.sendMessage({ content: 'Root.' })
    const root = thread.requireId()
    await thread.clone({ sourceThreadId: root })
    await bench.harness.sendMessage({ content: 'Child.' })
    const child = thread.requireId()
    await thread.clone({ sourceThreadId: child })
    await thread.delete({ threadId: root })
    await thread.delete({ threadId: child })
    await bench.harness.sendMessage({ content: 'Still here?' })
    assert.deepEqual(await texts(bench, thread.requireId()), [
      'Root.',
      'Noted.',
      'Child.',
      'Noted.',
      'Still here?',
      'Noted.',
    ])
    assert.match(bench.model.requestBodies.at(-1) ?? '', /Root\.[^]*Child\.[^]*Still here\?/)
    await assert.rejects(texts(bench, root), /not|no thread/i)
  })
})
