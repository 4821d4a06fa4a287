import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setImmediate as nextTask } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { InspanError } from '@inspan/protocol'
import { MemoryStore } from '@inspan/stores'
import { HarnessBench } from '../harness.fixture.ts'

const ASK = { toolCalls: [{ id: 'q1', name: 'ask_user', input: { question: 'Which?' } }] }
const isClosed = (error: unknown): boolean => InspanError.is(error, 'closed')

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Returns a weak reference to a closed session that has sent a message. */
async function closedSession({ harness }: HarnessBench): Promise<WeakRef<object>> {
  const session = await harness.createSession()
  await session.sendMessage({ content: 'Go.', requestContext: { user: 'ada' } })
  await session.close()
  return new WeakRef(session)
}

suite('a session that is closed', () => {
  test('leaves its thread to others, as it is, and can do nothing more', async () => {
    const held = new Set<string>()
    await using bench = new HarnessBench([ASK, { text: 'Thanks.' }], {
      threadLock: { acquire: (id) => void held.add(id), release: (id) => void held.delete(id) },
    })
    const { harness } = bench
    const session = await harness.createSession()
    const told: string[] = []
    session.subscribe(({ type }) => {
      if (type !== 'display_state_changed') told.push(type)
    })
    await session.sendMessage({ content: 'Go.' })
    const threadId = session.thread.requireId()
    await Promise.all([session.close(), session.close()])
    assert.deepEqual([session.thread.getId(), held.size], [null, 0])
    for (const call of [
      () => session.sendMessage({ content: 'More.' }),
      () => session.thread.switch({ threadId }),
      () => session.selectOrCreateThread(),
    ]) {
      await assert.rejects(call(), isClosed)
    }
    told.length = 0
    await harness.registerHeartbeat({
      id: 'broken',
      intervalMs: 60_000,
      handler: () => Promise.reject(new Error('no')),
    })
    await harness.switchThread({ threadId })
    await harness.respondToToolSuspension({ resumeData: 'The left one.' })
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'complete')
    assert.deepEqual(told, [], 'it hears of nothing any more')
  })

  test('does not end what others look at', async () => {
    const gate = Promise.withResolvers<void>()
    const slow = async () => {
      await gate.promise
      return { text: 'Done.' }
    }
    await using bench = new HarnessBench([slow])
    const { harness } = bench
    const sent = harness.sendMessage({ content: 'Go.' })
    await bench.next('agent_start')
    const session = await harness.createSession()
    await session.thread.switch({ threadId: harness.session.thread.requireId() })
    await session.close()
    gate.resolve()
    await sent
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'complete')
  })

  test('a closed session with an id can be created again at once, and has what it had', async () => {
    await using bench = new HarnessBench([{ text: 'Yes.' }], { storage: new MemoryStore() })
    const { harness } = bench
    const named = { resourceId: 'ada', id: 'web' }
    const first = await harness.createSession(named)
    await first.sendMessage({ content: 'Hi' })
    await first.state.set({ colour: 'red' })
    const threadId = first.thread.getId()
    const closing = first.close()
    const second = await harness.createSession(named)
    await closing
    assert.notEqual(second, first)
    assert.deepEqual([second.state.get(), second.thread.getId()], [{ colour: 'red' }, threadId])
    assert.equal(await harness.createSession(named), second)
  })

  test('with its harness stays closed, while the first session of the harness continues', async () => {
    await using bench = new HarnessBench([{ text: 'Yes.' }], { storage: new MemoryStore() })
    const { harness } = bench
    const named = { resourceId: 'ada', id: 'web' }
    const session = await harness.createSession(named)
    await harness.destroy()
    await assert.rejects(session.sendMessage({ content: 'Hi' }), isClosed)
    const next = await harness.createSession(named)
    await session.close()
    assert.equal(await harness.createSession(named), next, 'closing the old one is nothing to the new one')
    await harness.sendMessage({ content: 'Hi' })
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'complete')
  })

  for (const [state, script] of [
    ['is over', { text: 'Yes.', repeat: true }],
    ['waits', { ...ASK, repeat: true }],
  ] as const) {
    test(`is not kept by its harness when its run ${state}`, async () => {
      await using bench = new HarnessBench([script])
      const sessions = await Promise.all([1, 2, 3].map(() => closedSession(bench)))
      for (let round = 0; round < 100 && sessions.some((ref) => ref.deref() !== undefined); round++) {
        await nextTask()
        collectGarbage()
      }
      assert.deepEqual(
        sessions.map((ref) => ref.deref()),
        [undefined, undefined, undefined],
      )
    })
  }

  test('is not the first one of a harness', async () => {
    await using bench = new HarnessBench([])
    await assert.rejects(bench.harness.session.close(), (error) => InspanError.is(error, 'misuse'))
  })
})
